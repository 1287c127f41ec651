/**
 * Measures the event feed. First its cost without readers: the CPU time of Postgres for events that a webhook wants anyway,
 * from their row to their delivery's row, with the feed on and off in turns, as a ratio, and their WAL, which is steadier. Then a page of 1,000 events at random
 * places of the feed, as the API answers it and within the database alone, at a hundredth of the events and at all of them.
 * `--events N` (2,000,000; about 1.2 GB per million), `--pages N` per figure (200), `--rounds N` (20).
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Agent } from 'undici';
import { FeedCursor } from '../src/api/webhooks/event-feed.ts';
import { exampleEvent } from '../src/codecs/event-example.ts';
import { createApiKey } from '../src/commands/workspaces/api-keys.ts';
import { createDependencies } from '../src/dependencies.ts';
import { serialiseEvent } from '../src/domain/webhooks/new-event.ts';
import { findFeed, readFeed, saveFeed } from '../src/records/webhooks/event-feed.ts';
import { emitEvents, fanOutEvents } from '../src/records/webhooks/events.ts';
import { startApiProcess } from './support/api-process.ts';
import { benchConfig } from './support/bench-config.ts';
import { median } from './support/measure.ts';
import { startPostgres } from './support/postgres.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    pages: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '20' },
  },
});
const events = Number(values.events);
const pages = Number(values.pages);
const pageSize = 1_000;
/** The maximum number of events of one workspace in a fan-out statement. */
const batch = 1_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const dependencies = await createDependencies(benchConfig(postgres.url), 'bench');
const { database } = dependencies;
const api = await startApiProcess(postgres.url);
const agent = new Agent();
try {
  await costWithoutReaders();
  const workspaceId = await makeWorkspace();
  await saveFeed(database, workspaceId, true);
  const { apiKey } = await createApiKey(dependencies, { workspaceId, scope: 'workspace' });
  for (const size of [Math.ceil(events / 100), events]) {
    await fill(workspaceId, size);
    const within = await timesOf(() => readFrom(workspaceId, size));
    const answered = await timesOf(() => ask(apiKey, size));
    say(`${size} events: page of ${pageSize} ${answered}; database alone ${within}`);
  }
} finally {
  await agent.destroy();
  await api.stop();
  await dependencies.close();
  await client.end();
  await postgres.stop();
}

async function makeWorkspace(): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO workspace (name) VALUES ('bench') RETURNING id`,
  );
  return rows[0]?.id ?? 0;
}

async function costWithoutReaders(): Promise<void> {
  const workspaceId = await makeWorkspace();
  await client.query(
    `INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
     VALUES ($1, 'bench', 'https://receiver.example/', 'active', '{delivered}')`,
    [workspaceId],
  );
  const written = Array.from({ length: batch }, () => exampleEvent('delivered', new Date()));
  const costOf = async (enabled: boolean): Promise<{ readonly cpu: number; readonly wal: number }> => {
    await saveFeed(database, workspaceId, enabled);
    const before = { cpu: postgres.cpuSeconds(), wal: await walBytes() };
    for (let batches = 0; batches < 10; batches += 1) await emitEvents(database, workspaceId, written);
    while ((await fanOutEvents(database, batch)).events > 0);
    return { cpu: postgres.cpuSeconds() - before.cpu, wal: (await walBytes()) - before.wal };
  };
  await costOf(true);
  await costOf(false);
  const cpu: number[] = [];
  const wal: number[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const isFirst = round % 2 === 0;
    const [first, second] = [await costOf(isFirst), await costOf(!isFirst)];
    const [on, off] = isFirst ? [first, second] : [second, first];
    cpu.push(on.cpu / off.cpu);
    wal.push(on.wal / off.wal);
  }
  const sorted = cpu.toSorted((a, b) => a - b).map((ratio) => ratio.toFixed(2));
  say(
    `for an event, feed on : off: WAL ${median(wal).toFixed(3)}, CPU of Postgres ${median(cpu).toFixed(3)} (median of ${sorted.join(' ')})`,
  );
}

async function walBytes(): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(rows[0]?.bytes);
}

/** Appends events up to `size` of them, written by Postgres itself, in batches as the fan-out numbers them. */
async function fill(workspaceId: number, size: number): Promise<void> {
  const startedAt = performance.now();
  const messageId = '0199d6c1-0000-7000-8000-0000000000f2';
  const body = serialiseEvent(workspaceId, exampleEvent('delivered', new Date()));
  let last = (await findFeed(database, workspaceId))?.latest.position ?? 0;
  while (last < size) {
    const count = Math.min(100_000, size - last);
    await client.query(
      `WITH made AS (
         INSERT INTO event (workspace_id, key, body, fanned_out_at)
         SELECT $1, 'delivered', replace($2, $3, uuidv7()::text), now() FROM generate_series(1, $4::int)
         RETURNING id
       ), placed AS (SELECT id, row_number() OVER (ORDER BY id) AS nth FROM made)
       INSERT INTO event_feed_batch (workspace_id, last_position, event_ids)
       SELECT $1, $5::bigint + max(nth), array_agg(id ORDER BY id) FROM placed GROUP BY (nth - 1) / ${batch}`,
      [workspaceId, body, messageId, count, last],
    );
    last += count;
    await client.query('UPDATE event_feed SET last_position = $2 WHERE workspace_id = $1', [
      workspaceId,
      last,
    ]);
  }
  await client.query('VACUUM ANALYZE event, event_feed_batch');
  say(`filled up to ${size} events in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
}

function somewhere(size: number) {
  return { position: Math.floor(Math.random() * (size - pageSize)), eventId: null };
}

async function readFrom(workspaceId: number, size: number): Promise<void> {
  const page = await readFeed(database, workspaceId, {
    after: somewhere(size),
    latest: size,
    keys: [],
    limit: pageSize,
  });
  if (typeof page === 'string' || page.events.length !== pageSize) throw new Error('not a whole page');
}

async function ask(apiKey: string, size: number): Promise<void> {
  const { statusCode, body } = await agent.request({
    origin: `http://127.0.0.1:${api.port}`,
    path: `/api/events?limit=${pageSize}&after=${FeedCursor.encode(somewhere(size))}`,
    method: 'GET',
    headers: { 'x-api-key': apiKey },
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${text.slice(0, 200)}`);
}

async function timesOf(work: () => Promise<void>): Promise<string> {
  const times: number[] = [];
  for (let count = -30; count < pages; count += 1) {
    const startedAt = performance.now();
    await work();
    if (count >= 0) times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
