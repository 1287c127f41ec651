/**
 * One workflow per campaign: prepare, sleep until it is due, start, send, pause, complete. It never decides from
 * memory: every activity answers with the record's snapshot, and the record is changed by commands alone.
 */
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import { isFinished } from '../domain/campaigns/campaign.ts';
import {
  beginCampaign,
  cancelRecipients,
  operateCampaign,
  prepareCampaign,
  readCampaign,
  sendStep,
  settleCampaign,
} from './activities.ts';
import { describeSnapshot, describeWait } from './campaign-view.ts';
import {
  progressQueryName,
  type CampaignWorkflowInput,
  type OperatedCampaign,
  type OperatorAction,
} from './contract.ts';
import { handleOperators } from './operating.ts';
import { campaignStatusKey, pauseReasonKey } from './search-attributes.ts';

const pausedCheckMs = 60_000;
/** Ten years. */
const longestTimerMs = 10 * 365 * 86_400_000;

/**
 * Nothing in it is cancelled by Temporal: a workflow that just ended would leave its campaign as it stands for good. Who
 * requests the cancellation of the workflow cancels the campaign, as the signal `cancel` does; it ends as Canceled.
 */
export function campaign(input: CampaignWorkflowInput): Promise<CampaignSnapshot> {
  return CancellationScope.nonCancellable(() => runCampaign(input));
}

