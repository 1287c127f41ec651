/**
 * Whether the tables of events and deliveries stay level while they are filled and cleaned: rounds of events that are fanned
 * out, claimed, recorded and, one round later, moved to what was there before the tables had days and
 * removed row by row. `--rounds N` (15), `--events N` of each (10,000). Vacuum looks every 5 seconds instead of every minute, as the rounds last seconds instead of days.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { exampleEvent } from '../src/codecs/event-example.ts';
import { createDatabase } from '../src/records/database/database.ts';
import { emitEvents, fanOutEvents } from '../src/records/webhooks/events.ts';
import { removals } from '../src/records/operations/retention.ts';
import { claimAttempts } from '../src/records/webhooks/attempts.ts';
import { recordDeliveryOutcomes } from '../src/records/webhooks/outcome-recorder.ts';
import { deliveredResult } from './support/delivered-result.ts';
import { startPostgres } from './support/postgres.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, events: { type: 'string', default: '10000' } },
});
const rounds = Number(values.rounds);
const eventsOfARound = Number(values.events);
const batch = 500;
const tables = ['event', 'webhook_delivery'] as const;

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const database = await createDatabase(postgres.url, 2);

async function ids(condition: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM webhook_delivery WHERE ${condition} ORDER BY id LIMIT ${batch}`,
  );
  return rows.map(({ id }) => id);
}

async function fill(workspaceId: number): Promise<void> {
  for (let made = 0; made < eventsOfARound; made += batch) {
    await emitEvents(
      database,
      workspaceId,
      Array.from({ length: batch }, () => exampleEvent('delivered', new Date())),
    );
    await fanOutEvents(database, batch);
    await client.query(`UPDATE webhook_delivery SET dispatched_at = now() WHERE state = 'pending'`);
    const waiting = await ids(`state = 'pending'`);
    await claimAttempts(database, waiting, { leaseSeconds: 15, expiryHours: 24 });
    await recordDeliveryOutcomes(database, waiting.map(deliveredResult));
  }
}

/** Makes everything written before this round a month old, so that retention removes it. */
async function age(before: Date): Promise<void> {
  await client.query(
    `UPDATE webhook_delivery SET id = uuidv7(interval '-31 days'), created_at = created_at - interval '31 days'
     WHERE created_at < $1`,
    [before],
  );
  await client.query(
    `UPDATE event SET id = uuidv7(interval '-31 days'), occurred_at = occurred_at - interval '31 days' WHERE occurred_at < $1`,
    [before],
  );
}

async function clean(): Promise<number> {
  let total = 0;
  for (const kind of ['deliveries', 'events'] as const) {
    for (let removed = 5000; removed === 5000; total += removed) {
      removed = (await removals[kind]?.(database, { olderThanDays: 30, limit: 5000 })) ?? 0;
    }
  }
  return total;
}

async function megabytes(): Promise<Readonly<Record<string, number>>> {
  const sizes = tables.map(async (table) => {
    const { rows } = await client.query<{ size: string }>(
      'SELECT sum(pg_total_relation_size(relid)) AS size FROM pg_partition_tree($1)',
      [table],
    );
    return [table, Number(rows[0]?.size) / 1_048_576] as const;
  });
  return Object.fromEntries(await Promise.all(sizes));
}

try {
  await client.query(`ALTER SYSTEM SET autovacuum_naptime = '5s'`);
  await client.query('SELECT pg_reload_conf()');
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO workspace (name) VALUES ('bench') RETURNING id`,
  );
  const workspaceId = rows[0]?.id ?? 0;
  await client.query(
    `INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    VALUES ($1, 'bench', 'http://127.0.0.1:9/', 'active', '{delivered}')`,
    [workspaceId],
  );
  const sizes: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const before = new Date();
    await fill(workspaceId);
    await age(before);
    const removed = await clean();
    await sleep(5_000);
    const size = await megabytes();
    sizes.push(Object.values(size).reduce((sum, one) => sum + one, 0));
    const list = Object.entries(size).map(([table, mb]) => `${table} ${mb.toFixed(1)} MB`);
    process.stdout.write(`round ${round}: ${removed} rows removed; ${list.join(', ')}\n`);
  }
  const middle = Math.max(...sizes.slice(Math.floor(rounds / 3), Math.ceil((2 * rounds) / 3)));
  const end = Math.max(...sizes.slice(Math.ceil((2 * rounds) / 3)));
  process.stdout.write(
    `largest of the last third ÷ largest of the second third: ${(end / middle).toFixed(2)}\n`,
  );
} finally {
  await database.end();
  await client.end();
  await postgres.stop();
}
