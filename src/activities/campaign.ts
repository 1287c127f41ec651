/** The steps of the campaign workflow: each runs a command and returns a snapshot of the campaign's record. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, Context, getClient } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { createPreparationSlots, NoPreparationSlot } from '../commands/audience/preparation-slots.ts';
import { beginCampaign } from '../commands/campaigns/begin-campaign.ts';
import { carryOutOperatorAction } from '../commands/campaigns/change-campaign.ts';
import {
  createCampaignSender,
  prepareUnlessDone,
  sendSmallCampaign,
} from '../commands/campaigns/send-campaign.ts';
import { cancelRecipients, settleCampaign } from '../commands/campaigns/settle-campaign.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import { getCampaignSnapshot } from '../records/campaigns/campaign-snapshot.ts';
import { deleteStart } from '../records/campaigns/workflow-outbox.ts';
import type { OperatedCampaign, OperatorAction, SendStep } from '../workflows/contract.ts';
import { asActivity } from './failure.ts';

const heartbeatEveryMs = 1_000;

export function createCampaignActivities(
  dependencies: Dependencies,
  { draining }: { readonly draining: () => boolean },
) {
  const snapshot = (campaignId: string): Promise<CampaignSnapshot> =>
    getCampaignSnapshot(dependencies.database, campaignId);
  const slots = createPreparationSlots();
  const send = createCampaignSender(dependencies);

  return {
    /** Builds the recipient list (Spec 3.1), and sends to it if it is small. */
    prepareCampaign: (campaignId: string): Promise<CampaignSnapshot> =>
      asActivity(async () => {
        const { signal, isCancelled } = activityContext();
        const progress = preparationProgress();
        let hadTurn = false;
        const onTurn = async () => {
          if (!hadTurn) await deleteStart(dependencies.database, campaignId);
          hadTurn = true;
        };
        // A preparation that hangs misses its heartbeats, and Temporal retries it on another worker.
        const isSmall = await prepareUnlessDone(dependencies, campaignId, {
          heartbeat: progress.report,
          lostAttempts: progress.lostBefore,
          onBegin: progress.begin,
          onTurn,
          signal,
          slots,
        }).catch((error: unknown) => {
          progress.end();
          return retryLater(error);
        });
        // One that is prepared already, or cannot be, had no turn.
        await onTurn();
        if (isSmall)
          await withHeartbeats(() =>
            sendSmallCampaign(dependencies, campaignId, () => draining() || isCancelled()),
          );
        return snapshot(campaignId);
      }),

    /** The first start: checks quota, template and channel, and pauses the campaign if something is wrong. */
    beginCampaign: (campaignId: string): Promise<CampaignSnapshot & { readonly waitMs: number }> =>
      asActivity(async () => {
        const waitMs = await beginCampaign(dependencies, campaignId);
        return { ...(await snapshot(campaignId)), waitMs };
      }),

    /** Sends for a few seconds. */
    sendStep: (campaignId: string, claimedUpTo = 0): Promise<SendStep> =>
      asActivity(async () => {
        const { isCancelled, isPaused } = activityContext();
        // The workflow ignores the result of an activity that Temporal has cancelled, so the step must send nothing more.
        const result = await withHeartbeats(() =>
          send(campaignId, { claimedUpTo, draining: () => draining() || isCancelled() }),
        );
        // An operator paused the activity in Temporal. Temporal would still start the next step, so the campaign is paused.
        if (isPaused()) await carryOutOperatorAction(dependencies, { campaignId, action: 'pause' });
        return { ...(await snapshot(campaignId)), ...result };
      }),

    /** Completes the campaign when no recipient is open; otherwise `waitMs` is the time until the next check. */
    settleCampaign: (campaignId: string): Promise<SendStep> =>
      asActivity(async () => {
        const waitMs = await settleCampaign(dependencies, campaignId);
        return { ...(await snapshot(campaignId)), waitMs, drained: waitMs > 0 };
      }),

    /**
     * Moves recipients that were not claimed to CANCELLED. `waitMs` is the time until the next attempt while claims are open.
     * Workflows of 1.0.0 pass no `sleepsBetween`; for them it waits here until none is open.
     */
    cancelRecipients: (
      campaignId: string,
      sleepsBetween = false,
    ): Promise<CampaignSnapshot & { readonly waitMs: number }> =>
      asActivity(async () => {
        const { signal, heartbeat } = activityContext();
        const attempt = () => cancelRecipients(dependencies, campaignId, () => heartbeat());
        let waitMs = await attempt();
        if (!sleepsBetween)
          while (waitMs > 0) {
            await sleep(Math.min(waitMs, heartbeatEveryMs), undefined, { signal });
            waitMs = await attempt();
          }
        // A workflow ends as Canceled only if its cancellation was requested.
        const { workflowId } = Context.current().info.workflowExecution ?? {};
        if (waitMs === 0 && workflowId !== undefined)
          await getClient().workflow.getHandle(workflowId).cancel();
        return { ...(await snapshot(campaignId)), waitMs };
      }),

    /** Runs an operator's action. An action that the campaign's state does not allow changes nothing and sets `refused`. */
    operateCampaign: (campaignId: string, action: OperatorAction): Promise<OperatedCampaign> =>
      asActivity(async () => {
        const refused = await carryOutOperatorAction(dependencies, { campaignId, action });
        // An earlier attempt may have made the change and died before it could return.
        const isRetry = Context.current().info.attempt > 1;
        const present = await snapshot(campaignId);
        return refused === undefined || isRetry ? present : { ...present, refused };
      }),

    readCampaign: (campaignId: string): Promise<CampaignSnapshot> => asActivity(() => snapshot(campaignId)),
  };
}

