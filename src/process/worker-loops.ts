/** The loops that a worker process runs next to its Temporal workers. */
import type { EventEmitter } from 'node:events';
import { startApplyingOptOuts } from '../commands/callbacks/change-subscription.ts';
import { startApplyingCallbacks } from '../commands/callbacks/apply-provider-callbacks.ts';
import { startSettlingStatuses } from '../commands/callbacks/settle-unmatched-statuses.ts';
import {
  startCampaignsInTurns,
  startDeliveringOutbox,
} from '../commands/campaigns/deliver-workflow-outbox.ts';
import { startSweepingMessages } from '../commands/messages/send-single-message.ts';
import { startImports } from '../commands/contacts/create-import.ts';
import { startErasing } from '../commands/contacts/run-erasures.ts';
import { startPostingNotices } from '../commands/operations/post-notices.ts';
import { watchCampaigns } from '../commands/operations/watch-campaigns.ts';
import { viewWorkflows } from '../commands/operations/workflow-view.ts';
import { scheduleTemplateSyncs } from '../commands/templates/sync-templates.ts';
import { defaultWebhookLoopOptions, startWebhookLoops } from '../commands/webhooks/webhook-loops.ts';
import { startGivingBack } from '../commands/wallet/give-back.ts';
import { startWatchingWallets } from '../commands/wallet/watch-wallets.ts';
import { liftBlocks } from '../commands/workspaces/apply-account-notification.ts';
import { startPollingLoop, type Loop } from '../concurrency/polling-loop.ts';
import type { TaskQueue } from '../config.ts';
import type { OpenDependencies } from '../dependencies.ts';

const scheduleIdleMs = 60_000;
const watchIdleMs = 5_000;

/** `attempts` emits to the delivery scheduler which attempts begin and end in this process. */
export type WorkerDependencies = OpenDependencies & { readonly attempts: EventEmitter };

/** Starts the loops of the task queues that this process serves. Loops without their own queue belong to `maintenance`. */
export function startLoops(dependencies: WorkerDependencies) {
  const { logger, config } = dependencies;
  const checker = { ...dependencies, workflows: viewWorkflows(dependencies.orchestrator) };
  let afterAccount = '';
  const start: Readonly<Record<TaskQueue, () => readonly Loop[]>> = {
    campaigns: () => [
      startPollingLoop({
        name: 'watch',
        logger,
        idleMs: watchIdleMs,
        work: () => watchCampaigns(checker).then((checked) => (checked ? false : 'skipped')),
      }),
      startDeliveringOutbox(dependencies),
      startCampaignsInTurns(dependencies),
    ],
    webhooks: () => [startWebhookLoops(dependencies, defaultWebhookLoopOptions, dependencies.attempts)],
    maintenance: () => [
      startApplyingCallbacks(dependencies),
      startApplyingOptOuts(dependencies),
      startSettlingStatuses(dependencies),
      startSweepingMessages(dependencies),
      startErasing(dependencies),
      startImports(dependencies),
      startPostingNotices(dependencies),
      startGivingBack(dependencies),
      startWatchingWallets(dependencies),
      startPollingLoop({
        name: 'schedules',
        logger,
        idleMs: scheduleIdleMs,
        work: async () => {
          await liftBlocks(dependencies);
          await dependencies.orchestrator.scheduleRetention();
          await dependencies.orchestrator.schedulePriceComparison();
          const { failure, lastId } = await scheduleTemplateSyncs(dependencies, afterAccount);
          afterAccount = lastId;
          if (failure !== undefined) throw failure;
          return false;
        },
      }),
    ],
  };
  return config.taskQueues.flatMap((queue) => start[queue]());
}
