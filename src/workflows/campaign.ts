/**
 * One workflow per campaign: prepare, sleep until it is due, begin, send, pause, complete. Every activity returns a snapshot
 * of the campaign's record, and the workflow acts on that alone. Only commands change the record.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { isFinished, nextCampaignStatus } from '../domain/campaigns/campaign.ts';
import { pauseReasonTable, waitingReasonTable } from '../domain/campaigns/reasons.ts';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import {
  beginCampaign,
  cancelRecipients,
  operateCampaign,
  prepareCampaign,
  readCampaign,
  sendStep,
  settleCampaign,
} from './activities.ts';
import {
  type CampaignWorkflowInput,
  type OperatedCampaign,
  type OperatorAction,
  operatorActions,
  progressQueryName,
  type SendStep,
  signalNames,
} from './contract.ts';
import { campaignStatusKey, pauseReasonKey } from './search-attributes.ts';

// Texts about a campaign's snapshot for the Temporal Web UI. They contain no names and no phone numbers.

/** Markdown for the workflow's current details. */
function describeSnapshot(snapshot: CampaignSnapshot | undefined): string {
  if (snapshot === undefined) return `**waits: ${waitingReasonTable.PREPARATION.title}**`;
  const { counts } = snapshot;
  const lines = [`**${headline(snapshot)}**`];
  if (snapshot.prepared) {
    lines.push(
      `- prepared ${counts.total}, skipped ${counts.skipped}`,
      `- sent ${counts.accepted} of ${counts.total}, failed ${counts.failed}, unknown ${counts.unknown}`,
      `- pending ${counts.pending}, claimed ${counts.claimed}`,
    );
  }
  return lines.join('\n');
}

function headline(snapshot: CampaignSnapshot): string {
  const { status, pauseReason, pauseText, prepared, preparationError, scheduledAt } = snapshot;
  if (preparationError !== null) return `FAILED in preparation: ${preparationError}`;
  if (pauseReason !== null) {
    const text = pauseText ?? `${pauseReasonTable[pauseReason].meaning} The signal \`resume\` continues`;
    return `PAUSED ${pauseReason}: ${text}`;
  }
  if (!prepared) return `${status}, waits: ${waitingReasonTable.PREPARATION.title}`;
  if (status === 'SCHEDULED') return `SCHEDULED for ${scheduledAt ?? 'now'}`;
  const wait = describeWait(snapshot);
  return wait === undefined ? status : `${status}, waits: ${wait}`;
}

/** Describes why a RUNNING campaign waits, for the summary of its timer; undefined while it sends. */
function describeWait({ waitingFor, waitingUntil }: CampaignSnapshot): string | undefined {
  if (waitingFor === null) return undefined;
  return `${waitingReasonTable[waitingFor].title}${waitingUntil === null ? '' : `, ${waitingUntil}`}`;
}

/*
 * An operator's signals and updates. A signal is always accepted and changes nothing if the action is not possible. The
 * update of the same name returns the new status or is refused with the reason.
 */

interface Operating {
  readonly snapshot: () => CampaignSnapshot | undefined;
  readonly operate: (action: OperatorAction) => Promise<OperatedCampaign>;
  readonly refresh: () => void;
}

const does: Readonly<Record<OperatorAction, string>> = {
  pause: 'Stops sending until `resume`; outcomes of requests under way are recorded.',
  resume: 'Goes on after a pause, where it stood.',
  cancel: 'Ends the campaign for good; recipients not sent to yet are CANCELLED.',
};

/**
 * Must be called before the first step, so that signals that arrived earlier, or that a reset sends again, are handled in
 * order.
 */
function handleOperators({ snapshot, operate, refresh }: Operating): void {
  const handlers = new Map<string, () => void | Promise<void>>([
    [signalNames.refresh, refresh],
    ...operatorActions.map((action) => [action, () => operate(action).then(() => undefined)] as const),
  ]);
  setDefaultSignalHandler((name) => handlers.get(name)?.());
  for (const [name, handler] of handlers) {
    const description =
      name === signalNames.refresh
        ? 'The record has changed: look at it. For the service itself.'
        : `${does[name as OperatorAction]} Nothing happens where that is not possible; the update \`${name}\` says why.`;
    setHandler(defineSignal(name), handler, { description });
  }
  setDefaultSignalHandler(undefined);
  for (const action of operatorActions) {
    setHandler(
      defineUpdate<string>(action),
      async () => {
        const { refused, status } = await operate(action);
        if (refused !== undefined) throw refusal(refused);
        return status;
      },
      {
        description: `${does[action]} Answers with the status, or refuses with the reason.`,
        validator: () => refuseImpossible(action, snapshot()),
      },
    );
  }
}

