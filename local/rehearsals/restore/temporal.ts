/** Restores Temporal to a backup, while Postgres keeps its later records. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../../stack/progress.ts';
import { createDrillCampaign, compareCampaign, providerCounts, untilCampaign } from './campaigns.ts';
import { sentOf, show, untilClean, type DrillPlan } from './postgres.ts';
import { copyTemporalStore } from './temporal-store.ts';
import type { DrillStack } from './stack.ts';

/** Resolves to the problems that were found. */
export async function drillTemporal(
  stack: DrillStack,
  { windowSeconds, rate }: DrillPlan,
  progress: Progress,
): Promise<readonly string[]> {
  const problems: string[] = [];
  progress.say(`--- Temporal goes back ${windowSeconds} s, Postgres does not`);
  const paused = await createDrillCampaign(stack, {
    name: 'paused, then started',
    recipients: (windowSeconds + 30) * rate,
  });
  await untilCampaign(stack, paused, ({ counters }) => sentOf(counters) > rate);
  await stack.api.post(`/api/campaigns/${paused.id}/pause`, {});
  const asleep = await createDrillCampaign(stack, {
    name: 'asleep, then cancelled',
    recipients: 20,
    inSeconds: 3600,
  });
  const ending = await createDrillCampaign(stack, { name: 'completes meanwhile', recipients: 8 * rate });
  await untilCampaign(stack, ending, ({ counters }) => sentOf(counters) > 2 * rate);

  const copy = `${stack.temporalFiles}.backup`;
  await stack.stop(['temporal']);
  copyTemporalStore(stack.temporalFiles, copy);
  await stack.startTemporal();
  await untilCampaign(stack, ending, ({ status }) => status === 'COMPLETED');
  await stack.api.post(`/api/campaigns/${asleep.id}/cancel`, {});
  await stack.api.post(`/api/campaigns/${paused.id}/start`, {});
  const created = await createDrillCampaign(stack, {
    name: 'created after the backup',
    recipients: (windowSeconds + 30) * rate,
  });
  await untilCampaign(stack, created, ({ counters }) => sentOf(counters) > rate);
  await sleep(windowSeconds * 500);
  await stack.kill(['temporal', 'worker', 'api']);
  copyTemporalStore(copy, stack.temporalFiles);
  await stack.startTemporal();
  progress.say('Disaster: Temporal, API and worker killed, Temporal started on its backup');

  // 6 s, more than --slack-seconds: the doctor finds lost signals only of campaigns that have not changed for 5 s.
  await sleep(6_000);
  const repaired = await stack.doctor('--repair', '--pause-seconds', '2', '--slack-seconds', '5');
  show(progress, repaired);
  await stack.startPrograms();
  const campaigns = [paused, asleep, ending, created];
  for (const campaign of campaigns)
    await untilCampaign(
      stack,
      campaign,
      ({ status }) => status === 'COMPLETED' || status === 'CANCELLED',
      300,
    );
  await sleep(12_000);
  const taken = await providerCounts(stack);
  for (const campaign of campaigns) {
    const { end, problems: found } = await compareCampaign(stack, { campaign, taken, progress });
    problems.push(...found);
    if (end.pendingTaken > 0)
      problems.push(`${end.pendingTaken} of "${campaign.name}" are PENDING, although they were sent to`);
  }
  problems.push(...(await untilClean(stack, progress)));
  return problems;
}
