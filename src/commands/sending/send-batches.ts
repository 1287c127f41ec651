/**
 * Sending while the turn lasts: claims the next page, with its tokens, just before the messages in line have left, so that
 * database work and the provider's latency overlap. Outcomes are written as they come, many pages' together.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { delaySchedule } from '../../records/sending/channel-rate.ts';
import { recordAnswers } from '../../records/sending/circuit-breaker.ts';
import type { HeldSlot } from '../../records/sending/send-slots.ts';
import { claimBatch, countOpenClaims, type Claim } from '../../records/sending/claim-batch.ts';
import type { SendingContext } from '../../records/sending/sending-context.ts';
import { SendQueue, type SendQueueOptions } from './send-queue.ts';
import { classifyAnswer } from './classify-answer.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import type { Sender, StepOptions } from './run-send-step.ts';
import { controlStep } from './step-control.ts';
import { pauseForBalance } from './stop-sending.ts';

export interface SendOptions extends StepOptions {
  readonly slot: HeldSlot;
  readonly context: SendingContext;
  readonly clock: {
    /** Our clock, less Postgres'. */
    readonly offset: number;
    /** How long Postgres takes to answer. */
    readonly roundTripMs: number;
  };
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  readonly send: SendQueueOptions['send'];
  /** Calls who comes next, `again` this campaign where nobody else waits. */
  readonly callOn: (again: boolean) => Promise<unknown>;
}

const largestBatch = 1_000;
/** A page is so long, and longer only where its claim takes longer: a single send waits for one. */
const batchMs = 40;
/** A claim that takes longer makes no page longer: nobody stays in line for more than a moment. */
const longestClaimMs = 300;
/** Tokens may fall due so much later than the messages in line have left. */
const aheadMs = 100;
/** Where the places for unanswered messages are what limits a step, it tries to send by so much more than they let through. */
const growth = 1.5;
/** How long a turn lasts while others wait for theirs, and how often one of them is called. */
const turnMs = 1_000;
const callEveryMs = 3_500;
/** How long the campaign's own next step may take to begin. */
const followedMs = 5_000;
/** For tokens, or for a recipient, a step itself waits about a second. */
const shortWaitMs = 1_100;
const lookAgainMs = 50;
const dryForMs = 2_000;

interface Ending {
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
  /** So long the channel lets nobody send. */
  readonly heldMs: number;
}

const goingOn: Ending = { drained: false, waitMs: 0, heldMs: 0 };

export type BatchSender = ReturnType<typeof createBatchSender>;

