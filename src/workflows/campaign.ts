/**
 * One workflow per campaign: prepare, sleep until it is due, begin, send, pause, complete. It decides by the snapshot of the
 * record that every activity answers with; commands alone change the record.
 */
import {
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { isFinished } from '../domain/campaigns/campaign.ts';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import {
  beginCampaign,
  cancelRecipients,
  prepareCampaign,
  readCampaign,
  sendStep,
  settleCampaign,
} from './activities.ts';
import { describeSnapshot } from './campaign-view.ts';
import { followRecord } from './campaign-record.ts';
import type { CampaignWorkflowInput } from './contract.ts';
import { runSendSteps } from './send-steps.ts';

/** Claims of a crashed step become UNKNOWN after their grace period, in a pause too. */
const pausedCheckMs = 60_000;
/** 1 s, doubled at each attempt: a running step gives its recipients back within seconds. */
const firstCancelPauseMs = 1_000;
/** Ten years: Temporal's durations end at 292 years, so a later date is waited for in several timers. */
const longestTimerMs = 10 * 365 * 86_400_000;

/**
 * A request to cancel the workflow cancels the campaign, as the signal `cancel` does. Temporal itself cancels nothing: a
 * workflow that just ended would leave its campaign unfinished for good.
 */
export function campaign(input: CampaignWorkflowInput): Promise<CampaignSnapshot> {
  return CancellationScope.nonCancellable(() => runCampaign(input));
}

async function runCampaign(input: CampaignWorkflowInput): Promise<CampaignSnapshot> {
  const { campaignId, continued } = input;
  const record = followRecord(input);
  const { step, untilChanged } = record;

  const waitUntilDue = async ({ scheduledAt }: CampaignSnapshot): Promise<CampaignSnapshot> => {
    const summary = `until it is due at ${scheduledAt}`;
    const dueInMs = scheduledAt === null ? 0 : Date.parse(scheduledAt) - Date.now();
    if (dueInMs > 0 && (await untilChanged(summary, Math.min(dueInMs, longestTimerMs)))) return record.read();
    if (dueInMs > longestTimerMs) return record.read();
    const begun = await step(() => beginCampaign(campaignId));
    // Postgres' clock may be behind Temporal's.
    if (begun.waitMs > 0) await untilChanged(summary, begun.waitMs);
    return begun;
  };

  const sendAndSettle = async (): Promise<CampaignSnapshot> => {
    await runSendSteps(record, () => sendStep(campaignId, record.claimedUpTo()));
    const settled = await step(() => settleCampaign(campaignId));
    if (settled.status === 'RUNNING' && settled.waitMs > 0)
      await untilChanged('until outcomes come, or later attempts are due', settled.waitMs);
    return settled;
  };

  const waitForResume = async ({ counts }: CampaignSnapshot): Promise<CampaignSnapshot> => {
    const resumed =
      counts.claimed > 0
        ? await untilChanged('paused; until open claims are looked at', pausedCheckMs)
        : await untilChanged('paused');
    return resumed ? record.read() : step(() => settleCampaign(campaignId));
  };

  /** Sleeps between its steps: open claims of a dead process would occupy a worker's slot for minutes. */
  const cancelAndSettle = async (): Promise<CampaignSnapshot> => {
    for (let pauseMs = firstCancelPauseMs; ; pauseMs *= 2) {
      const cancelled = await step(() => cancelRecipients(campaignId, true));
      // The step of a worker of 1.0.0 has waited already and returns no `waitMs`.
      if (!(cancelled.waitMs > 0)) return cancelled;
      await untilChanged(
        'cancelled; until messages in flight have an outcome',
        Math.min(cancelled.waitMs, pauseMs),
      );
    }
  };

  setCurrentDetails(describeSnapshot(undefined));
  let present = await step(() => (continued ? readCampaign(campaignId) : prepareCampaign(campaignId)));
  while (!isFinished(present.status)) {
    if (workflowInfo().continueAsNewSuggested) {
      await record.untilHandled();
      const claimedPosition = record.claimedUpTo();
      await continueAsNew<typeof campaign>({ campaignId, continued: true, claimedPosition });
    }
    if (!present.prepared) present = await step(() => prepareCampaign(campaignId));
    else if (present.status === 'PAUSED') present = await waitForResume(present);
    else if (present.status === 'RUNNING') present = await sendAndSettle();
    else present = await waitUntilDue(present);
  }
  if (present.status === 'CANCELLED') present = await cancelAndSettle();
  await record.untilHandled();
  // The workflow's own state tells a cancelled campaign from one that was sent to its end.
  if (present.status === 'CANCELLED') throw new CancelledFailure('The campaign is cancelled');
  return present;
}
