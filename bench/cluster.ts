/**
 * Runs the cluster of `npm run cluster` first with one process of each kind, then with two. Prints messages and webhook
 * deliveries per second, and the CPU time of each message and delivery by kind of process. Two of each are not faster on one
 * machine; the comparison shows the overhead of a second host. `--recipients N` (20,000), `--deliveries N` (6,000), `--hosts N`
 * runs one of the two shapes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewEvent } from '../src/domain/webhooks/new-event.ts';
import { exampleEvent } from '../src/codecs/event-example.ts';
import { createDatabase } from '../src/records/database/database.ts';
import { emitEvents } from '../src/records/webhooks/events.ts';
import { startCluster, type Cluster } from '../local/cluster/cluster.ts';
import type { Hosts } from '../local/cluster/product.ts';
import { createDemoApi } from '../local/demo/api.ts';
import { createCampaign } from '../local/rehearsals/create-campaign.ts';
import { readGauges, withClient } from '../local/rehearsals/evidence.ts';
import { rehearse, type RehearsalContext } from '../local/rehearsals/rehearsal.ts';
import { seedWorkspace } from '../local/rehearsals/seed-workspace.ts';
import { cpuSecondsOf } from './support/process-cpu.ts';
import { startWebhookSink } from './support/webhook-sink.ts';

/** Messages per second of the channel: above what the machine can send, so that it never limits. */
const rate = 5_000;
/** 20 s: preparation has ended before sending starts. */
const startsInSeconds = 20;
const pollMs = 100;
const restSeconds = 10;
/** An event that no campaign emits, so that only this bench causes deliveries. */
const event = 'conversation.assigned';

const kinds = {
  api: /^api-/,
  workers: /^(campaigns|webhooks|maintenance)-/,
  Temporal: /^(frontend|history|matching|temporal)-/,
  Postgres: /^postgres-/,
  haproxy: /^haproxy$/,
} as const;
type Kind = keyof typeof kinds;
type Costs = ReadonlyMap<Kind, number>;

/** Returns the CPU seconds that each kind of process has used since it started. */
function readCosts(cluster: Cluster): Costs {
  const pids = Object.entries(cluster.pids());
  const spent = (kind: Kind) =>
    pids.filter(([name]) => kinds[kind].test(name)).reduce((sum, [, pid]) => sum + cpuSecondsOf(pid), 0);
  return new Map((Object.keys(kinds) as Kind[]).map((kind) => [kind, spent(kind)]));
}

interface Work {
  readonly name: string;
  readonly count: number;
  readonly run: () => Promise<void>;
}

/** Reports the CPU time of each unit of work, without the idle use. `atRest`: CPU seconds per second while idle. */
async function measure(cluster: Cluster, atRest: Costs, { name, count, run }: Work): Promise<string> {
  const { seconds, spent } = await observe(cluster, run);
  const each = [...spent].map(
    ([kind, cpu]) => [kind, ((cpu - (atRest.get(kind) ?? 0) * seconds) * 1_000) / count] as const,
  );
  return `  ${name}: ${(count / seconds).toFixed(0)} a second, CPU of each without idle use ${describeCosts(each)}`;
}

async function observe(
  cluster: Cluster,
  run: () => Promise<void>,
): Promise<{ readonly seconds: number; readonly spent: Costs }> {
  const before = readCosts(cluster);
  const startedAt = performance.now();
  await run();
  const after = readCosts(cluster);
  const spent = new Map([...after].map(([kind, cpu]) => [kind, cpu - (before.get(kind) ?? 0)]));
  return { seconds: (performance.now() - startedAt) / 1_000, spent };
}

function describeCosts(each: readonly (readonly [Kind, number])[]): string {
  const total = each.reduce((sum, [, ms]) => sum + ms, 0);
  return `${total.toFixed(2)} ms (${each.map(([kind, ms]) => `${kind} ${ms.toFixed(2)}`).join(', ')})`;
}

async function measureShape(context: RehearsalContext, hosts: Hosts): Promise<void> {
  const { progress, signal, options } = context;
  const recipients = options.whole('recipients', 20_000);
  const folder = join(context.folder, String(hosts));
  // The embedded Postgres may run as another user, who must traverse this folder.
  mkdirSync(folder, { mode: 0o711 });
  const environment = process.env;
  const cluster = await startCluster({
    hosts,
    folder,
    environment,
    progress,
    onLine: () => undefined,
    signal,
  });
  const sink = await startWebhookSink();
  try {
    progress.say(`${hosts} of everything, ${Object.keys(cluster.pids()).length} processes`);
    const { admin, apiUrl, databaseUrl } = cluster;
    const receiverUrl = sink.healthyUrl;
    const seed = { admin, apiUrl, rate, receiverUrl, name: 'Bench', events: [event] };
    const { apiKey, templateId } = await seedWorkspace(seed);
    const { seconds, spent } = await observe(cluster, () => sleep(restSeconds * 1_000));
    const atRest = new Map([...spent].map(([kind, cpu]) => [kind, cpu / seconds]));
    progress.say(
      `  at rest, CPU of each second ${describeCosts([...atRest].map(([kind, cpu]) => [kind, cpu * 1_000]))}`,
    );
    const measured = async (work: Work) => progress.say(await measure(cluster, atRest, work));

    const api = createDemoApi({ baseUrl: apiUrl, apiKey });
    const campaign = { name: 'Bench', templateId, recipients, inSeconds: startsInSeconds };
    const { id } = await createCampaign(api, campaign);
    const settled = async () => (await readGauges({ databaseUrl }, id))?.settled ?? 0;
    const untilSettled = async (count: number) => {
      while ((await settled()) < count) await sleep(pollMs, undefined, { signal });
    };
    await untilSettled(1);
    const count = recipients - (await settled());
    await measured({ name: 'messages', count, run: () => untilSettled(recipients) });
    await untilQuiet(cluster);
    const events = Array.from({ length: options.whole('deliveries', 6_000) }, () =>
      exampleEvent(event, new Date()),
    );
    await measured({ name: 'deliveries', count: events.length, run: () => deliver(cluster, events) });
  } finally {
    sink.stop();
    await cluster.stop();
  }
}

/** Waits until all receipts are applied: three checks in a row, a second apart, find the callback queue empty. */
async function untilQuiet({ databaseUrl }: Cluster): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    let quiet = 0;
    while (quiet < 3) {
      const { rows } = await client.query('SELECT EXISTS (SELECT FROM waiting_callback) AS waits');
      quiet = rows[0].waits === true ? 0 : quiet + 1;
      await sleep(1_000);
    }
  });
}

async function deliver({ databaseUrl }: Cluster, events: readonly NewEvent[]): Promise<void> {
  const database = await createDatabase(databaseUrl, 2);
  try {
    await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query('SELECT workspace_id FROM webhook_configuration');
      await emitEvents(database, rows[0].workspace_id, events);
      for (;;) {
        const { rows: counted } = await client.query(
          `SELECT count(*)::int AS count FROM webhook_delivery WHERE state = 'delivered'`,
        );
        if (counted[0].count >= events.length) return;
        await sleep(pollMs);
      }
    });
  } finally {
    await database.end();
  }
}

await rehearse({
  name: 'bench-cluster',
  usage: 'npm run bench -- cluster [--recipients N] [--deliveries N] [--hosts 1|2]\n',
  options: ['recipients', 'deliveries', 'hosts'],
  sound: 'Measured.',
  run: async (context) => {
    for (const hosts of [1, 2] as const)
      if (context.options.whole('hosts', hosts) === hosts) await measureShape(context, hosts);
    return [];
  },
});
