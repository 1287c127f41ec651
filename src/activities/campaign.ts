/** The steps of the campaign workflow. Each answers with the record as it stands after it. */
import { ApplicationFailure, Context, getClient } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { beginCampaign } from '../commands/campaigns/begin-campaign.ts';
import { cancelCampaign, pauseCampaign, startCampaignAgain } from '../commands/campaigns/change-campaign.ts';
import { createPreparationSlots, NoPreparationSlot } from '../commands/audience/preparation-slots.ts';
import { prepareCampaign } from '../commands/audience/prepare-campaign.ts';
import { pauseOlderRecord } from '../commands/sending/pause-older-record.ts';
import { runSendStep } from '../commands/sending/run-send-step.ts';
import { cancelRecipients, settleCampaign } from '../commands/campaigns/settle-campaign.ts';
import { isFinished } from '../domain/campaigns/campaign.ts';
import { Conflict } from '../domain/error.ts';
import type { Dependencies } from '../dependencies.ts';
import { getCampaignSnapshot } from '../records/campaigns/campaign-snapshot.ts';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import type { OperatedCampaign, OperatorAction, SendStep } from '../workflows/contract.ts';
import { asActivity } from './failure.ts';

const heartbeatEveryMs = 1_000;

// With many campaigns on one worker, short steps let everybody's turn come soon.
const longStepMs = 10_000;
const shortStepMs = 1_000;
const crowd = 50;

/** A campaign of so many recipients goes on to its end in the step that prepares it, as far as nothing stands in its way. */
const smallCampaign = 100;
const smallCampaignMs = 3_000;

export function createCampaignActivities(
  dependencies: Dependencies,
  { draining }: { readonly draining: () => boolean },
) {
  const snapshot = (campaignId: string): Promise<CampaignSnapshot> =>
    getCampaignSnapshot(dependencies.database, campaignId);
  let stepsRunning = 0;
  const slots = createPreparationSlots();

  /** Most campaigns of a triggering API: five activities for two messages would cost more than these. */
  const sendSmall = async (campaignId: string): Promise<void> => {
    const heartbeat = beatWhileRunning();
    const { cancellationSignal } = Context.current();
    try {
      await beginCampaign(dependencies, campaignId);
      const { drained } = await runSendStep(dependencies, campaignId, {
        budgetMs: smallCampaignMs,
        singleBatch: true,
        draining: () => draining() || cancellationSignal.aborted,
      });
      if (drained) await settleCampaign(dependencies, campaignId);
    } finally {
      clearInterval(heartbeat);
    }
  };

  return {
    /**
     * Builds the recipient list (Spec 3.1), and sends to a few who are due. Safe to run again at any point: what it does not
     * finish goes on step by step.
     */
    prepareCampaign: (campaignId: string): Promise<CampaignSnapshot> =>
      asActivity(async () => {
        const present = await snapshot(campaignId);
        if (present.prepared || isFinished(present.status)) return present;
        const context = Context.current();
        context.heartbeat();
        const sendable = await prepareCampaign(dependencies, campaignId, {
          heartbeat: (rows) => context.heartbeat({ rows }),
          signal: context.cancellationSignal,
          slots,
        }).catch(retryLater);
        if (present.status === 'DRAFT' && sendable > 0 && sendable <= smallCampaign)
          await sendSmall(campaignId);
        return snapshot(campaignId);
      }),

    /** The first start: quota, template and channel are checked; an obstacle pauses the campaign. */
    beginCampaign: (campaignId: string): Promise<CampaignSnapshot & { readonly waitMs: number }> =>
      asActivity(async () => {
        const waitMs = await beginCampaign(dependencies, campaignId);
        return { ...(await snapshot(campaignId)), waitMs };
      }),

    /** Sends for a few seconds. `claimedUpTo`: what the workflow has seen claimed; a record that knows less sends nothing. */
    sendStep: (campaignId: string, claimedUpTo = 0): Promise<SendStep> =>
      asActivity(async () => {
        if (await pauseOlderRecord(dependencies, { campaignId, claimedUpTo }))
          return { ...(await snapshot(campaignId)), waitMs: 0, drained: false };
        const heartbeat = beatWhileRunning();
        // Given up by Temporal, or by an operator who terminated the workflow: nobody waits for what it would still send.
        const context = Context.current();
        const { cancellationSignal } = context;
        stepsRunning += 1;
        try {
          const budgetMs = stepsRunning > crowd ? shortStepMs : longStepMs;
          const result = await runSendStep(dependencies, campaignId, {
            budgetMs,
            isFollowed: true,
            draining: () => draining() || cancellationSignal.aborted,
          });
          // Paused by its id in Temporal: the next step would begin as if nothing had been said.
          if (context.cancellationDetails?.paused === true)
            await pauseCampaign(dependencies, { campaignId, byWorkflow: true }).catch(unlessConflict);
          return { ...(await snapshot(campaignId)), ...result };
        } finally {
          stepsRunning -= 1;
          clearInterval(heartbeat);
        }
      }),

    /** Completes the campaign when nothing of it is open; `waitMs` says when to look again. */
    settleCampaign: (campaignId: string): Promise<SendStep> =>
      asActivity(async () => {
        const waitMs = await settleCampaign(dependencies, campaignId);
        return { ...(await snapshot(campaignId)), waitMs, drained: waitMs > 0 };
      }),

    /** Moves everybody who was not claimed to CANCELLED, once what is on the way has come to rest. */
    cancelRecipients: (campaignId: string): Promise<CampaignSnapshot> =>
      asActivity(async () => {
        const context = Context.current();
        await cancelRecipients(dependencies, campaignId, {
          heartbeat: () => context.heartbeat(),
          signal: context.cancellationSignal,
        });
        // A workflow ends as Canceled, and not as one that was sent to its end, only when that was requested of it.
        const { workflowId } = context.info.workflowExecution ?? {};
        if (workflowId !== undefined) await getClient().workflow.getHandle(workflowId).cancel();
        return snapshot(campaignId);
      }),

    /** What an operator asks for. What is not possible in the present state changes nothing. */
    operateCampaign: (campaignId: string, action: OperatorAction): Promise<OperatedCampaign> =>
      asActivity(async () => {
        const change = { resume: startCampaignAgain, pause: pauseCampaign, cancel: cancelCampaign }[action];
        try {
          await change(dependencies, { campaignId, byWorkflow: true });
        } catch (error) {
          if (!(error instanceof Conflict)) throw error;
          // An attempt before may have made the change and died before it could tell.
          if (Context.current().info.attempt > 1) return snapshot(campaignId);
          const refused = error.message;
          dependencies.logger.warn({ campaignId, action, refused }, 'operator refused');
          return { ...(await snapshot(campaignId)), refused };
        }
        return snapshot(campaignId);
      }),

    readCampaign: (campaignId: string): Promise<CampaignSnapshot> => asActivity(() => snapshot(campaignId)),
  };
}

/** Somebody was faster: the snapshot tells of it. */
function unlessConflict(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
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

export type CampaignActivities = ReturnType<typeof createCampaignActivities>;

function beatWhileRunning(): NodeJS.Timeout {
  const context = Context.current();
  context.heartbeat();
  return setInterval(() => context.heartbeat(), heartbeatEveryMs);
}
