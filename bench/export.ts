/**
 * The CSV export of a campaign's recipients through the API, next to a bare COPY of the same columns to the same reader, in
 * turns on one database. Prints rows per second, the ratio, and the API process' CPU seconds and peak memory.
 * `--recipients N` (default 1,000,000), `--rounds N` (default 3).
 */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { Pool } from 'undici';
import { createApiKey } from '../src/commands/workspaces/api-keys.ts';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startApiProcess } from './support/api-process.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { median } from './support/measure.ts';
import { startPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
});
const recipients = Number(values.recipients);
const lineFeed = 0x0a;

const columns =
  'id, phone_number, contact_id, state, reason, reason_detail, line_number, id AS message_id, provider_message_id, updated_at';

/** Reads to the end; returns lines per second. */
async function readLines(stream: Readable, header: number): Promise<number> {
  const startedAt = performance.now();
  let lines = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lines += 1;
  }
  if (lines !== recipients + header) throw new Error(`${lines} lines of ${recipients} recipients came`);
  return (recipients * 1000) / (performance.now() - startedAt);
}

/** Peak memory of the process in megabytes. */
function peakMemory(pid: number): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(found) / 1024);
}

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const dependencies = await createDependencies(benchConfig(postgres.url), 'bench');
const api = await startApiProcess(postgres.url);
const pool = new Pool(`http://127.0.0.1:${api.port}`, { connections: 1 });
try {
  const { campaignId } = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients,
    messagesPerSecond: 80,
  });
  // A finished campaign: a third of the recipients failed with a detail, the others have a provider message id.
  await client.query(
    `UPDATE recipient SET state = CASE WHEN position % 3 = 0 THEN 'FAILED' ELSE 'READ' END,
       reason = CASE WHEN position % 3 = 0 THEN 'PROVIDER_131026' END,
       reason_detail = CASE WHEN position % 3 = 0 THEN 'Message undeliverable' END,
       provider_message_id = CASE WHEN position % 3 <> 0 THEN 'wamid.' || md5(phone_number) END, line_number = position + 1`,
  );
  await client.query('VACUUM ANALYZE recipient');
  const { rows } = await client.query<{ id: number }>(
    'SELECT workspace_id AS id FROM campaign WHERE id = $1',
    [campaignId],
  );
  const { apiKey } = await createApiKey(dependencies, { workspaceId: rows[0]?.id ?? 0, scope: 'workspace' });

  const overApi = async (): Promise<number> => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `/api/campaigns/${campaignId}/recipients`,
      headers: { 'x-api-key': apiKey, accept: 'text/csv' },
    });
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    return readLines(body, 1);
  };
  const bareCopy = (): Promise<number> => {
    const select = `SELECT ${columns} FROM recipient WHERE campaign_id = '${campaignId}' ORDER BY position`;
    return readLines(client.query(copyTo(`COPY (${select}) TO STDOUT (FORMAT csv)`)), 0);
  };

  const atRest = peakMemory(api.pid);
  const ratios: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const bare = await bareCopy();
    const cpuBefore = await api.cpuSeconds();
    const exported = await overApi();
    const cpu = (await api.cpuSeconds()) - cpuBefore;
    ratios.push(exported / bare);
    process.stdout.write(
      `round ${round}: bare COPY ${bare.toFixed(0)}/s, export ${exported.toFixed(0)}/s (${cpu.toFixed(1)} CPU s), ` +
        `ratio ${(exported / bare).toFixed(2)}\n`,
    );
  }
  process.stdout.write(
    `median ratio ${median(ratios).toFixed(2)} of ${recipients} recipients; ` +
      `the API process held ${atRest} MB before and ${peakMemory(api.pid)} MB at most\n`,
  );
} finally {
  await pool.close();
  await api.stop();
  await dependencies.close();
  await client.end();
  await postgres.stop();
}
