/** Restores Postgres to a backup, alone or together with Temporal, while the provider has received messages since. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../../stack/progress.ts';
import { restoreBaseBackup, takeBaseBackup } from './base-backup.ts';
import {
  createDrillCampaign,
  compareCampaign,
  providerCounts,
  readCampaign,
  tally,
  untilCampaign,
  type DrillCampaign,
} from './campaigns.ts';
import { copyTemporalStore } from './temporal-store.ts';
import type { DoctorRun, DrillStack } from './stack.ts';

export interface DrillPlan {
  /** Seconds of sending between the backup and the disaster. */
  readonly windowSeconds: number;
  /** Messages per second of the channel. */
  readonly rate: number;
  /** Starts the workers before the doctor, against the runbook. */
  readonly workersFirst: boolean;
}

/** Whether Temporal is restored to the same backup, as where one Postgres holds both databases. */
export type DrillKind = 'postgres' | 'both';

const mostLines = 12;

/** Resolves to the problems that were found. */
export async function drillPostgres(
  stack: DrillStack,
  plan: DrillPlan,
  progress: Progress,
  kind: DrillKind,
): Promise<readonly string[]> {
  const { windowSeconds, rate } = plan;
  const problems: string[] = [];
  progress.say(
    kind === 'both'
      ? `--- Postgres and Temporal go back ${windowSeconds} s`
      : `--- Postgres goes back ${windowSeconds} s, Temporal does not`,
  );
  const before = await createDrillCampaign(stack, {
    name: 'completed before the backup',
    recipients: 2 * rate,
  });
  await untilCampaign(stack, before, ({ status }) => status === 'COMPLETED');
  const paused = await createDrillCampaign(stack, { name: 'paused at the backup', recipients: 3 * rate });
  await untilCampaign(
    stack,
    paused,
    ({ counters }) => (counters['pending'] ?? 0) < 2 * rate && counters['pending'] !== 0,
  );
  await stack.api.post(`/api/campaigns/${paused.id}/pause`, {});
  const asleep = await createDrillCampaign(stack, {
    name: 'asleep for an hour',
    recipients: 20,
    inSeconds: 3600,
  });
  const due = await createDrillCampaign(stack, {
    name: 'due after the backup',
    recipients: 2 * rate,
    inSeconds: 12,
  });
  const running = await createDrillCampaign(stack, {
    name: 'running at the backup',
    recipients: (windowSeconds + 40) * rate,
  });
  await untilCampaign(
    stack,
    running,
    ({ counters }) => (counters['pending'] ?? 0) > 0 && sentOf(counters) > 2 * rate,
  );
  for (const campaign of [asleep, due])
    await untilCampaign(stack, campaign, ({ preparation_status: preparation }) => preparation === 'READY');

  const storeCopy = `${stack.temporalFiles}.both`;
  if (kind === 'both') {
    await stack.stop(['temporal']);
    copyTemporalStore(stack.temporalFiles, storeCopy);
  }
  const backup = await takeBaseBackup(stack.databaseUrl, stack.postgresFolder);
  if (kind === 'both') await stack.startTemporal();
  progress.say(
    `Base backup taken, ${sentOf((await readCampaign(stack, running)).counters)} sent of the running campaign`,
  );
  await stack.api.post(`/api/campaigns/${paused.id}/start`, {});
  const lost = await createDrillCampaign(stack, { name: 'created after the backup', recipients: rate });
  await sleep(windowSeconds * 1000);
  const known = (await readCampaign(stack, running)).counters;
  await stack.kill(
    kind === 'both' ? ['postgres', 'temporal', 'api', 'worker'] : ['postgres', 'api', 'worker'],
  );
  const stoppedAt = new Date();
  const atDisaster = await providerCounts(stack);
  progress.say(
    `Disaster: Postgres, API and worker killed; ${sentOf(known)} were sent of the running campaign`,
  );

  restoreBaseBackup(backup, stack.postgresFolder);
  await stack.startPostgres();
  if (kind === 'both') {
    copyTemporalStore(storeCopy, stack.temporalFiles);
    await stack.startTemporal();
  }
  const campaigns = [before, paused, asleep, due, running];
  if (plan.workersFirst && kind === 'postgres') {
    await stack.startPrograms();
    await sleep(8_000);
    await stack.stop(['api', 'worker']);
    const doubled = doubledIn(await providerCounts(stack), [...campaigns, lost]);
    progress.say(`Workers ran for 8 s before the doctor: ${doubled} sent twice`);
  }
  const window = ['--backup-at', backup.at.toISOString(), '--stopped-at', stoppedAt.toISOString()];
  if (kind === 'both') {
    const refused = await stack.doctor(...window, '--repair');
    if (refused.exitCode === 0 || !refused.lines.some((line) => line.includes('--temporal-too')))
      problems.push('the doctor did not ask whether Temporal was restored as well');
    window.push('--temporal-too');
  }
  const repaired = await stack.doctor(...window, '--repair', '--pause-seconds', '2');
  show(progress, repaired);
  if (repaired.exitCode !== 0) problems.push('the doctor could not settle everything');

  for (const campaign of campaigns) {
    const { pendingTaken } = await tally(stack, campaign, atDisaster);
    if (pendingTaken > 0)
      problems.push(`${pendingTaken} of "${campaign.name}" are PENDING, although they were sent to`);
  }
  const atRepair = await tally(stack, running, atDisaster);
  progress.say(
    `Running campaign: ${atRepair.unknownTaken + atRepair.unknownNotTaken} UNKNOWN, the provider has ${atRepair.unknownTaken} of them`,
  );

  await stack.startPrograms();
  problems.push(...(await untilClean(stack, progress)));
  for (const campaign of [paused, due, running]) {
    const { status } = await readCampaign(stack, campaign);
    if (status === 'PAUSED') await stack.api.post(`/api/campaigns/${campaign.id}/start`, {});
    await untilCampaign(stack, campaign, (record) => record.status === 'COMPLETED');
  }
  await sleep(6_000);
  const taken = await providerCounts(stack);
  for (const campaign of campaigns) {
    const { problems: found } = await compareCampaign(stack, { campaign, taken, progress });
    problems.push(...found);
  }
  const sentOfLost = lost.numbers.filter((digits) => taken.has(digits)).length;
  progress.say(`created after the backup: no record is left, the provider took ${sentOfLost}`);
  const named = kind === 'both' ? 'cannot be named' : lost.id;
  if (!repaired.lines.some((line) => line.startsWith('note:') && line.includes(named)))
    problems.push('the lost campaign was not named');
  if (doubledIn(taken, [lost]) > 0) problems.push('the lost campaign was sent twice');
  problems.push(...(await untilClean(stack, progress)));
  return problems;
}

