/**
 * Compares three senders in one run, to a provider that answers at once: the send steps of a seeded campaign; BullMQ with one job
 * per recipient, once without a record and once with a row in Postgres per outcome; a bare undici loop. Prints messages per
 * second, ratios, CPU seconds per 10,000 messages and peak memory. `--recipients N` (100,000), `--rounds N` (3), `--concurrency
 * N` of the BullMQ worker (200).
 *
 * Needs a redis-server on the PATH (Debian: apt-get install redis-server).
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer, type AckServer } from './support/ack-server.ts';
import { runBareLoop } from './support/bare-loop.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { runBullmqLoop } from './support/bullmq-loop.ts';
import { measure, median, type Measured } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { startRedis, type BenchRedis } from './support/redis.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { sendCampaign } from './support/send-campaign.ts';

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '200' },
  },
});
const recipients = Number(values.recipients);
const concurrency = Number(values.concurrency);
const connections = 64;
const unlimited = 100_000;

/** Figures of one sender: its process and the servers that only it uses. */
interface Sent extends Measured {
  readonly serverCpuSeconds: number;
}

async function ourSending(
  { postgres, provider }: { readonly postgres: BenchPostgres; readonly provider: AckServer },
  count = recipients,
): Promise<Sent> {
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  const { campaignId, channelId } = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients: count,
    messagesPerSecond: unlimited,
  });
  await client.query('CHECKPOINT');
  await client.end();
  const dependencies = await createDependencies(
    benchConfig(postgres.url, {
      PROVIDER_BASE_URL: provider.baseUrl,
      PROVIDER_CONNECTIONS: String(2 * connections),
    }),
    'bench',
  );
  const sent = await withServers([postgres], () =>
    measure(async () => {
      await sendCampaign(dependencies, campaignId);
    }),
  );
  await dependencies.close();
  const arrivals = await provider.arrivals(channelId);
  if (arrivals.count !== count || arrivals.distinct !== count)
    throw new Error(`${arrivals.count} messages to ${arrivals.distinct} recipients came instead of ${count}`);
  return sent;
}

async function withServers(
  servers: readonly { readonly cpuSeconds: () => number }[],
  work: () => Promise<Measured>,
): Promise<Sent> {
  const total = () => servers.reduce((sum, { cpuSeconds }) => sum + cpuSeconds(), 0);
  const before = total();
  const measured = await work();
  return { ...measured, serverCpuSeconds: total() - before };
}

const rateOf = ({ seconds }: Measured): number => recipients / seconds;
const per10k = (seconds: number): string => ((seconds * 10_000) / recipients).toFixed(2);
const line = (name: string, sent: Measured, serverCpuSeconds = 0): string =>
  `  ${name.padEnd(18)}${Math.round(rateOf(sent)).toString().padStart(6)}/s, ${per10k(sent.cpuSeconds)} CPU s per 10,000` +
  `${serverCpuSeconds === 0 ? '' : `, servers ${per10k(serverCpuSeconds)} CPU s`}, ${sent.peakRssMb} MB\n`;

const postgres = await startPostgres();
const provider = await startAckServer();
const redis = await startRedis();
if (redis === undefined) {
  process.stdout.write(
    'BullMQ is left out: there is no redis-server on the PATH (Debian: apt-get install redis-server)\n',
  );
}

async function runBullmq({ port, cpuSeconds }: BenchRedis) {
  const loop = { baseUrl: provider.baseUrl, recipients, connections, redisPort: port, concurrency };
  const alone = await withServers([{ cpuSeconds }], () => runBullmqLoop(loop));
  const recorded = await withServers([{ cpuSeconds }, postgres], () =>
    runBullmqLoop({ ...loop, databaseUrl: postgres.url }),
  );
  return { alone, recorded };
}

try {
  const bareLoop = { baseUrl: provider.baseUrl, recipients, connections };
  // Warm-up: compiles the code of both senders and lets Postgres create its first WAL files.
  await runBareLoop(bareLoop);
  await ourSending({ postgres, provider }, Math.ceil(recipients / 5));
  const ratios = { bare: [] as number[], bullmq: [] as number[], recorded: [] as number[] };
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const bare = await runBareLoop(bareLoop);
    const ours = await ourSending({ postgres, provider });
    ratios.bare.push(rateOf(ours) / rateOf(bare));
    process.stdout.write(
      `round ${round}\n${line('bare', bare)}${line('campaign', ours, ours.serverCpuSeconds)}`,
    );
    if (redis === undefined) continue;
    const { alone, recorded } = await runBullmq(redis);
    ratios.bullmq.push(rateOf(ours) / rateOf(alone));
    ratios.recorded.push(rateOf(ours) / rateOf(recorded));
    process.stdout.write(
      `${line('BullMQ, no record', alone, alone.serverCpuSeconds)}${line('BullMQ and a row', recorded, recorded.serverCpuSeconds)}`,
    );
  }
  process.stdout.write(
    `medians of ${recipients} recipients: ${median(ratios.bare).toFixed(2)} of the bare loop` +
      `${redis === undefined ? '' : `, ${median(ratios.bullmq).toFixed(2)} times BullMQ without a record, ${median(ratios.recorded).toFixed(2)} times BullMQ with a row per job`}\n`,
  );
} finally {
  provider.stop();
  await redis?.stop();
  await postgres.stop();
}