export type CampaignActivities = ReturnType<typeof createCampaignActivities>;

function activityContext() {
  const context = Context.current();
  const { cancellationSignal: signal } = context;
  return {
    signal,
    heartbeat: (details?: unknown): void => context.heartbeat(details),
    isCancelled: (): boolean => signal.aborted,
    isPaused: (): boolean => context.cancellationDetails?.paused === true,
  };
}

interface PreparationDetails {
  readonly rows: number;
  /** Consecutive attempts that began and did not end, because their worker died or hung until Temporal gave up on them. */
  readonly lost: number;
}

/**
 * Counts lost attempts in the heartbeat details, which Temporal passes to the next attempt. An attempt counts itself when it
 * begins, and undoes that when it ends for any reason, such as a database outage or a worker's shutdown. The first heartbeat
 * goes out at once and later ones may be delayed, so none is sent before `begin` or the first second.
 */
function preparationProgress() {
  const context = Context.current();
  const { lost: lostBefore = 0 } = (context.info.heartbeatDetails ?? {}) as Partial<PreparationDetails>;
  let details: PreparationDetails = { rows: 0, lost: lostBefore };
  const send = (change: Partial<PreparationDetails>): void => {
    details = { ...details, ...change };
    context.heartbeat(details);
  };
  return {
    lostBefore,
    report: (rows: number) => send({ rows }),
    begin: () => send({ lost: lostBefore + 1 }),
    end: () => {
      if (details.lost > lostBefore) send({ lost: 0 });
    },
  };
}

/** Sends a heartbeat every second, so that Temporal notices a dead worker and the worker learns of a cancellation. */
async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  context.heartbeat();
  const timer = setInterval(() => context.heartbeat(), heartbeatEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Waits 1, 2, 4, 8 and then 10 s between refusals; Temporal then offers the step to every worker again. */
function retryLater(error: unknown): never {
  if (!(error instanceof NoPreparationSlot)) throw error;
  const { attempt } = Context.current().info;
  throw ApplicationFailure.create({
    message: error.message,
    type: 'NoPreparationSlot',
    nextRetryDelay: Math.min(10_000, 1_000 * 2 ** Math.min(attempt - 1, 4)),
    category: ApplicationFailureCategory.BENIGN,
  });
}