async function runCampaign({
  campaignId,
  continued,
  claimedPosition,
  revision,
}: CampaignWorkflowInput): Promise<CampaignSnapshot> {
  // It keeps the steps that its history begins with.
  const early = revision === undefined;
  let snapshot: CampaignSnapshot | undefined;
  // What the start has set.
  let shown: Pick<CampaignSnapshot, 'status' | 'pauseReason'> | undefined =
    early || continued === true ? undefined : { status: 'DRAFT', pauseReason: null };
  let claimedUpTo = claimedPosition ?? 0;
  let changes = 0;
  let seen = 0;
  let shownAt = 0;
  let cancelling = false;
  let operated: Promise<void> = Promise.resolve();

  const show = (next: CampaignSnapshot): CampaignSnapshot => {
    if (next.status !== shown?.status || next.pauseReason !== shown.pauseReason) {
      upsertSearchAttributes([
        { key: campaignStatusKey, value: next.status },
        { key: pauseReasonKey, value: next.pauseReason },
      ]);
    }
    snapshot = next;
    shown = next;
    claimedUpTo = Math.max(claimedUpTo, next.counts.claimedPosition ?? 0);
    setCurrentDetails(describeSnapshot(next));
    return next;
  };
  /** Runs an activity; a signal that comes while it runs is a change not seen yet. */
  const step = async <S extends CampaignSnapshot>(activity: () => Promise<S>): Promise<S> => {
    seen = changes;
    const next = await activity();
    show(next);
    return next;
  };
  const changed = (): boolean => changes !== seen;
  /** After a change. What an operator's wish led to has been shown; of any other change only the record knows. */
  const lookAgain = async (): Promise<CampaignSnapshot> => {
    if (early || snapshot === undefined || shownAt !== changes) return step(() => readCampaign(campaignId));
    seen = changes;
    return snapshot;
  };

  setHandler(defineQuery<CampaignSnapshot | null>(progressQueryName), () => snapshot ?? null, {
    description: 'Where the campaign stood after the last step: status, reason of a pause, counters.',
  });
  const operate = (action: OperatorAction): Promise<OperatedCampaign> => {
    const earlier = operated;
    // A handler runs in the scope of the workflow, which may have been asked to cancel.
    const present = CancellationScope.nonCancellable(async () => {
      // Side by side, a resume could overtake the pause that was sent before it.
      if (patched('operate-in-turn')) await earlier;
      const before = changes;
      const next = await operateCampaign(campaignId, action);
      show(next);
      if (!early && next.refused !== undefined) return next;
      if (changes === before) shownAt = before + 1;
      changes += 1;
      return next;
    });
    operated = present.then(
      () => undefined,
      () => undefined,
    );
    return present;
  };
  handleOperators({
    snapshot: () => snapshot,
    operate,
    refresh: () => {
      changes += 1;
    },
  });
  CancellationScope.current()
    .cancelRequested.catch(() => {
      if (!early && snapshot?.status === 'CANCELLED') return;
      cancelling = true;
      return operate('cancel');
    })
    // Without a record the next step fails in the same way.
    .catch(() => undefined)
    .finally(() => {
      cancelling = false;
    });
  const handled = (): boolean => allHandlersFinished() && !cancelling;

  /**
   * Step after step. A step that has sent for long enough calls the next one, by a signal, and sends until that one begins:
   * between two of them nobody waits.
   */
  const sendInSteps = async (): Promise<void> => {
    let over = false;
    let running = 0;
    let failure: { readonly error: unknown } | undefined;
    const runStep = async (): Promise<number> => {
      running += 1;
      try {
        const next = await sendStep(campaignId, claimedUpTo);
        over ||= next.status !== 'RUNNING' || next.drained || workflowInfo().continueAsNewSuggested;
        show(next);
        return next.waitMs;
      } catch (error) {
        failure ??= { error };
        over = true;
        return 0;
      } finally {
        running -= 1;
      }
    };
    const isOver = (): boolean => over;
    while (!isOver()) {
      const before = changes;
      const beside = running > 0;
      const called = condition(() => changes !== before).then(() => undefined);
      const waitMs = (await Promise.race([runStep(), called])) ?? 0;
      if (waitMs === 0 || snapshot === undefined) continue;
      const goesOn = () => over || changes !== before || (beside && running === 0);
      await condition(goesOn, waitMs, { summary: describeWait(snapshot) ?? 'until the next step' });
    }
    await condition(() => running === 0);
    if (failure !== undefined) throw failure.error;
  };

  /** As runs of release 0.1.0 began: while one lane's step turns over, the other keeps the channel busy. */
  const sendInLanes = async (): Promise<void> => {
    const runLane = async (): Promise<void> => {
      for (;;) {
        const before = changes;
        const next = await sendStep(campaignId, claimedUpTo);
        show(next);
        if (next.status !== 'RUNNING' || next.drained || workflowInfo().continueAsNewSuggested) return;
        const summary = describeWait(next) ?? 'until the next step';
        if (next.waitMs > 0) await condition(() => changes !== before, next.waitMs, { summary });
      }
    };
    await Promise.all([runLane(), runLane()]);
  };

  const sendAndSettle = async (): Promise<CampaignSnapshot> => {
    await (early ? sendInLanes() : sendInSteps());
    const settled = await step(() => settleCampaign(campaignId));
    if (settled.status === 'RUNNING' && settled.waitMs > 0)
      await condition(changed, settled.waitMs, { summary: 'until outcomes come, or later attempts are due' });
    return settled;
  };

  const waitUntilDue = async (scheduled: CampaignSnapshot): Promise<CampaignSnapshot> => {
    const waitMs = scheduled.scheduledAt === null ? 0 : Date.parse(scheduled.scheduledAt) - Date.now();
    const summary = `until it is due at ${scheduled.scheduledAt}`;
    // Temporal's durations end at 292 years; a later date is waited for in several timers.
    if (waitMs > 0 && (await condition(changed, Math.min(waitMs, longestTimerMs), { summary })))
      return lookAgain();
    if (waitMs > longestTimerMs) return scheduled;
    const begun = await step(() => beginCampaign(campaignId));
    // Not due yet by Postgres' clock. Histories of older releases have no waitMs.
    if (begun.waitMs > 0) await condition(changed, begun.waitMs, { summary });
    return begun;
  };

  const waitForResume = async (): Promise<CampaignSnapshot> => {
    // Claims of crashed pages become UNKNOWN after their grace period, in a pause too.
    const open = (snapshot?.counts.claimed ?? 0) > 0;
    const resumed = open
      ? await condition(changed, pausedCheckMs, {
          summary: 'paused; until the outcomes of open pages are looked at',
        })
      : await condition(changed).then(() => true);
    return resumed ? lookAgain() : step(() => settleCampaign(campaignId));
  };

  setCurrentDetails(describeSnapshot(undefined));
  let present = await step(() => (continued ? readCampaign(campaignId) : prepareCampaign(campaignId)));
  while (!isFinished(present.status)) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(handled);
      await continueAsNew<typeof campaign>({
        campaignId,
        continued: true,
        claimedPosition: claimedUpTo,
        revision: 3,
      });
    }
    if (!present.prepared) present = await step(() => prepareCampaign(campaignId));
    else if (present.status === 'PAUSED') present = await waitForResume();
    else if (present.status === 'RUNNING') present = await sendAndSettle();
    else present = await waitUntilDue(present);
  }
  if (present.status === 'CANCELLED') present = await step(() => cancelRecipients(campaignId));
  await condition(handled);
  // So that nobody takes it for one that was sent to its end.
  if (present.status === 'CANCELLED' && !early) throw new CancelledFailure('The campaign is cancelled');
  return present;
}
