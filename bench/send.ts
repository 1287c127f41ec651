/**
 * Compares campaigns that the deployed product sends, until they are COMPLETED, with a bare undici loop that ran before them
 * and posted the same bodies at the same rate. Campaigns start from a CSV file, except `analyzed`. `cold`: the first campaign
 * of a new database; `second`: a minute after one of 60,000; `analyzed`: after ANALYZE. `--recipients N` (100,000), `--rate N`
 * of the channel (100,000), `--latency N` of the provider in ms (0), `--only NAME`. Exits 1 unless every recipient has a known
 * outcome, got exactly one message, and the campaign is COMPLETED.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSecretBox } from '../src/secrets.ts';
import { runBareLoop } from './support/bare-loop.ts';
import { benchSecretsKey } from './support/bench-config.ts';
import { seedCsvCampaign } from './support/csv-campaign.ts';
import { startWholeProduct } from './support/product.ts';
import { seedRunningCampaign, type Seeded } from './support/seed.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({
  options: {
    recipients: whole('100000'),
    rate: whole('100000'),
    latency: whole('0'),
    only: { type: 'string' },
  },
});
const recipients = Number(values.recipients);
const rate = Number(values.rate);
const latencyMs = Number(values.latency);

const earlierRecipients = 60_000;
const warmUp = 20_000;
const pauseMs = 60_000;
const minuteMs = 60_000;
const pollMs = 500;
/** Longest time to wait for a campaign: three times what its rate takes, and five minutes. */
const longestMs = (count: number): number => (3_000 * count) / rate + 5 * minuteMs;
/** Enough unanswered messages for the rate and the latency; 64 saturate a provider that answers at once. */
const connections = Math.max(64, Math.ceil((rate * latencyMs * 1.5) / 1_000));

interface Product extends Awaited<ReturnType<typeof startWholeProduct>> {
  readonly dataDir: string;
}

const secrets = createSecretBox([benchSecretsKey]);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const fromFile = ({ client, dataDir }: Product, rows: number): Promise<Seeded> =>
  seedCsvCampaign(client, secrets, { rows, dataDir, messagesPerSecond: rate });

/** Resolves to a campaign that is about to start. */
type Seeding = (product: Product) => Promise<Seeded>;

const situations: Readonly<Record<string, Seeding>> = {
  cold: (product) => fromFile(product, recipients),
  second: async (product) => {
    const earlier = await fromFile(product, earlierRecipients);
    await untilEnded(product, earlier, earlierRecipients);
    await sleep(pauseMs);
    return fromFile(product, recipients);
  },
  // Its recipients exist before ANALYZE, so no preparation comes between.
  analyzed: async ({ client }) => {
    const seeded = await seedRunningCampaign(client, secrets, { recipients, messagesPerSecond: rate });
    await client.query('ANALYZE');
    return seeded;
  },
};

/** Starts the campaign; resolves to its status when it has ended or the time is over. */
async function untilEnded(
  { client, dependencies }: Product,
  { campaignId: id }: Seeded,
  count: number,
): Promise<string> {
  const read = async () => {
    const { rows } = await client.query<{ workspaceId: number; status: string }>(
      'SELECT workspace_id AS "workspaceId", status FROM campaign WHERE id = $1',
      [id],
    );
    return rows[0] ?? { workspaceId: 0, status: 'missing' };
  };
  const { workspaceId } = await read();
  await dependencies.orchestrator.startCampaign({ id, workspaceId, name: 'bench' });
  const deadline = performance.now() + longestMs(count);
  for (;;) {
    const { status } = await read();
    if (['COMPLETED', 'FAILED', 'CANCELLED'].includes(status) || performance.now() > deadline) return status;
    await sleep(pollMs);
  }
}

/** Rate of the bare loop over about a minute, once its code is compiled. */
async function bareRate(baseUrl: string): Promise<number> {
  await runBareLoop({ baseUrl, recipients: warmUp, connections });
  const count = Math.min(recipients, (rate * minuteMs) / 1_000);
  const { seconds } = await runBareLoop({ baseUrl, recipients: count, connections, perSecond: rate });
  return count / seconds;
}

async function measureCampaign(name: string, seed: Seeding, product: Product): Promise<boolean> {
  const { client, provider, postgres, worker } = product;
  const bare = await bareRate(provider.baseUrl);
  const seeded = await seed(product);
  const before = { worker: worker.cpuSeconds(), postgres: postgres.cpuSeconds() };
  const status = await untilEnded(product, seeded, recipients);
  const per10k = (seconds: number): string => ((seconds * 10_000) / recipients).toFixed(2);
  const cpu = [worker.cpuSeconds() - before.worker, postgres.cpuSeconds() - before.postgres].map(per10k);

  const sent = await provider.arrivals(seeded.channelId);
  const seconds = (sent.lastAt - sent.firstAt) / 1_000;
  const firstMinute = sent.inFirstMinute / Math.min(minuteMs / 1_000, seconds);
  const overall = sent.count / seconds;
  const { rows } = await client.query<{ recorded: number; unknown: number; claimed: number }>(
    `SELECT count(*) FILTER (WHERE state NOT IN ('PENDING', 'CLAIMED', 'UNKNOWN'))::int AS recorded,
      count(*) FILTER (WHERE state = 'UNKNOWN')::int AS unknown, count(*) FILTER (WHERE state = 'CLAIMED')::int AS claimed
    FROM recipient WHERE campaign_id = $1`,
    [seeded.campaignId],
  );
  const { recorded, unknown, claimed } = rows[0] ?? { recorded: 0, unknown: 0, claimed: 0 };
  const share = (perSecond: number): string =>
    `${Math.round(perSecond)}/s, ${(perSecond / bare).toFixed(2)} of the bare loop, ${(perSecond / rate).toFixed(2)} of the channel's rate`;
  say(
    `${name}: ${recipients} recipients at ${rate}/s, provider ${latencyMs} ms; the bare loop ${Math.round(bare)}/s\n` +
      `  first minute ${share(firstMinute)}\n  overall ${share(overall)}, busiest second ${sent.busiestSecond}\n` +
      `  ${recorded} recorded, ${unknown} unknown, ${claimed} CLAIMED, campaign ${status}; ` +
      `the provider took ${sent.count} messages to ${sent.distinct} recipients\n` +
      `  CPU s per 10,000, preparation included: worker ${cpu[0]}, Postgres ${cpu[1]}`,
  );
  return (
    recorded === recipients &&
    sent.count === recipients &&
    sent.distinct === recipients &&
    status === 'COMPLETED'
  );
}

const chosen = Object.entries(situations).filter(([name]) => (values.only ?? name) === name);
if (chosen.length === 0) throw new Error(`--only takes one of ${Object.keys(situations).join(', ')}`);
for (const [name, seed] of chosen) {
  const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-files-'));
  const product = await startWholeProduct(latencyMs, { DATA_DIR: dataDir });
  try {
    if (!(await measureCampaign(name, seed, { ...product, dataDir }))) process.exitCode = 1;
  } finally {
    await product.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