export function createBatchSender(
  dependencies: Sender,
  { slot, context, clock, prices, send, callOn, budgetMs, isFollowed, draining }: SendOptions,
) {
  const { database, config, metrics } = dependencies;
  const { campaign_id: campaignId, channel_id: channelId, epoch } = context;
  const startedAt = performance.now();
  let left = context.pending;
  let tokensUsed = 0;
  let seen: Pick<Claim, 'othersWait' | 'slotLost'> = { othersWait: false, slotLost: false };
  let handoverAt = startedAt + turnMs - callEveryMs;
  let messagesPerSecond = context.messages_per_second;
  let { offset } = clock;
  let claimMs = Math.min(clock.roundTripMs, longestClaimMs);
  let dryUntil: number | undefined;
  let isClaiming = false;

  const control = controlStep({
    draining,
    recordAnswers: (answers) => recordAnswers(database, { channelId, ...answers }),
  });

  const queue = new SendQueue({
    messagesPerSecond,
    answerMs: context.answer_ms,
    share: slot.slotNumber === 1 ? 1 : 1 / 4,
    most: config.providerConnections,
    send,
    stopped: control.stopped,
    // A claim under way tells where the line ends. Without the database the next one does.
    endsLater: (lateMs) => {
      if (!isClaiming) void delaySchedule(database, channelId, lateMs).catch(() => undefined);
      return !isClaiming;
    },
    settle: (recipient, result) => {
      const classification = classifyAnswer(result, control.held() ? null : recipient.attempts);
      control.note(classification, recipient);
      const { position, claimId } = recipient;
      recorder.add({ position, claimId, outcome: classification.outcome });
    },
  });

  const recorder = createOutcomeRecorder(dependencies, { campaignId, channelId }, (states) => {
    left += states.filter((state) => state === 'PENDING').length;
  });

  /** Resolves when every claimed message has an outcome and every outcome is recorded. */
  const settled = async (): Promise<void> => {
    await queue.empty();
    await recorder.flush();
  };

  const claim = async (): Promise<Claim> => {
    const askedAt = performance.now();
    const perSecond = queue.perSecond() * growth;
    const seconds = Math.max(batchMs, claimMs * growth) / 1_000;
    const limit = Math.floor(Math.min(messagesPerSecond, perSecond) * seconds);
    const askedEnd = queue.endsAt;
    isClaiming = true;
    const claimed = await claimBatch(database, {
      claimId: randomUUID(),
      stepId: slot.stepId,
      campaignId,
      channelId,
      epoch,
      prices,
      limited: context.limited,
      perSecond,
      limit: Math.max(1, Math.min(limit, largestBatch, left)),
      aheadMs: claimMs + aheadMs,
      notBefore: askedEnd - offset,
      answerWithinMs: config.providerTimeoutMs + shortWaitMs,
    }).finally(() => (isClaiming = false));
    const answeredAt = performance.now();
    metrics.claimSeconds.observe({ outcome: claimed.kind }, (answeredAt - askedAt) / 1_000);
    claimMs = Math.min(longestClaimMs, Math.max(answeredAt - askedAt, claimMs * 0.8));
    seen = claimed;
    if (claimed.kind === 'stale_epoch') control.stop();
    if (claimed.kind === 'batch') {
      const { recipients, dueAt, spacingMs, now, pending, isProbe } = claimed;
      // The fastest answer says best how the clocks stand to each other, as long as nobody sets them.
      const sample = answeredAt - now;
      if (sample < offset || sample > offset + shortWaitMs) offset = sample;
      metrics.recipientChanges.inc({ state: 'claimed' }, recipients.length);
      control.claimed({ isFailing: claimed.isFailing, isProbe });
      messagesPerSecond = 1_000 / spacingMs;
      tokensUsed += recipients.length;
      left = pending;
      dryUntil = undefined;
      queue.add({ recipients, startsAt: dueAt + offset, spacingMs, askedEnd });
    }
    return claimed;
  };

  /** Whoever is called takes the place; until then this step goes on. */
  const callOnceInAWhile = (): void => {
    const now = performance.now();
    const again = isFollowed === true && now - startedAt > budgetMs;
    if (!(seen.othersWait || again) || queue.isStuck() || now < handoverAt + callEveryMs) return;
    handoverAt = now;
    void callOn(again);
  };

  /** Reservations on the way may come free again: the wallet is dry only once they are settled. */
  const pauseWhenDry = async (available: bigint): Promise<void> => {
    await settled();
    if (dryUntil === undefined) dryUntil = performance.now() + dryForMs;
    else if (performance.now() < dryUntil && (await countOpenClaims(database, channelId)) > 0)
      await sleep(lookAgainMs);
    else {
      await pauseForBalance(dependencies, context, available);
      control.stop();
    }
  };

  const isOver = (): boolean =>
    control.stopped() ||
    seen.slotLost ||
    performance.now() - startedAt > budgetMs + (isFollowed === true ? followedMs : 0);

  const claimAndSend = async (): Promise<Ending> => {
    while (!isOver()) {
      queue.leave();
      // Those on the way may still go back.
      if (left <= 0) await settled();
      if (left <= 0) return { ...goingOn, drained: true };
      callOnceInAWhile();
      const restMs = queue.isStuck() || recorder.isBehind() ? lookAgainMs : queue.restMs() - claimMs;
      if (restMs > shortWaitMs) return { ...goingOn, waitMs: restMs, heldMs: restMs };
      if (restMs > 0) {
        await sleep(Math.min(restMs, lookAgainMs));
        continue;
      }
      const claimed = await claim();
      if (claimed.kind === 'unaffordable') await pauseWhenDry(claimed.available);
      if (claimed.kind === 'batch' && claimed.isProbe) await settled().then(control.settled);
      if (claimed.kind === 'quota') return { ...goingOn, waitMs: Math.max(shortWaitMs, claimed.moreInMs) };
      if (claimed.kind === 'rate_limited') {
        const waitMs = Math.max(1, claimed.dueInMs - claimMs);
        if (waitMs > shortWaitMs) return { ...goingOn, waitMs, heldMs: waitMs };
        await sleep(waitMs);
      }
      if (claimed.kind !== 'empty' || claimed.retryInMs === 0) continue;
      if (claimed.retryInMs === null) left = 0;
      else if (claimed.retryInMs > shortWaitMs) return { ...goingOn, waitMs: claimed.retryInMs };
      else await sleep(Math.max(20, claimed.retryInMs));
    }
    return goingOn;
  };

  return {
    /** The turn is over: what is in line is the last. */
    leave: (): void => {
      seen = { ...seen, slotLost: true };
    },
    async run() {
      let ending: Ending | undefined;
      try {
        ending = await claimAndSend();
      } finally {
        // Outcomes are recorded even when a claim has failed.
        await settled();
        queue.tell();
      }
      const heldMs = Math.max(ending.heldMs, await control.settled());
      const { rejections } = control;
      const { answerMs } = queue;
      return {
        ...ending,
        heldMs,
        rejections,
        tokensUsed,
        answerMs,
        slotLost: seen.slotLost,
        stopReason: control.stopReason(),
      };
    },
  };
}
