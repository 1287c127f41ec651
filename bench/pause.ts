/**
 * How soon a pause, a start, a recharge and a cancel are answered while four campaigns of one wallet send at full speed in a
 * worker process, and every commit of Postgres takes `--commit N` milliseconds (60). `--seconds N` (30).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../src/commands/campaigns/change-campaign.ts';
import { rechargeWallet } from '../src/commands/wallet/recharge-wallet.ts';
import { createSecretBox } from '../src/secrets.ts';
import { benchSecretsKey } from './support/bench-config.ts';
import { startWholeProduct } from './support/product.ts';
import { seedBeside, seedRunningCampaign } from './support/seed.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({ options: { commit: whole('60'), seconds: whole('30') } });
const [commitMs, seconds] = [Number(values.commit), Number(values.seconds)];
const recipients = 100_000;
const campaigns = 4;
const answerMs = 50;
const restMs = 400;

const product = await startWholeProduct(answerMs);
const { provider, client, dependencies } = product;
const took = new Map<string, number[]>();
const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
  const startedAt = performance.now();
  await work();
  took.set(what, [...(took.get(what) ?? []), performance.now() - startedAt]);
};

try {
  const seed = { recipients, messagesPerSecond: 100_000 };
  const first = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), seed);
  const { channelId } = first;
  const ids = await seedBeside(client, first, { campaigns: campaigns - 1, recipients });
  const { rows } = await client.query<{ workspace_id: number }>(
    'SELECT workspace_id FROM channel WHERE id = $1',
    [channelId],
  );
  const workspaceId = rows[0]?.workspace_id ?? 0;
  await client.query('CHECKPOINT');
  // The first of a group of commits waits so long before it writes, the others with it.
  await client.query(`ALTER SYSTEM SET commit_delay = ${commitMs * 1_000}`);
  await client.query('ALTER SYSTEM SET commit_siblings = 0');
  await client.query('SELECT pg_reload_conf()');
  for (const id of ids) await dependencies.orchestrator.startCampaign({ id, workspaceId, name: 'bench' });
  while ((await provider.arrivals(channelId)).count < 1_000) await sleep(100);

  const [before, startedAt] = [(await provider.arrivals(channelId)).count, performance.now()];
  const operate = async (campaignId: string): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) {
      await timed('pause', () => pauseCampaign(dependencies, { campaignId, workspaceId }));
      await timed('recharge', () => rechargeWallet(dependencies, { workspaceId, channelId, amount: '1' }));
      await timed('start', () => startCampaignAgain(dependencies, { campaignId, workspaceId }));
      await sleep(restMs * campaigns);
    }
  };
  await Promise.all(ids.map((id, nth) => sleep(nth * restMs).then(() => operate(id))));
  const perSecond =
    ((await provider.arrivals(channelId)).count - before) / ((performance.now() - startedAt) / 1_000);
  for (const campaignId of ids)
    await timed('cancel', () => cancelCampaign(dependencies, { campaignId, workspaceId }));
  process.stdout.write(`commits of ${commitMs} ms, ${perSecond.toFixed(0)} messages a second meanwhile\n`);
  for (const [what, times] of took) {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(0);
    process.stdout.write(
      `${what}: ${sorted.length} times, p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(1)} ms\n`,
    );
  }
} finally {
  await product.stop();
}
