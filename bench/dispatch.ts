/**
 * Measures the delivery scheduler alone on a backlog of deliveries: Temporal and HTTP are replaced by delays. A start takes
 * `--start-ms`, and its attempt ends `--attempt-ms` later; outcomes are recorded in batches, as workers do. Runs one scheduler
 * over `--webhooks N` (200), then `--schedulers N` (8) of them, each in its own process, then all of them for one webhook.
 * `--seconds N` (10) per run; `--starts N` (64) sets WEBHOOK_STARTS.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { groupCalls } from '../src/concurrency/group-calls.ts';
import { startPollingLoop } from '../src/concurrency/polling-loop.ts';
import { createScheduler, defaultWebhookLoopOptions } from '../src/commands/webhooks/webhook-loops.ts';
import { createDatabase } from '../src/records/database/database.ts';
import { createLogger } from '../src/telemetry/logger.ts';
import { benchConfig } from './support/bench-config.ts';
import { startPostgres } from './support/postgres.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    schedulers: whole('8'),
    webhooks: whole('200'),
    seconds: whole('10'),
    'start-ms': whole('20'),
    'attempt-ms': whole('50'),
    starts: whole('64'),
  },
});
const seconds = Number(values.seconds);
const startMs = Number(values['start-ms']);
const attemptMs = Number(values['attempt-ms']);
/** Deliveries waiting at the start: more than any run can start. */
const backlog = 8_000 * (seconds + 3);

/** Runs one scheduler until the parent disconnects. Each delivery it starts is recorded as delivered after `attemptMs`. */
async function serve(databaseUrl: string): Promise<void> {
  const config = benchConfig(databaseUrl, { WEBHOOK_STARTS: values.starts });
  const database = await createDatabase(databaseUrl, 5);
  const client = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const attempts = new EventEmitter();
  const end = groupCalls<string, void>(
    async (ids) => {
      const ends = `UPDATE webhook_delivery SET state = 'delivered' WHERE id = ANY ($1::uuid[])`;
      await client.query(ends, [ids]);
      return ids.map(() => undefined);
    },
    { maxSize: 200, lanes: 1, spacingMs: 80 },
  );
  const startWebhookDelivery = async (id: string): Promise<'here'> => {
    if (startMs > 0) await sleep(startMs);
    attempts.emit(`begun ${id}`);
    void (attemptMs > 0 ? sleep(attemptMs) : Promise.resolve())
      .then(() => end(id))
      .then(() => attempts.emit(`ended ${id}`));
    return 'here';
  };
  const logger = createLogger({ ...config, logLevel: 'error' }, 'bench');
  const scheduler = createScheduler(
    { database, logger, config, orchestrator: { startWebhookDelivery } },
    attempts,
  );
  await scheduler.heartbeat();
  const { idleMs } = defaultWebhookLoopOptions;
  const loops = [
    startPollingLoop({ name: 'scheduler', logger, idleMs, work: scheduler.poll }),
    startPollingLoop({ name: 'heartbeat', logger, idleMs: 500, work: scheduler.heartbeat }),
  ];
  process.once('disconnect', () => {
    void (async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await scheduler.stop();
      process.exit(0);
    })();
  });
  process.send?.('ready');
}

async function measure(): Promise<void> {
  const postgres = await startPostgres();
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO workspace (name) VALUES ('bench') RETURNING id`,
  );
  const workspaceId = rows[0]?.id ?? 0;

  async function prepare(webhooks: number): Promise<void> {
    await client.query('TRUNCATE webhook_delivery, webhook_configuration, webhook_scheduler');
    await client.query(
      `INSERT INTO webhook_configuration (id, workspace_id, title, url, status, events, proven_at)
       SELECT id, $1, 'bench', 'https://receiver.example/', 'active', '{sent}', now() FROM unnest($2::uuid[]) AS id`,
      [workspaceId, Array.from({ length: webhooks }, () => randomUUID())],
    );
    // Without statistics: ANALYZE has not run, as in a burst on a new day.
    await client.query(
      `INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key)
       SELECT $1, webhook.id, uuidv7(), 'sent'
       FROM generate_series(1, $2::int / $3::int), webhook_configuration AS webhook`,
      [workspaceId, backlog, webhooks],
    );
    await client.query('CHECKPOINT');
  }

  async function rate(schedulers: number, webhooks: number): Promise<number> {
    await prepare(webhooks);
    const [path, cpuBefore] = [fileURLToPath(import.meta.url), postgres.cpuSeconds()];
    const options = [`--start-ms=${startMs}`, `--attempt-ms=${attemptMs}`, `--starts=${values.starts}`];
    const children = await Promise.all(
      Array.from({ length: schedulers }, async () => {
        const child: ChildProcess = fork(path, ['serve', postgres.url, ...options]);
        await new Promise((resolve) => child.once('message', resolve));
        return child;
      }),
    );
    const count = async (): Promise<number> => {
      const found = await client.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM webhook_delivery WHERE dispatched_at IS NOT NULL',
      );
      return found.rows[0]?.count ?? 0;
    };
    // Warm-up: code is compiled, and heartbeats tell every scheduler of the others.
    await sleep(3_000);
    const [before, startedAt] = [await count(), performance.now()];
    await sleep(seconds * 1000);
    const [after, endedAt] = [await count(), performance.now()];
    const perSecond = ((after - before) * 1000) / (endedAt - startedAt);
    await Promise.all(
      children.map(async (child) => {
        const exit = new Promise((resolve) => child.once('exit', resolve));
        child.disconnect();
        await exit;
      }),
    );
    const cpuMs = ((postgres.cpuSeconds() - cpuBefore) * 1000) / Math.max(1, await count());
    const exhausted = (await count()) >= backlog ? ', THE BACKLOG RAN OUT' : '';
    process.stdout.write(
      `${schedulers} schedulers, ${webhooks} webhooks: ${perSecond.toFixed(0)}/s, Postgres ${cpuMs.toFixed(2)} CPU ms each${exhausted}\n`,
    );
    return perSecond;
  }

  try {
    const many = Number(values.schedulers);
    const one = await rate(1, Number(values.webhooks));
    const all = await rate(many, Number(values.webhooks));
    process.stdout.write(`${many} schedulers beside one: ${(all / one).toFixed(1)} times\n`);
    await rate(many, 1);
  } finally {
    await client.end();
    await postgres.stop();
  }
}

const [mode, databaseUrl = ''] = positionals;
await (mode === 'serve' ? serve(databaseUrl) : measure());
