/**
 * Compares webhook deliveries, from the event's row to the recorded outcome, with no-op workflows on the same Temporal server,
 * in turns: `eager` ones, which run their first task in the starting process (the fastest form), and `plain` ones. No result of
 * a workflow is awaited. Then measures the latency of events at half that rate and beside receivers that hang. `--seconds N` of
 * deliveries in all (60), `--rounds N` (6), `--latency N` seconds of each pace (30), `--hanging N` receivers (200), `--lanes N`
 * concurrent starts of no-op workflows (50).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { exampleEvent } from '../src/codecs/event-example.ts';
import { createDatabase } from '../src/records/database/database.ts';
import { emitEvents } from '../src/records/webhooks/events.ts';
import { createSecretBox } from '../src/secrets.ts';
import { benchSecretsKey } from './support/bench-config.ts';
import { median } from './support/measure.ts';
import { startPostgres } from './support/postgres.ts';
import { cpuSecondsOf } from './support/process-cpu.ts';
import { startBenchTemporal } from './support/temporal.ts';
import { startWebhookProcess } from './support/webhook-process.ts';
import { startWebhookSink, type Arrivals } from './support/webhook-sink.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({
  options: {
    seconds: whole('60'),
    rounds: whole('6'),
    hanging: whole('200'),
    lanes: whole('50'),
    latency: whole('30'),
  },
});
const rounds = Number(values.rounds);
const segmentSeconds = Number(values.seconds) / rounds;
const hangingReceivers = Number(values.hanging);
const latencySeconds = Number(values.latency);
const lanes = Number(values.lanes);
/** 400 deliveries per second: more than the server can do, so that the backlog never runs out. */
const backlogPerSecond = 400;
/** Events per second of the one configuration whose latency is measured while other receivers hang. */
const lonePerSecond = 5;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const postgres = await startPostgres();
const temporal = await startBenchTemporal();
const sink = await startWebhookSink();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const database = await createDatabase(postgres.url, 2);
const worker = await startWebhookProcess(postgres.url, temporal.address);
const stop = async (): Promise<void> => {
  await worker.stop();
  await database.end();
  await client.end();
  sink.stop();
  await temporal.stop();
  await postgres.stop();
};
// The servers are in process groups of their own, so Ctrl-C does not reach them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop().finally(() => process.exit(1)));
}
const secrets = createSecretBox([benchSecretsKey]);

async function makeWorkspace(url: string): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO workspace (name) VALUES ('bench') RETURNING id`,
  );
  const workspaceId = rows[0]?.id ?? 0;
  const id = randomUUID();
  await client.query(
    `INSERT INTO webhook_configuration (id, workspace_id, title, url, status, events, secret_encrypted)
    VALUES ($1, $2, 'bench', $3, 'active', '{delivered}', $4)`,
    [id, workspaceId, url, secrets.encrypt('the secret of a receiver', `webhook ${id}`)],
  );
  return workspaceId;
}

const emit = (workspaceId: number, count: number): Promise<void> =>
  emitEvents(
    database,
    workspaceId,
    Array.from({ length: count }, () => exampleEvent('delivered', new Date())),
  );

async function countDeliveries(condition: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM webhook_delivery WHERE ${condition}`,
  );
  return rows[0]?.count ?? 0;
}

async function clear(): Promise<void> {
  while ((await countDeliveries(`state = 'sending'`)) > 0) await sleep(100);
  await client.query('TRUNCATE event, webhook_delivery');
}

interface Costs {
  readonly worker: number;
  readonly temporal: number;
  readonly postgres: number;
}
const costs = (): Costs => ({
  worker: cpuSecondsOf(worker.pid),
  temporal: temporal.cpuSeconds(),
  postgres: postgres.cpuSeconds(),
});

interface Segment {
  readonly rate: number;
  /** CPU milliseconds of each. */
  readonly cpu: Costs;
}

async function segment(
  work: () => Promise<{ readonly count: number; readonly seconds: number }>,
): Promise<Segment> {
  const before = costs();
  const { count, seconds } = await work();
  const after = costs();
  const each = (part: keyof Costs) => ((after[part] - before[part]) * 1000) / count;
  return {
    rate: count / seconds,
    cpu: { worker: each('worker'), temporal: each('temporal'), postgres: each('postgres') },
  };
}

const deliveries = (workspaceId: number): Promise<Segment> =>
  segment(async () => {
    await emit(workspaceId, backlogPerSecond * segmentSeconds);
    const startedAt = performance.now();
    await worker.run({ kind: 'loops' });
    await sleep(segmentSeconds * 1000);
    await worker.run({ kind: 'rest' });
    const count = await countDeliveries(`state = 'delivered'`);
    const seconds = (performance.now() - startedAt) / 1000;
    await clear();
    return { count, seconds };
  });

