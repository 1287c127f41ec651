/** Delivers the workflow outbox: messages that committed transactions left for Temporal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withCallContext } from '../../concurrency/call-context.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  deleteOutboxMessages,
  hasStart,
  hasWaitingStarts,
  listOutboxMessages,
  takeStarts,
  type OutboxMessage,
  type StartInTurn,
} from '../../records/campaigns/workflow-outbox.ts';
import type { CampaignStart } from '../../orchestrator/orchestrator.ts';
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';

type OutboxDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>;

/**
 * Delivers a campaign's messages right after the commit that wrote them. Never fails the caller: returns false if a message
 * could not be delivered, and the workers' polling loop then delivers it.
 */
export async function deliverWorkflowOutbox(
  dependencies: OutboxDependencies,
  campaignId: string,
): Promise<boolean> {
  try {
    await deliverAll(dependencies, await listOutboxMessages(dependencies.database, { campaignId }));
    return true;
  } catch (error) {
    dependencies.logger.warn({ campaignId, error: String(error) }, 'workflow outbox message delayed');
    return false;
  }
}

const campaignsAtOnce = 10;

/**
 * `deliverWorkflowOutbox` for many campaigns, ten at a time. Stops at the first failure: while Temporal is down, each further
 * call would take its full timeout.
 */
export async function deliverWorkflowOutboxes(
  dependencies: OutboxDependencies,
  campaignIds: readonly string[],
): Promise<void> {
  const waiting = campaignIds.values();
  let isReachable = true;
  const deliverNext = async (): Promise<void> => {
    for (const campaignId of waiting) {
      if (!isReachable) return;
      if (!(await deliverWorkflowOutbox(dependencies, campaignId))) isReachable = false;
    }
  };
  await Promise.all(Array.from({ length: campaignsAtOnce }, deliverNext));
}

/** Starts the workflow of a newly created campaign whose outbox message is marked as started. Never rejects. */
export async function startCreated(
  { orchestrator, logger }: OutboxDependencies,
  campaign: CampaignStart,
): Promise<void> {
  try {
    await orchestrator.startCampaign(campaign);
  } catch (error) {
    logger.warn({ campaignId: campaign.id, error: String(error) }, 'workflow outbox message delayed');
  }
}

const startsAtOnce = 16;

/**
 * Starts the workflows whose turn it is and returns how many were started. Throws if none could be started, because Temporal is
 * probably down then. Those that failed get another turn later.
 */
export async function startInTurns(dependencies: OutboxDependencies): Promise<number> {
  const taken = await takeStarts(dependencies.database);
  const waiting = taken.values();
  const failures: unknown[] = [];
  let started = 0;
  const startNext = async (): Promise<void> => {
    for (const start of waiting) {
      if (failures.length >= failuresPerPoll) return;
      try {
        await startOne(dependencies, start);
        started += 1;
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: startsAtOnce }, startNext));
  if (started === 0 && failures.length > 0) throw failures[0];
  return started;
}

async function startOne({ database, orchestrator }: OutboxDependencies, start: StartInTurn): Promise<void> {
  const { campaign_id: id, workspace_id: workspaceId, name, request_id: requestId } = start;
  await withCallContext(requestId === null ? {} : { requestId }, () =>
    orchestrator.startCampaign({ id, workspaceId, name }),
  );
  // A worker of 1.0.0 has started it but left the message.
  if (start.is_prepared) await deleteOutboxMessages(database, [start.id]);
}

const failuresPerPoll = 3;

export interface DeliveryPoll {
  readonly delivered: number;
  /** The next poll continues after this id; 0 to begin with the oldest message. */
  readonly lastId: bigint;
  /** Set if every message failed, or if the poll stopped after `failuresPerPoll` failures: Temporal is probably down. */
  readonly failure: unknown;
}

/**
 * One poll of the workers' loop: delivers messages after `afterId` that are older than `olderThanMs`. A failed message does not
 * block the others: the poll goes on, and after `failuresPerPoll` failures the next poll continues after them.
 */
export async function deliverOverdueMessages(
  dependencies: OutboxDependencies,
  { olderThanMs, afterId }: { readonly olderThanMs: number; readonly afterId: bigint },
): Promise<DeliveryPoll> {
  const messages = await listOutboxMessages(dependencies.database, { olderThanMs, afterId });
  const failures: unknown[] = [];
  let delivered = 0;
  for (const message of messages) {
    try {
      await deliverAll(dependencies, [message]);
      delivered += 1;
    } catch (error) {
      failures.push(error);
      if (failures.length === failuresPerPoll) return { delivered, lastId: message.id, failure: error };
    }
  }
  return { delivered, lastId: 0n, failure: delivered === 0 ? failures[0] : undefined };
}

const idleMs = 1_000;
// 2 s: the process that wrote a message this old has failed to deliver it.
const overdueMs = 2_000;

// Half a turn. In about that time, workers start on the eight campaigns that a workspace may have in Temporal.
const nextTurnMs = 100;

/** Polling loop of a worker that starts campaigns; workspaces take turns. */
export function startCampaignsInTurns(dependencies: OutboxDependencies): Loop {
  return startPollingLoop({
    name: 'campaign starts',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      await startInTurns(dependencies);
      if (!(await hasWaitingStarts(dependencies.database))) return false;
      await sleep(nextTurnMs);
      return true;
    },
  });
}

/** Polling loop of a worker. Throws if a poll delivers none of the messages it found, so that the loop backs off. */
export function startDeliveringOutbox(dependencies: OutboxDependencies): Loop {
  let afterId = 0n;
  return startPollingLoop({
    name: 'workflow outbox',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      const poll = await deliverOverdueMessages(dependencies, { olderThanMs: overdueMs, afterId });
      afterId = poll.lastId;
      if (poll.delivered === 0 && poll.failure !== undefined) throw poll.failure;
      return poll.delivered > 0;
    },
  });
}

async function deliverAll(
  dependencies: OutboxDependencies,
  messages: readonly OutboxMessage[],
): Promise<void> {
  for (const message of messages) {
    const { request_id: requestId } = message;
    await withCallContext(requestId === null ? {} : { requestId }, () => deliver(dependencies, message));
    await deleteOutboxMessages(dependencies.database, [message.id]);
  }
}

async function deliver(
  { database, orchestrator }: OutboxDependencies,
  message: OutboxMessage,
): Promise<void> {
  const campaign = { id: message.campaign_id, workspaceId: message.workspace_id, name: message.name };
  if (message.kind === 'start') return orchestrator.startCampaign(campaign);
  if (await orchestrator.refreshCampaign(campaign.id)) return;
  // A workflow that waits for its turn reads the record when it starts; one that no longer exists starts again now.
  if (!(await hasStart(database, campaign.id))) await orchestrator.startCampaign(campaign);
}