export function sentOf(counters: Readonly<Record<string, number>>): number {
  const { accepted = 0, sent = 0, delivered = 0, read = 0, failed = 0 } = counters;
  return accepted + sent + delivered + read + failed;
}

function doubledIn(taken: ReadonlyMap<string, number>, campaigns: readonly DrillCampaign[]): number {
  return campaigns.flatMap(({ numbers }) => numbers).filter((digits) => (taken.get(digits) ?? 0) > 1).length;
}

export function show(progress: Progress, { lines, seconds }: DoctorRun): void {
  progress.say(`doctor (${seconds.toFixed(1)} s):`);
  for (const line of lines.slice(0, mostLines)) progress.say(`  ${line}`);
  if (lines.length > mostLines)
    progress.say(`  … ${lines.length - mostLines} lines more, the last: ${lines.at(-1)}`);
}

/** Waits until the workers have carried out the doctor's repairs. */
export async function untilClean(stack: DrillStack, progress: Progress): Promise<readonly string[]> {
  for (let tries = 1; ; tries += 1) {
    const run = await stack.doctor('--pause-seconds', '3', '--slack-seconds', '20');
    if (run.exitCode === 0) {
      show(progress, run);
      return [];
    }
    if (tries < 6) continue;
    show(progress, run);
    return ['the doctor still finds something'];
  }
}
