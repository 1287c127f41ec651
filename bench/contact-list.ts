/**
 * The contact list and its search through the HTTP API, on a workspace of N contacts: the first, the middle and the last
 * part, beside the bare statement on the same database in the same run. Prints p50 and p99 in milliseconds.
 * `--contacts N` (default 1,000,000), `--requests N` for each figure (default 200).
 */
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Pool } from 'undici';
import { createApiServer } from '../src/api/frame/app.ts';
import { routes } from '../src/api/routes.ts';
import { ContactCursor } from '../src/codecs/contact.ts';
import { createApiKey } from '../src/commands/workspaces/create-api-key.ts';
import { createWorkspace } from '../src/commands/workspaces/create-workspace.ts';
import { loadConfig } from '../src/config.ts';
import { createDependencies } from '../src/dependencies.ts';
import { startPostgres } from './support/postgres.ts';

const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '200' },
  },
});
const contacts = Number(values.contacts);
const requests = Number(values.requests);

const postgres = await startPostgres();
const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-'));
const dependencies = await createDependencies(
  loadConfig({
    DATABASE_URL: postgres.url,
    DATA_DIR: dataDir,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
    PROVIDER_APP_SECRET: 'the app secret of the benchmark',
    PROVIDER_VERIFY_TOKEN: 'the verify token of the benchmark',
    KEY_PEPPER: 'the key pepper of the benchmark',
    SECRETS_KEY: 'the secrets key of the benchmark',
    RATE_LIMIT_PER_SECOND: '100000',
    LOG_LEVEL: 'silent',
  }),
  'bench',
);
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const { server, drain } = createApiServer(dependencies, routes);
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const api = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 });
try {
  const { workspaceId } = await createWorkspace(dependencies, { name: 'Bench' });
  const { apiKey } = await createApiKey(dependencies, { workspaceId, scope: 'workspace' });
  console.log(`Loading ${contacts} contacts …`);
  await seed(workspaceId);

  const get = async (path: string): Promise<number> => {
    const { statusCode, body } = await api.request({ method: 'GET', path, headers: { 'X-API-Key': apiKey } });
    const { data } = (await body.json()) as { readonly data: readonly unknown[] };
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
    return data.length;
  };
  const after = async (skipped: number) =>
    `&cursor=${ContactCursor.encode({ id: await contactAt(workspaceId, skipped) })}`;

  await figure('bare statement, first 100', () => bareRead(workspaceId));
  await figure('first 100', () => get('/api/contacts?limit=100'));
  const middle = await after(Math.floor(contacts / 2));
  await figure('middle 100', () => get(`/api/contacts?limit=100${middle}`));
  const last = await after(contacts - 101);
  await figure('last 100', () => get(`/api/contacts?limit=100${last}`));
  await figure('first 1000', () => get('/api/contacts?limit=1000'));
  for (const search of ['a', 'ada', 'rare', 'ada last77', 'user77777@', '49151', '151000001', 'nobody']) {
    await figure(`search "${search}"`, () => get(`/api/contacts?search=${encodeURIComponent(search)}`));
  }
} finally {
  await api.close();
  await drain(1_000);
  await client.end();
  await dependencies.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** Eight first names, one in a thousand rare; 5,000 last names; an e-mail address and a tag for everybody. */
async function seed(workspaceId: number): Promise<void> {
  await client.query(
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, first_name, last_name, email, source)
     SELECT $1::int, '49' || (15100000000 + i * 37), '49', 'DE',
       CASE WHEN i % 1000 = 0 THEN 'Rare' ELSE (ARRAY['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Émile', 'Zoë'])[1 + i % 8] END,
       'Last' || (i % 5000), 'user' || i || '@example.com', 'csv_import'
     FROM generate_series(1, $2::bigint) AS i`,
    [workspaceId, contacts],
  );
  await client.query(
    `WITH made AS (
       INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
       VALUES ($1, 'everybody', '#000000', '#ffffff', 'bench') RETURNING id
     )
     INSERT INTO contact_tag (workspace_id, contact_id, tag_id) SELECT $1, contact.id, made.id FROM contact, made`,
    [workspaceId],
  );
  await client.query('VACUUM ANALYZE contact, contact_tag');
}

async function contactAt(workspaceId: number, skipped: number): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM contact WHERE workspace_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1',
    [workspaceId, skipped],
  );
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('There are not so many contacts');
  return id;
}

async function bareRead(workspaceId: number): Promise<number> {
  const { rows } = await client.query(
    'SELECT * FROM contact WHERE workspace_id = $1 ORDER BY id DESC LIMIT 100',
    [workspaceId],
  );
  return rows.length;
}

async function figure(name: string, read: () => Promise<number>): Promise<void> {
  let found = 0;
  for (let warming = 0; warming < 5; warming += 1) found = await read();
  const times: number[] = [];
  for (let count = 0; count < requests; count += 1) {
    const startedAt = performance.now();
    await read();
    times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1);
  console.log(
    `${name.padEnd(28)} ${String(found).padStart(5)} found   p50 ${at(0.5)} ms   p99 ${at(0.99)} ms`,
  );
}
