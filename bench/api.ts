/**
 * Campaign creation, tag list and contact update through the HTTP API, beside a bare Koa server that makes one INSERT of
 * every request, in interleaved rounds of one run. Creation with authentication, validation, idempotency and its log
 * line; contact update with its event. `--requests N` of each figure and round (default 3,000), `--rounds N` (default 5),
 * `--figure <name>` for one alone,
 * `--profile <folder>` leaves a CPU profile of the API.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createApiKey } from '../src/commands/workspaces/create-api-key.ts';
import { createChannel } from '../src/commands/workspaces/create-channel.ts';
import { createWorkspace } from '../src/commands/workspaces/create-workspace.ts';
import { createDependencies } from '../src/dependencies.ts';
import { startApiProcess, type ApiProcess } from './support/api-process.ts';
import { benchConfig } from './support/bench-config.ts';
import { loadHttp, type Loaded, type LoadRequest } from './support/http-load.ts';
import { median } from './support/measure.ts';
import { startPostgres } from './support/postgres.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '5' },
    figure: { type: 'string' },
    profile: { type: 'string' },
  },
});
const requests = Number(values.requests);
const rounds = Number(values.rounds);
const connections = 64;
const contacts = 10_000;

const postgres = await startPostgres();

interface Seeded {
  readonly apiKey: string;
  readonly templateId: string;
  readonly contactIds: readonly string[];
}

/** A workspace with a channel, an approved template, 200 tags, contacts, and a listener to `contact.updated`. */
async function seed(databaseUrl: string, client: pg.Client): Promise<Seeded> {
  const dependencies = await createDependencies(benchConfig(databaseUrl), 'bench');
  const { workspaceId } = await createWorkspace(dependencies, { name: 'Bench' });
  const { channelId } = await createChannel(dependencies, {
    workspaceId,
    phoneNumberId: '106540352242922',
    displayPhoneNumber: '15550100000',
    businessAccountId: '102290129340398',
    accessToken: 'token',
  });
  const { apiKey } = await createApiKey(dependencies, { workspaceId, channelId, scope: 'channel' });
  await dependencies.close();
  const templateId = randomUUID();
  const components = [{ type: 'BODY', text: 'Hello {{1}}!', example: { body_text: [['Ada']] } }];
  await client.query(
    `INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category,
      status, parameter_format, components)
    VALUES ($1, $2, '102290129340398', '1', 'hello', 'en_US', 'UTILITY', 'APPROVED', 'POSITIONAL', $3)`,
    [templateId, workspaceId, JSON.stringify(components)],
  );
  await client.query(
    `INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
    SELECT $1, 'Tag ' || n, '#000000', '#ffffff', 'bench' FROM generate_series(1, 200) AS n`,
    [workspaceId],
  );
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, first_name, source)
    SELECT $1, '49' || (15100000000 + n), '49', 'DE', 'Ada', 'api' FROM generate_series(1, $2::int) AS n RETURNING id`,
    [workspaceId, contacts],
  );
  await client.query(
    `INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    VALUES ($1, 'bench', 'http://127.0.0.1:9/', 'active', ARRAY['contact.updated'])`,
    [workspaceId],
  );
  await client.query('VACUUM ANALYZE');
  return { apiKey, templateId, contactIds: rows.map(({ id }) => id) };
}

interface Figure {
  readonly name: string;
  readonly expect: number;
  readonly requestOf: (seeded: Seeded, index: number) => LoadRequest;
}

const campaignBody = (templateId: string, index: number): string =>
  JSON.stringify({
    name: `Spring offer ${index}`,
    description: 'The offer of the season, to everybody who asked for it',
    template_id: templateId,
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915112345678,Ada', '+919876543210|Grace', '+14155552671;Alan'],
    variable_mapping: { body: { '1': 'firstName' }, default_values: { body: { '1': 'there' } } },
    send_type: 'IMMEDIATE',
  });

const figures: readonly Figure[] = [
  {
    name: 'campaign creation',
    expect: 201,
    requestOf: ({ apiKey, templateId }, index) => ({
      method: 'POST',
      path: '/api/campaigns/auto-trigger',
      headers: { 'x-api-key': apiKey, 'idempotency-key': randomUUID() },
      body: campaignBody(templateId, index),
    }),
  },
  {
    name: 'tag list',
    expect: 200,
    requestOf: ({ apiKey }, index) => ({
      method: 'GET',
      path: `/api/tags?page=${1 + (index % 8)}&limit=25`,
      headers: { 'x-api-key': apiKey },
    }),
  },
  {
    name: 'contact update',
    expect: 200,
    requestOf: ({ apiKey, contactIds }, index) => ({
      method: 'PUT',
      path: `/api/contacts/${contactIds[index % contactIds.length] ?? ''}`,
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify({
        firstName: `Ada ${randomUUID()}`,
        customFields: [{ fieldId: 'city', value: 'Berlin' }],
      }),
    }),
  },
];

interface Measured extends Loaded {
  /** Milliseconds of the server process for one request. */
  readonly cpu: number;
  /** The same of Postgres. */
  readonly postgresCpu: number;
}

async function load(
  server: ApiProcess,
  { expect, list }: { readonly expect: number; readonly list: readonly LoadRequest[] },
): Promise<Measured> {
  const each = (seconds: number) => (seconds * 1_000) / list.length;
  const [cpu, postgresCpu] = [await server.cpuSeconds(), postgres.cpuSeconds()];
  const loaded = await loadHttp({ port: server.port, requests: list, connections, expect });
  return {
    ...loaded,
    cpu: each((await server.cpuSeconds()) - cpu),
    postgresCpu: each(postgres.cpuSeconds() - postgresCpu),
  };
}

const middle = (all: readonly Measured[], of: keyof Measured): number => median(all.map((one) => one[of]));

function print(name: string, ours: readonly Measured[], bare: readonly Measured[]): void {
  const ratios = ours.map(({ perSecond }, round) => perSecond / (bare[round]?.perSecond ?? Number.NaN));
  const line = (all: readonly Measured[]) =>
    `${middle(all, 'perSecond').toFixed(0)}/s, p50 ${middle(all, 'p50').toFixed(1)} ms, ` +
    `p99 ${middle(all, 'p99').toFixed(1)} ms; CPU of each ${middle(all, 'cpu').toFixed(2)} ms, ` +
    `in Postgres ${middle(all, 'postgresCpu').toFixed(2)} ms`;
  process.stdout.write(
    `${name.padEnd(18)} ${line(ours)}\n${'  bare'.padEnd(18)} ${line(bare)}\n` +
      `${'  ratio'.padEnd(18)} ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})\n`,
  );
}

const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
try {
  const seeded = await seed(postgres.url, client);
  const profile = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
  const bare = await startApiProcess('bare', postgres.url);
  const api = await startApiProcess('api', postgres.url, profile);
  const listOf = ({ requestOf }: Figure, from: number, count: number) =>
    Array.from({ length: count }, (_, index) => requestOf(seeded, from + index));
  for (const figure of figures.filter(({ name }) => name === (values.figure ?? name))) {
    const ours: Measured[] = [];
    const theirs: Measured[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const list = listOf(figure, round * requests, round === 0 ? Math.min(requests, 2_000) : requests);
      const baseline = await load(bare, { expect: 201, list });
      const measured = await load(api, { expect: figure.expect, list });
      // The first warms both up.
      if (round === 0) continue;
      theirs.push(baseline);
      ours.push(measured);
    }
    print(figure.name, ours, theirs);
  }
  await Promise.all([api.stop(), bare.stop()]);
} finally {
  await client.end();
  await postgres.stop();
}
