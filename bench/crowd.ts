/**
 * Measures how a crowd of campaigns on a slow channel affects a campaign of another workspace on a fast channel, in one
 * worker process: when the fast one begins, how fast it sends, and which share of its rate the slow channel keeps.
 * `--campaigns N` (120) of 300 recipients; `--rate N` (5) of their channel; `--neighbour N` (6,000) recipients at
 * `--neighbour-rate N` (400); `--held` first silences the slow channel for an hour, as when the provider throttles it;
 * `--settle N` seconds (15) between the start of the crowd and that of the fast campaign.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSecretBox } from '../src/secrets.ts';
import { benchSecretsKey } from './support/bench-config.ts';
import { startWholeProduct } from './support/product.ts';
import { seedBeside, seedRunningCampaign } from './support/seed.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({
  options: {
    campaigns: whole('120'),
    rate: whole('5'),
    neighbour: whole('6000'),
    'neighbour-rate': whole('400'),
    held: { type: 'boolean', default: false },
    settle: whole('15'),
  },
});
const [campaigns, rate] = [Number(values.campaigns), Number(values.rate)];
const [neighbour, neighbourRate] = [Number(values.neighbour), Number(values['neighbour-rate'])];
const recipients = 300;
const startsAtOnce = 20;
const longestMs = 240_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const product = await startWholeProduct(50);
const { postgres, temporal, provider, client, worker, dependencies } = product;

async function start(ids: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ workspace_id: number }>(
    'SELECT workspace_id FROM campaign WHERE id = $1',
    [ids[0]],
  );
  const workspaceId = rows[0]?.workspace_id ?? 0;
  const waiting = [...ids];
  const lane = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
      await dependencies.orchestrator.startCampaign({ id, workspaceId, name: 'bench' });
  };
  await Promise.all(Array.from({ length: startsAtOnce }, lane));
}

try {
  const seed = { messagesPerSecond: rate, recipients };
  const first = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), seed);
  const crowd = await seedBeside(client, first, { campaigns: campaigns - 1, recipients });
  const fast = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients: neighbour,
    messagesPerSecond: neighbourRate,
  });
  if (values.held)
    await client.query(
      `UPDATE channel_rate SET silent_until = now() + interval '1 hour' WHERE channel_id = $1`,
      [first.channelId],
    );
  await client.query('CHECKPOINT');
  await start(crowd);
  await sleep(Number(values.settle) * 1_000);

  const now = () => performance.timeOrigin + performance.now();
  const cpu = () => worker.cpuSeconds() + postgres.cpuSeconds() + temporal.cpuSeconds();
  const before = { slow: await provider.arrivals(first.channelId), at: now(), cpu: cpu() };
  await start([fast.campaignId]);
  let arrived = await provider.arrivals(fast.channelId);
  while (arrived.count < neighbour && now() < before.at + longestMs) {
    await sleep(250);
    arrived = await provider.arrivals(fast.channelId);
  }
  const seconds = (now() - before.at) / 1_000;
  const slow = await provider.arrivals(first.channelId);
  const { rows } = await client.query<{ claimed: number; unknown: number }>(
    'SELECT sum(claimed)::int AS claimed, sum(unknown)::int AS unknown FROM campaign_counter WHERE campaign_id = ANY ($1::uuid[])',
    [crowd],
  );
  const perSecond = ((arrived.count - 1) * 1_000) / (arrived.lastAt - arrived.firstAt);
  const slowPerSecond = (slow.count - before.slow.count) / seconds;
  say(
    `beside ${campaigns} campaigns on ${rate}/s${values.held ? ', held' : ''}: ${arrived.count} of ${neighbour} at ` +
      `${perSecond.toFixed(1)}/s = ${(perSecond / neighbourRate).toFixed(3)} of ${neighbourRate}/s, ` +
      `busiest second ${arrived.busiestSecond}, first message after ${((arrived.firstAt - before.at) / 1_000).toFixed(2)} s`,
  );
  say(
    `the slow channel meanwhile: ${slowPerSecond.toFixed(2)}/s = ${(slowPerSecond / rate).toFixed(3)} of ${rate}/s, ` +
      `busiest second ${slow.busiestSecond}; claimed ${rows[0]?.claimed ?? 0}, unknown ${rows[0]?.unknown ?? 0}; ` +
      `${((cpu() - before.cpu) / seconds).toFixed(2)} cores busy`,
  );
} finally {
  await product.stop();
}
