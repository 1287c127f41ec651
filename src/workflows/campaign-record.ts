/** Keeps the workflow's snapshot of its campaign record up to date, by signals, updates and the workflow's own steps. */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import { operateCampaign, readCampaign } from './activities.ts';
import { describeSnapshot } from './campaign-view.ts';
import {
  progressQueryName,
  type CampaignWorkflowInput,
  type OperatedCampaign,
  type OperatorAction,
} from './contract.ts';
import { handleOperators } from './operating.ts';
import { campaignStatusKey, pauseReasonKey } from './search-attributes.ts';

export type CampaignRecord = ReturnType<typeof followRecord>;

export function followRecord({ campaignId, continued, claimedPosition = 0 }: CampaignWorkflowInput) {
  let snapshot: CampaignSnapshot | undefined;
  /** True when the campaign has changed since the last step began: waits end. */
  let changed = false;
  /** `snapshot` may be older than the record. */
  let stale = false;
  let claimedUpTo = claimedPosition;
  let lastAction: Promise<unknown> = Promise.resolve();
  let cancelling = false;

  const show = (next: CampaignSnapshot): void => {
    // The client that starts the workflow sets DRAFT.
    const shown = snapshot ?? (continued === true ? undefined : { status: 'DRAFT', pauseReason: null });
    if (next.status !== shown?.status || next.pauseReason !== shown.pauseReason) {
      upsertSearchAttributes([
        { key: campaignStatusKey, value: next.status },
        { key: pauseReasonKey, value: next.pauseReason },
      ]);
    }
    snapshot = next;
    claimedUpTo = Math.max(claimedUpTo, next.counts.claimedPosition);
    setCurrentDetails(describeSnapshot(next));
  };

  const refresh = (): void => {
    changed = true;
    stale = true;
  };

  /** Runs an activity and adopts the snapshot that it returns. */
  const step = async <S extends CampaignSnapshot>(activity: () => Promise<S>): Promise<S> => {
    changed = false;
    stale = false;
    const next = await activity();
    // The campaign changed while the activity ran: its snapshot may be from before or after the change.
    if (changed) stale = true;
    show(next);
    return next;
  };

  /** Actions run one after the other: side by side, a resume could overtake the pause that was sent before it. */
  const operate = (action: OperatorAction): Promise<OperatedCampaign> => {
    // A handler runs in the scope of the workflow, which a request to cancel would end.
    const present = CancellationScope.nonCancellable(async () => {
      await lastAction;
      const next = await operateCampaign(campaignId, action);
      show(next);
      if (next.refused === undefined) changed = true;
      return next;
    });
    lastAction = present.catch(() => undefined);
    return present;
  };

  setHandler(defineQuery<CampaignSnapshot | null>(progressQueryName), () => snapshot ?? null, {
    description: 'The campaign after the last step: status, reason of a pause, counters.',
  });
  handleOperators({ snapshot: () => snapshot, operate, refresh });
  CancellationScope.current()
    .cancelRequested.catch(() => {
      if (snapshot?.status === 'CANCELLED') return;
      cancelling = true;
      return operate('cancel');
    })
    // Without a record the next step fails in the same way.
    .catch(() => undefined)
    .finally(() => {
      cancelling = false;
    });

  return {
    step,
    /** The snapshot after a change: an operator's action has brought it, any other change has to be read. */
    async read(): Promise<CampaignSnapshot> {
      if (stale || snapshot === undefined) return step(() => readCampaign(campaignId));
      changed = false;
      return snapshot;
    },
    /** Sleeps until a change, at most `ms`; false when the time has passed. */
    async untilChanged(summary: string, ms?: number): Promise<boolean> {
      if (ms !== undefined) return condition(() => changed, ms, { summary });
      await condition(() => changed);
      return true;
    },
    isChanged: (): boolean => changed,
    /** The highest position that any run of this workflow has seen claimed. */
    claimedUpTo: (): number => claimedUpTo,
    /** Resolves when no signal, update or request to cancel is being handled. */
    untilHandled: (): Promise<void> => condition(() => allHandlersFinished() && !cancelling),
  };
}
