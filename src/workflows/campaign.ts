/**
 * One workflow per campaign: prepare, sleep until it is due, start, send, pause, complete. It never decides from
 * memory: every activity answers with the record's standing, and the record is changed by commands alone.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  patched,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { CampaignStanding } from '../domain/campaigns/standing.ts';
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
import { describeStanding } from './campaign-view.ts';
import {
  operatorActions,
  progressQueryName,
  signalNames,
  type CampaignWorkflowInput,
  type OperatorAction,
} from './contract.ts';
import { campaignStatusKey, pauseReasonKey } from './search-attributes.ts';

const pausedCheckMs = 60_000;

/**
 * Nothing in it is cancelled by Temporal: a workflow that just ended would leave its campaign as it stands for good. Who
 * requests the cancellation of the workflow cancels the campaign, as the signal `cancel` does.
 */
export function campaign(input: CampaignWorkflowInput): Promise<CampaignStanding> {
  return CancellationScope.nonCancellable(() => runCampaign(input));
}

/** Those that came before the workflow's first step, or are sent again by a reset, in their order and not name by name. */
function handleSignals(handlers: ReadonlyMap<string, () => void | Promise<void>>): void {
  setDefaultSignalHandler((name) => handlers.get(name)?.());
  for (const [name, handler] of handlers) setHandler(defineSignal(name), handler);
  setDefaultSignalHandler(undefined);
}

async function runCampaign({
  campaignId,
  continued,
  claimedPosition,
  inTurns = false,
}: CampaignWorkflowInput): Promise<CampaignStanding> {
  let standing: CampaignStanding | undefined;
  let claimedUpTo = claimedPosition ?? 0;
  let changes = 0;
  let seen = 0;
  let cancelling = false;
  let operated: Promise<void> = Promise.resolve();

  const show = (next: CampaignStanding): CampaignStanding => {
    if (next.status !== standing?.status || next.pauseReason !== standing.pauseReason) {
      upsertSearchAttributes([
        { key: campaignStatusKey, value: next.status },
        { key: pauseReasonKey, value: next.pauseReason },
      ]);
    }
    standing = next;
    claimedUpTo = Math.max(claimedUpTo, next.counts.claimedPosition ?? 0);
    setCurrentDetails(describeStanding(next));
    return next;
  };
  /** Runs an activity; a signal that comes while it runs is a change not seen yet. */
  const step = async <S extends CampaignStanding>(activity: () => Promise<S>): Promise<S> => {
    seen = changes;
    const next = await activity();
    show(next);
    return next;
  };
  const changed = (): boolean => changes !== seen;

  setHandler(defineQuery<CampaignStanding | null>(progressQueryName), () => standing ?? null);
  const operate = (action: OperatorAction): Promise<void> => {
    const earlier = operated;
    // A handler runs in the scope of the workflow, which may have been asked to cancel.
    const present = CancellationScope.nonCancellable(async () => {
      // Side by side, a resume could overtake the pause that was sent before it.
      if (patched('operate-in-turn')) await earlier;
      show(await operateCampaign(campaignId, action));
      changes += 1;
    });
    operated = present.catch(() => undefined);
    return present;
  };
  handleSignals(
    new Map<string, () => void | Promise<void>>([
      [
        signalNames.refresh,
        () => {
          changes += 1;
        },
      ],
      ...operatorActions.map((action) => [action, () => operate(action)] as const),
    ]),
  );
  CancellationScope.current()
    .cancelRequested.catch(() => {
      cancelling = true;
      return operate('cancel');
    })
    // Without a record the next step fails in the same way.
    .catch(() => undefined)
    .finally(() => {
      cancelling = false;
    });
  const handled = (): boolean => allHandlersFinished() && !cancelling;

  /** While one lane's step turns over, the other keeps the channel busy, as long as nobody else waits for the channel. */
  const sendInLanes = async (): Promise<CampaignStanding> => {
    let over = false;
    let helping: Promise<void> | undefined;
    const runLane = async (leads: boolean): Promise<void> => {
      for (;;) {
        const before = changes;
        const next = await sendStep(campaignId, claimedUpTo);
        show(next);
        const ended = next.status !== 'RUNNING' || next.drained || workflowInfo().continueAsNewSuggested;
        over ||= ended;
        if (ended || (inTurns && !leads && next.room !== true)) return;
        if (inTurns && leads && next.room === true) helping ??= help();
        if (next.waitMs > 0) await condition(() => changes !== before || (inTurns && over), next.waitMs);
        if (inTurns && over) return;
      }
    };
    const help = async (): Promise<void> => {
      await runLane(false);
      helping = undefined;
    };
    helping = help();
    await runLane(true);
    await helping;
    const settled = await step(() => settleCampaign(campaignId));
    if (settled.status === 'RUNNING' && settled.waitMs > 0) await condition(changed, settled.waitMs);
    return settled;
  };

  const waitUntilDue = async (scheduled: CampaignStanding): Promise<CampaignStanding> => {
    const waitMs = scheduled.scheduledAt === null ? 0 : Date.parse(scheduled.scheduledAt) - Date.now();
    if (waitMs > 0 && (await condition(changed, waitMs))) return step(() => readCampaign(campaignId));
    return step(() => beginCampaign(campaignId));
  };

  const waitForResume = async (): Promise<CampaignStanding> => {
    // Claims of crashed pages become UNKNOWN after their grace period, in a pause too.
    const open = (standing?.counts.claimed ?? 0) > 0;
    const resumed = open
      ? await condition(changed, pausedCheckMs)
      : await condition(changed).then(() => true);
    return step(() => (resumed ? readCampaign(campaignId) : settleCampaign(campaignId)));
  };

  let present = await step(() => (continued ? readCampaign(campaignId) : prepareCampaign(campaignId)));
  while (!isFinished(present.status)) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(handled);
      await continueAsNew<typeof campaign>({
        campaignId,
        continued: true,
        claimedPosition: claimedUpTo,
        inTurns: true,
      });
    }
    if (!present.prepared) present = await step(() => prepareCampaign(campaignId));
    else if (present.status === 'PAUSED') present = await waitForResume();
    else if (present.status === 'RUNNING') present = await sendInLanes();
    else present = await waitUntilDue(present);
  }
  if (present.status === 'CANCELLED') present = await step(() => cancelRecipients(campaignId));
  await condition(handled);
  return present;
}