const bare = (eager: boolean): Promise<Segment> =>
  segment(async () => {
    return worker.run({ kind: 'bare', seconds: segmentSeconds, lanes, eager });
  });

const posts = (): Promise<Segment> =>
  segment(() => worker.run({ kind: 'post', seconds: segmentSeconds / 4, lanes, url: sink.otherUrl }));

/** CPU time of a delivery divided by that of the minimum: an eager no-op workflow and a bare POST. */
const costRatio = (ours: Segment, eager: Segment, post: Segment): number =>
  (ours.cpu.worker + ours.cpu.temporal) / (eager.cpu.worker + eager.cpu.temporal + post.cpu.worker);

const describe = (name: string, { rate, cpu }: Segment): string =>
  `${name} ${rate.toFixed(0).padStart(4)}/s, CPU ms each: worker ${cpu.worker.toFixed(1)}, ` +
  `Temporal ${cpu.temporal.toFixed(1)}, Postgres ${cpu.postgres.toFixed(1)}`;

/** Single events at a steady pace. */
async function pace(workspaceId: number, perSecond: number): Promise<Arrivals> {
  await sink.take();
  const startedAt = performance.now();
  for (let sent = 0; sent < perSecond * latencySeconds; sent += 1) {
    await sleep(Math.max(0, startedAt + (sent * 1000) / perSecond - performance.now()));
    await emit(workspaceId, 1);
  }
  await sleep(3000);
  return sink.take();
}

const latency = ({ count, doubled, p50, p99, slowest }: Arrivals): string =>
  `${count} arrived, ${doubled} twice, p50 ${p50} ms, p99 ${p99} ms, slowest ${slowest} ms`;

try {
  const healthy = await makeWorkspace(sink.healthyUrl);
  // Warm-up: compilation during the first thousands of either kind would distort the first measured round.
  await bare(true);
  await deliveries(healthy);
  const eagerRatios: number[] = [];
  const plainRatios: number[] = [];
  const costRatios: number[] = [];
  const rates: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    // The server keeps timers of the previous load for ten seconds; alternating which kind goes first cancels their effect.
    const first = round % 2 === 0 ? await deliveries(healthy) : undefined;
    const eager = await bare(true);
    const ours = first ?? (await deliveries(healthy));
    const plain = await bare(false);
    const post = await posts();
    rates.push(ours.rate);
    costRatios.push(costRatio(ours, eager, post));
    eagerRatios.push(ours.rate / eager.rate);
    plainRatios.push(ours.rate / plain.rate);
    say(describe(`round ${round}: no-op, eager `, eager));
    say(describe(`round ${round}: no-op, plain `, plain));
    say(describe(`round ${round}: bare POST    `, post));
    say(describe(`round ${round}: deliveries   `, ours));
    say(
      `round ${round}: ratio ${(eagerRatios.at(-1) ?? 0).toFixed(2)} eager, ${(plainRatios.at(-1) ?? 0).toFixed(2)} plain`,
    );
  }
  say(`ratio (median) ${median(eagerRatios).toFixed(2)} eager, ${median(plainRatios).toFixed(2)} plain`);

  const cost = median(costRatios);
  say(
    `CPU of Node and Temporal for a delivery beside an eager no-op and a bare POST (median) ${cost.toFixed(2)}`,
  );

  const { doubled } = await sink.take();
  if (doubled > 0) throw new Error(`${doubled} requests came twice`);
  const half = Math.floor(median(rates) / 2);
  await worker.run({ kind: 'loops' });
  say(`at half of it, ${half}/s: ${latency(await pace(healthy, half))}`);

  const loud = await makeWorkspace(sink.otherUrl);
  await emit(loud, backlogPerSecond * latencySeconds);
  const crowded = await pace(healthy, lonePerSecond);
  say(`beside the backlog of another configuration, ${lonePerSecond}/s: ${latency(crowded)}`);
  await worker.run({ kind: 'rest' });
  await clear();
  await worker.run({ kind: 'loops' });

  for (let made = 0; made < hangingReceivers; made += 1) {
    await emit(await makeWorkspace(sink.hangingUrl), 50);
  }
  const beside = await pace(healthy, lonePerSecond);
  say(
    `beside ${hangingReceivers} hanging receivers with 50 events each, ${lonePerSecond}/s: ${latency(beside)}; ${beside.hanging} requests hung`,
  );
  const { rssMb } = await worker.run({ kind: 'rest' });
  say(`memory of the worker at the end ${rssMb} MB`);
} finally {
  await stop();
}