/** Rejects an action that the snapshot does not allow, without adding an event to the history. Otherwise the record decides. */
function refuseImpossible(action: OperatorAction, snapshot: CampaignSnapshot | undefined): void {
  if (snapshot === undefined) return;
  const { status, pauseReason } = snapshot;
  const possible =
    action === 'resume' ? status === 'PAUSED' : nextCampaignStatus(status, action) !== undefined;
  if (possible) return;
  const state = pauseReason === null ? status : `${status} (${pauseReason})`;
  throw refusal(`${action} is not possible: the campaign is ${state}`);
}

/** Builds an error without a stack trace, which the Web UI would show and operators do not need. */
function refusal(reason: string): ApplicationFailure {
  return Object.assign(ApplicationFailure.nonRetryable(reason, 'Refused'), { stack: '' });
}

// Keeps the workflow's snapshot of its campaign record up to date, by signals, updates and the workflow's own steps.

type CampaignRecord = ReturnType<typeof followRecord>;

function followRecord({ campaignId, continued, claimedPosition = 0 }: CampaignWorkflowInput) {
  let snapshot: CampaignSnapshot | undefined;
  /** True if the campaign has changed since the last step began. Ends waits. */
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
    // If the campaign changed while the activity ran, the snapshot may be from before or after the change.
    if (changed) stale = true;
    show(next);
    return next;
  };

  /** Actions run one after the other; otherwise a resume could overtake the pause that was sent before it. */
  const operate = (action: OperatorAction): Promise<OperatedCampaign> => {
    // A handler runs in the workflow's scope, and a request to cancel would end that.
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
    // If there is no record, the next step fails in the same way.
    .catch(() => undefined)
    .finally(() => {
      cancelling = false;
    });

  return {
    step,
    /**
     * Returns the snapshot after a change. An operator's action has returned it already; after any other change it must be
     * read.
     */
    async read(): Promise<CampaignSnapshot> {
      if (stale || snapshot === undefined) return step(() => readCampaign(campaignId));
      changed = false;
      return snapshot;
    },
    /** Sleeps until a change, at most `ms`. Returns false if the time has passed. */
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

/**
 * Runs send steps until every recipient is claimed, the campaign no longer runs, or the history is long. A step that hands
 * over its slot signals `refresh`, and the next step starts while it ends, so that the channel never idles between two steps.
 */
async function runSendSteps(
  { step, isChanged }: CampaignRecord,
  send: () => Promise<SendStep>,
): Promise<void> {
  let over = false;
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  const isOver = (): boolean => over;

  const runStep = async (): Promise<SendStep | undefined> => {
    running += 1;
    try {
      const next = await step(send);
      over ||= next.status !== 'RUNNING' || next.drained || workflowInfo().continueAsNewSuggested;
      return next;
    } catch (error) {
      failure ??= { error };
      over = true;
      return undefined;
    } finally {
      running -= 1;
    }
  };

  while (!isOver()) {
    const beside = running > 0;
    const ended = runStep();
    // This comes after `runStep`, which clears the change that started this step: only a later change starts another step
    // alongside it.
    const handedOver = condition(isChanged).then(() => undefined);
    const next = await Promise.race([ended, handedOver]);
    if (next === undefined || next.waitMs === 0) continue;
    const goesOn = () => over || isChanged() || (beside && running === 0);
    await condition(goesOn, next.waitMs, { summary: describeWait(next) ?? 'until the next step' });
  }
  await condition(() => running === 0);
  if (failure !== undefined) throw failure.error;
}

/** Claims of a crashed step become UNKNOWN after their grace period, even during a pause. */
const pausedCheckMs = 60_000;
/** 1 s, doubled at each attempt: a running step gives its recipients back within seconds. */
const firstCancelPauseMs = 1_000;
/** Ten years: Temporal's durations end at 292 years, so the wait for a later date takes several timers. */
const longestTimerMs = 10 * 365 * 86_400_000;

/**
 * A request to cancel the workflow cancels the campaign, as the signal `cancel` does. Temporal's own cancellation is not
 * used: if the workflow simply ended, its campaign would stay unfinished forever.
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

  /** Sleeps between its steps, because waiting for the open claims of a dead process would occupy a worker's slot for minutes. */
  const cancelAndSettle = async (): Promise<CampaignSnapshot> => {
    for (let pauseMs = firstCancelPauseMs; ; pauseMs *= 2) {
      const cancelled = await step(() => cancelRecipients(campaignId, true));
      // If a worker of 1.0.0 ran the step, it has waited already and returns no `waitMs`.
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
  // The state of the workflow shows whether its campaign was cancelled or sent completely.
  if (present.status === 'CANCELLED') throw new CancelledFailure('The campaign is cancelled');
  return present;
}
