/**
 * One step of sending a campaign: takes the campaign's turn on its channel, sends for some seconds and hands the turn on.
 * Any number of steps, in any number of processes, may ask; at most four of a channel send at a time, and one without end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../dependencies.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import {
  handOverSlot,
  releaseSlot,
  leaveSlotQueue,
  recordSlotUsage,
  renewEveryMs,
  renewSlot,
  rejoinSlotQueue,
  acquireSlot,
  type HeldSlot,
  type SlotAnswer,
  type SlotRequest,
} from '../../records/sending/send-slots.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { getSendingContext, type SendingContext } from '../../records/sending/sending-context.ts';
import type { Connection } from '../../records/database/database.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { createBatchSender, type BatchSender, type SendOptions } from './send-batches.ts';
import { applyStopReason, handleRejections } from './stop-sending.ts';

/** How long, and how often, a step with few messages asks for a place. */
const slotWaitMs = 300;
const slotRetryMs = 30;

export interface StepOptions {
  /** After this long the step ends. */
  readonly budgetMs: number;
  /** The campaign's next step is called then, and begins while this one sends. */
  readonly isFollowed?: boolean;
  /** Sends to a few: asks for a place a moment long, and queues for none. */
  readonly singleBatch?: boolean;
  /** True when the process is about to end: nothing more leaves. */
  readonly draining: () => boolean;
}

export interface StepResult {
  /** Nobody is left to be claimed, now or later. */
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
}

export type Sender = Pick<
  Dependencies,
  'config' | 'database' | 'provider' | 'secrets' | 'logger' | 'orchestrator' | 'now' | 'metrics'
>;

export async function runSendStep(
  dependencies: Sender,
  campaignId: string,
  options: StepOptions,
): Promise<StepResult> {
  const { database, config, metrics } = dependencies;
  const stepId = randomUUID();
  const askedAt = performance.now();
  const context = await getSendingContext(database, campaignId);
  const answeredAt = performance.now();
  const clock = { offset: answeredAt - context.now, roundTripMs: answeredAt - askedAt };
  const prices = await findPrices(database, context.workspace_id, context.template_category);
  const taken = await takePlace(database, { campaignId, stepId }, options.singleBatch === true);
  if (taken === null) {
    await leaveSlotQueue(database, campaignId);
    return { drained: false, waitMs: 0 };
  }
  const { slotNumber } = taken;
  if (slotNumber === null) return { drained: false, waitMs: taken.retryInMs };
  if (context.claimed > 0) {
    const expired = await expireClaims(database, { campaignId, graceSeconds: config.outcomeGraceSeconds });
    metrics.recipientChanges.inc({ state: 'unknown' }, expired);
  }
  const slot = { campaignId, stepId, slotNumber, channelId: context.channel_id };
  const callOn = (again: boolean) => tell(dependencies, () => handOverSlot(database, slot, again));
  const send = messagesOf(dependencies, context);
  const sending = createBatchSender(dependencies, { ...options, slot, context, clock, prices, send, callOn });
  const renewing = setInterval(() => {
    // Whoever stood still for longer than a lease may be one too many.
    const lost = (renewed: boolean) => void (renewed || sending.leave());
    renewSlot(database, slot).then(lost, () => undefined);
  }, renewEveryMs);
  try {
    return await sendAndHandOn(dependencies, { slot, context, sending });
  } finally {
    clearInterval(renewing);
  }
}

function messagesOf({ provider, secrets }: Sender, context: SendingContext): SendOptions['send'] {
  const accessToken = secrets.decrypt(context.access_token_encrypted, `channel ${context.channel_id}`);
  const render = compileRenderer(context.message_plan as MessagePlan);
  return (recipient, heldBack) =>
    provider.sendMessage({
      phoneNumberId: context.phone_number_id,
      accessToken,
      to: recipient.to,
      marketing: context.marketing_endpoint && context.template_category === 'MARKETING',
      template: {
        name: context.template_name,
        language: context.template_language,
        components: render(recipient.variables ?? []),
      },
      callbackData: recipient.id,
      // It may wait for a connection for as long as a provider that hangs takes.
      heldBack,
    });
}

/** Of few messages a place is free again after a moment, and a step of its own would cost more than they do. */
async function takePlace(
  database: Connection,
  request: SlotRequest,
  singleBatch: boolean,
): Promise<SlotAnswer | null> {
  const givesUpAt = performance.now() + slotWaitMs;
  for (;;) {
    const taken = await acquireSlot(database, request, singleBatch);
    if (!singleBatch || taken === null || taken.slotNumber !== null || performance.now() > givesUpAt)
      return taken;
    await sleep(slotRetryMs);
  }
}

interface Sending {
  readonly slot: HeldSlot;
  readonly context: SendingContext;
  readonly sending: BatchSender;
}

async function sendAndHandOn(dependencies: Sender, { slot, context, sending }: Sending): Promise<StepResult> {
  const { drained, waitMs, heldMs, slotLost, stopReason, rejections, ...used } = await sending.run();
  await handleRejections(dependencies, context, rejections);
  if (stopReason !== undefined) await applyStopReason(dependencies, context, stopReason);
  // Whoever has sent, however little, lets the others wait for the channel, too.
  const keepMs = used.tokensUsed === 0 ? heldMs : 0;
  const called = await tell(dependencies, () => releaseSlot(dependencies.database, slot, keepMs));
  const goesOn = !drained && waitMs === 0 && heldMs === 0 && stopReason === undefined;
  const waits = goesOn && (slotLost || called);
  const retryInMs = await recordSlotUsage(dependencies.database, slot, { ...used, drained, waits });
  return { drained, waitMs: Math.max(waitMs, heldMs, waits ? retryInMs : 0) };
}

/** False when no campaign waits. A campaign whose signal fails goes back into the wait queue, and asks again by itself. */
async function tell(
  { database, orchestrator, logger }: Sender,
  call: () => Promise<string | null>,
): Promise<boolean> {
  let next: string | null = null;
  try {
    next = await call();
    if (next !== null) await orchestrator.refreshCampaign(next);
    return next !== null;
  } catch (error) {
    logger.warn({ error: String(error) }, 'could not signal the next campaign of the channel');
    if (next !== null) await rejoinSlotQueue(database, next).catch(() => undefined);
    return false;
  }
}
