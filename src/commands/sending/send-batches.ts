/**
 * The loop of a send step: claims the next batch just before the queue is empty, so that claiming and the provider's answers
 * overlap. Invariant: a message leaves only if it is claimed, its price is reserved, and its token is due.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../dependencies.ts';
import type { SendResult } from '../../provider/provider.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { delaySchedule, recordPaceShare, slowBelow } from '../../records/sending/channel-rate.ts';
import { type AnswerCounts, failuresToOpen, recordAnswers } from '../../records/sending/circuit-breaker.ts';
import {
  type Claim,
  type ClaimedRecipient,
  countOpenClaims,
  lockBudget,
} from '../../records/sending/claim-batch.ts';
import { passGate } from '../../records/sending/failure-brake.ts';
import type { SendingContext } from '../../records/sending/sending-context.ts';
import { lockWallets } from '../../records/wallet/wallets.ts';
import type { Logger } from '../../telemetry/logger.ts';
import {
  BatchClaimer,
  type ClockSample,
  type ContactRenewal,
  maxInStepWaitMs,
  type Sender,
} from './batch-claimer.ts';
import {
  type CircuitState,
  type Classification,
  classifyAnswer,
  createOutcomeRecorder,
  type Rejection,
  type StopReason,
} from './outcome-recorder.ts';
import { SendQueue, type SendQueueOptions } from './send-queue.ts';
import type { SlotLease } from './slot-lease.ts';
import { ProviderTraffic } from './throughput.ts';

export interface StepOptions {
  /** The step ends after this long. */
  readonly budgetMs: number;
  /** After `budgetMs` the campaign's next step is signalled, and this step sends until that one begins. */
  readonly isFollowed?: boolean;
  /** One batch finishes the campaign, so the step asks for a slot for 300 ms and does not join the wait queue. */
  readonly singleBatch?: boolean;
  /** Shared by the process; without it, the step counts only its own messages. */
  readonly traffic?: ProviderTraffic;
  /** True if the process is about to end; nothing more leaves then. */
  readonly draining: () => boolean;
}

export interface SendingStep {
  readonly options: StepOptions;
  readonly lease: SlotLease;
  readonly context: SendingContext;
  readonly clock: ClockSample;
  readonly prices: ReadonlyMap<string, bigint>;
  readonly send: SendQueueOptions['send'];
  readonly renewal: ContactRenewal;
}

/** Why the loop ended: at most one of the three is set. */
interface Ending {
  /** No recipient is left to be claimed, now or later. */
  readonly drained: boolean;
  /** Milliseconds for which this campaign cannot send, for a reason of its own. */
  readonly waitMs: number;
  /** Milliseconds for which no campaign can send on the channel. */
  readonly channelWaitMs: number;
}

export interface SentBatches extends Ending {
  readonly tokensUsed: number;
  /** Median time until the provider answers, in ms. */
  readonly answerMs: number;
  readonly stopReason: StopReason | undefined;
  readonly rejections: readonly Rejection[];
  /** Resolves when every outcome is recorded, which lasts for as long as Postgres refuses one. */
  readonly recorded: () => Promise<void>;
  /** Resolves when every outcome is recorded, or as soon as that fails. */
  readonly tryToRecord: () => Promise<boolean>;
  /** A claim failed with this error, after which nothing more was sent. */
  readonly failure?: { readonly error: unknown };
}

const timeIsUp: Ending = { drained: false, waitMs: 0, channelWaitMs: 0 };
const drained: Ending = { ...timeIsUp, drained: true };
const waitFor = (waitMs: number): Ending => ({ ...timeIsUp, waitMs });
const waitForChannel = (channelWaitMs: number): Ending => ({ ...timeIsUp, channelWaitMs });

const pollMs = 50;
/** 5 s: short enough for somebody watching a campaign, long enough for a mean. */
const paceEveryMs = 5_000;
/** 20 ms: minimum time between two claims that wait for a retry to fall due. */
const minRetryWaitMs = 20;
/** 5 s: how long a step keeps sending after its time is up, until the campaign's next step has acquired the slot. */
const overtimeMs = 5_000;
/** 2 s: other campaigns' reservations may be released in this time; after it, the wallet counts as empty. */
const balancePatienceMs = 2_000;

/** Resolves when every message has left or was released, and every answer has arrived. Never rejects. */
export async function sendBatches(dependencies: Sender, step: SendingStep): Promise<SentBatches> {
  const { database, config } = dependencies;
  const { options, lease, context, send } = step;
  const { campaign_id: campaignId, channel_id: channelId } = context;
  const endsAt = performance.now() + options.budgetMs;

  const claimer = new BatchClaimer(dependencies, {
    ...step,
    slot: lease.slot,
    onBatch: (batch) => circuit.onClaim(batch),
    onSkip: ({ position, claimId }, skip) =>
      recorder.add({ position, claimId, outcome: { kind: 'skipped', skip } }),
    onUnanswered: ({ position, claimId }) =>
      recorder.add({ position, claimId, outcome: { kind: 'released', delayMs: 0, attempted: false } }),
  });
  const stopConditions = new StopConditions();
  const failures = logFailures(dependencies.logger, channelId);
  const circuit = new CircuitReporter((answers) =>
    recordAnswers(database, { channelId, ...answers }).then(failures.circuit),
  );
  const recorder = createOutcomeRecorder(
    dependencies,
    { campaignId, channelId, workspaceId: context.workspace_id },
    {
      onRecorded: (states) => {
        claimer.remaining += states.filter((state) => state === 'PENDING').length;
      },
      onBraked: () => stopConditions.stop({ kind: 'braked' }),
    },
  );
  const isStopped = (): boolean =>
    stopConditions.reason !== undefined || circuit.isOpen() || options.draining();
  const queue = new SendQueue({
    channelId,
    traffic: options.traffic ?? new ProviderTraffic(),
    messagesPerSecond: context.messages_per_second,
    answerMs: context.answer_ms,
    share: lease.share,
    connections: config.providerConnections,
    send,
    isStopped,
    onResult: (recipient, result) => {
      const answer = classifyAnswer(result, recipient.attempts, circuit.state);
      if (answer.isFailure === true) failures.note(result);
      stopConditions.onAnswer(answer, recipient);
      if (answer.unlistedCode !== undefined)
        dependencies.metrics.unlistedRefusals.inc({ code: answer.unlistedCode });
      if (answer.wasSent !== false) circuit.onAnswer(answer);
      const { position, claimId, changedContact, variables } = recipient;
      recorder.add({
        position,
        claimId,
        outcome: answer.outcome,
        // Stored, so that the report shows the values that were sent.
        ...(changedContact !== undefined && variables !== null && { variables }),
      });
    },
    // A running claim writes the lag as well; if the database is unreachable, the next claim does.
    writeLag: (lagMs) => {
      if (!claimer.isClaiming) void delaySchedule(database, channelId, lagMs).catch(() => undefined);
      return !claimer.isClaiming;
    },
  });

  /** Resolves to true when every claimed message has an outcome and every outcome is recorded; to false when a write fails. */
  const settle = async (): Promise<boolean> => {
    await queue.drain();
    return recorder.tryToFlush();
  };
  const waitForBalance = balanceWait(dependencies, context);

  const isOver = (): boolean =>
    isStopped() ||
    !lease.isHeld() ||
    performance.now() > endsAt + (options.isFollowed === true ? overtimeMs : 0);

  const handOverWhenDue = (): void => {
    const toItself = options.isFollowed === true && performance.now() > endsAt;
    // With a provider that hangs, each further step would only add messages without an answer.
    if ((claimer.othersWait || toItself) && !queue.isStuck()) lease.handOver(toItself);
  };

  /** Handles a claim; returns how the loop ends, undefined if it goes on. */
  const handleClaim = async (claim: Claim): Promise<Ending | undefined> => {
    if (claim.slotLost) lease.markLost();
    switch (claim.kind) {
      case 'batch':
        waitForBalance.reset();
        if (claim.isProbe) await settle().then(() => circuit.settle());
        return undefined;
      case 'stale_epoch':
        stopConditions.stop({ kind: 'stale_epoch' });
        return undefined;
      case 'locked':
        return waitFor(maxInStepWaitMs);
      case 'rate_limited': {
        const waitMs = Math.max(1, claim.waitMs - claimer.claimMs);
        if (waitMs > maxInStepWaitMs) return waitForChannel(waitMs);
        await sleep(waitMs);
        return undefined;
      }
      case 'quota':
        return waitFor(Math.max(maxInStepWaitMs, claim.waitMs));
      case 'unaffordable':
        if (!(await settle())) return timeIsUp;
        if (await waitForBalance.isPaused(claim.available)) stopConditions.stop({ kind: 'stale_epoch' });
        return undefined;
      case 'max_cost': {
        if (!(await settle())) return timeIsUp;
        const paused = await pauseForMaxCost(dependencies, {
          context,
          prices: step.prices,
          budget: claim.budget,
        });
        if (paused === 'paused') stopConditions.stop({ kind: 'stale_epoch' });
        return paused === 'open claims' ? waitFor(openClaimsMs) : undefined;
      }
      case 'empty':
        if (claim.waitMs === null) claimer.remaining = 0;
        else if (claim.waitMs > maxInStepWaitMs) return waitFor(claim.waitMs);
        else if (claim.waitMs !== 0) await sleep(Math.max(minRetryWaitMs, claim.waitMs));
        return undefined;
    }
  };

  /** The messages before the gate have left: says how the loop ends, undefined if sending goes on. */
  const handleGate = async (): Promise<Ending | undefined> => {
    if (!(await settle())) return timeIsUp;
    if (isStopped()) return undefined;
    const gate = await passGate(database, campaignId);
    if (gate.kind === 'closed') return waitFor(gate.waitMs);
    if (gate.kind === 'braked') stopConditions.stop({ kind: 'braked' });
    else claimer.allowance = gate.left ?? Infinity;
    return undefined;
  };

  const claimAndSend = async (): Promise<Ending> => {
    while (!isOver()) {
      queue.sendDue();
      // Messages that are on the wire may still be released and become PENDING again.
      if (claimer.remaining <= 0 && !(await settle())) return timeIsUp;
      if (claimer.remaining <= 0) return drained;
      if (claimer.allowance <= 0) {
        const ending = await handleGate();
        if (ending !== undefined) return ending;
        continue;
      }
      handOverWhenDue();
      const isBehind = queue.isStuck() || recorder.isBehind();
      const waitMs = isBehind ? pollMs : queue.remainingMs() - claimer.claimMs;
      if (waitMs > maxInStepWaitMs) return waitForChannel(waitMs);
      if (waitMs > 0) {
        await sleep(Math.min(waitMs, pollMs));
        continue;
      }
      const ending = await handleClaim(await claimer.claimInto(queue));
      if (ending !== undefined) return ending;
    }
    return timeIsUp;
  };

  let isSlow = context.pace_share !== null;
  const measuring = setInterval(() => {
    const share = queue.takePaceShare();
    // Small slots, and steps that lost their slot or ran out of recipients, use less than the rate for other reasons.
    if (lease.share < 1 || !lease.isHeld() || claimer.remaining <= 0) return;
    if (share >= slowBelow && !isSlow) return;
    isSlow = share < slowBelow;
    void recordPaceShare(database, channelId, isSlow ? share : null).catch(() => undefined);
  }, paceEveryMs);
  let ending = timeIsUp;
  let failure: SentBatches['failure'];
  try {
    ending = await claimAndSend();
  } catch (error) {
    failure = { error };
  }
  await queue.drain();
  clearInterval(measuring);
  queue.flushLag();
  return {
    ...ending,
    ...(failure !== undefined && { failure }),
    recorded: recorder.flush,
    tryToRecord: recorder.tryToFlush,
    channelWaitMs: Math.max(ending.channelWaitMs, await circuit.settle().catch(() => 0)),
    tokensUsed: claimer.tokensUsed,
    answerMs: queue.throughput.answerMs,
    stopReason: stopConditions.reason,
    rejections: stopConditions.rejections,
  };
}

/** Pauses the campaign once the wallet has not covered a message for 2 s, or no open claim can free any of it. */
function balanceWait(dependencies: Sender, context: SendingContext) {
  let givesUpAt: number | undefined;
  return {
    reset: (): void => {
      givesUpAt = undefined;
    },
    /** Call it once this step's own messages have outcomes. Waits a moment, or pauses the campaign and returns true. */
    async isPaused(available: bigint): Promise<boolean> {
      const { database } = dependencies;
      if (givesUpAt === undefined) {
        givesUpAt = performance.now() + balancePatienceMs;
        return false;
      }
      if (performance.now() < givesUpAt && (await countOpenClaims(database, context.channel_id)) > 0) {
        await sleep(pollMs);
        return false;
      }
      await pauseForBalance(dependencies, context, available);
      return true;
    },
  };
}

/** Logs that a channel's circuit is open, with the last answer that counted as a failure. */
function logFailures(logger: Pick<Logger, 'warn'>, channelId: string) {
  let lastFailure: object = {};
  return {
    note(result: SendResult): void {
      if (result.kind === 'rejected') lastFailure = { code: result.code, httpStatus: result.httpStatus };
      else if (result.kind !== 'accepted') lastFailure = { cause: result.cause };
    },
    /** Returns `openMs`: for how long nothing is sent, 0 while the circuit is closed. */
    circuit(openMs: number): number {
      if (openMs > 0)
        logger.warn(
          { channelId, openMs, ...lastFailure },
          'the provider fails: the circuit of a channel is open',
        );
      return openMs;
    },
  };
}

/** 5 s: a step that has ended with messages in the air leaves them claimed for up to the grace period. */
const openClaimsMs = 5_000;

/**
 * Pauses the campaign because its next message would cost more than `max_cost` leaves. Does nothing if the campaign has changed
 * since its `epoch`, if more than the `budget` that did not suffice is left, or if an outcome may still free some of it.
 */
async function pauseForMaxCost(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  {
    context: { campaign_id: campaignId, epoch },
    prices,
    budget,
  }: {
    readonly context: SendingContext;
    readonly prices: ReadonlyMap<string, bigint>;
    readonly budget: bigint;
  },
): Promise<'paused' | 'open claims' | 'changed'> {
  const done = await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return 'changed';
    const present = await lockBudget(transaction, campaignId, prices);
    if (present.budget === null || present.budget > budget) return 'changed';
    if (present.claimed > 0) return 'open claims';
    await moveCampaign(transaction, campaign, 'pause', 'MAX_COST');
    return 'paused';
  });
  if (done === 'paused') logger.info({ campaignId, pauseReason: 'MAX_COST' }, 'campaign paused');
  return done;
}

/**
 * Spec 3.1: pauses the campaign because the wallet cannot cover a message. Does nothing if the campaign has changed since its
 * `epoch`, or if the wallet now has more than the `available` that did not suffice, so that no recharge is missed.
 */
export async function pauseForBalance(
  { database, logger, metrics }: Pick<Dependencies, 'database' | 'logger' | 'metrics'>,
  { campaign_id: campaignId, channel_id: channelId, epoch }: SendingContext,
  available: bigint,
): Promise<void> {
  const paused = await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return false;
    const [wallet] = await lockWallets(transaction, [channelId]);
    if (wallet !== undefined && wallet.balance - wallet.reserved > available) return false;
    await moveCampaign(transaction, campaign, 'pause', 'INSUFFICIENT_BALANCE');
    return true;
  });
  if (!paused) return;
  metrics.walletPauses.inc();
  logger.info({ campaignId, pauseReason: 'INSUFFICIENT_BALANCE' }, 'campaign paused');
}

/** Collects what a step's answers mean for later messages: whether the step stops, and which rejections have effects. */
class StopConditions {
  readonly rejections: Rejection[] = [];
  #reason: StopReason | undefined;

  /** Undefined while the step may send. The first reason stays. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    this.#reason ??= reason;
  }

  onAnswer({ stopReason, rejection }: Classification, recipient: ClaimedRecipient): void {
    const pauses = stopReason !== undefined;
    // One of many equal rejections is enough to pause a template or a channel, or to block a country.
    const isRepeated =
      (pauses && this.#reason !== undefined) ||
      this.rejections.some(
        (other) => other.error.code === rejection?.code && other.recipient.country === recipient.country,
      );
    if (rejection !== undefined && !isRepeated) this.rejections.push({ error: rejection, recipient, pauses });
    if (stopReason !== undefined) this.stop(stopReason);
  }
}

type Report = Omit<AnswerCounts, 'channelId'>;

/** 2 s: the step waits this long after failures that it could not report, because the database was away. */
const unreportedCoolDownMs = 2_000;

const nothingToReport = { succeeded: false, failures: 0, answered: false };

/**
 * One step's view of its channel's circuit breaker. All steps of the channel share a count in Postgres. The step reports its
 * answers there, one statement at a time; until a report returns, it relies on its own count.
 */
class CircuitReporter {
  /** Resolves to the remaining cool-down; 0 while the circuit is closed. */
  readonly #record: (report: Report) => Promise<number>;
  #isFailing = false;
  #isProbe = false;
  #coolDownMs = 0;
  #failuresInARow = 0;
  #unreported = nothingToReport;
  #reporting: Promise<void> | undefined;

  constructor(record: (report: Report) => Promise<number>) {
    this.#record = record;
  }

  /** True while no message may leave. */
  isOpen(): boolean {
    return this.#coolDownMs > 0 || this.#failuresInARow >= failuresToOpen;
  }

  /** The circuit's state for the answer that has just arrived. */
  get state(): CircuitState {
    if (this.#isProbe) return 'probing';
    return this.isOpen() ? 'open' : 'closed';
  }

  /** Adopts the channel's state that a claim has read. */
  onClaim({ isFailing, isProbe }: { readonly isFailing: boolean; readonly isProbe: boolean }): void {
    this.#isFailing = isFailing;
    this.#isProbe = isProbe;
  }

  onAnswer(answer: Pick<Classification, 'isFailure' | 'isAnswered'>): void {
    const isFailure = answer.isFailure === true;
    // Without earlier failures a success changes nothing, so no statement is sent.
    if (!isFailure && this.#failuresInARow === 0 && !this.#isFailing && !this.#isProbe) return;
    this.#failuresInARow = isFailure ? this.#failuresInARow + 1 : 0;
    this.#unreported = isFailure
      ? { ...this.#unreported, failures: this.#unreported.failures + 1, answered: answer.isAnswered === true }
      : { ...nothingToReport, succeeded: true };
    const end = (): void => {
      this.#reporting = undefined;
    };
    // A failed report is dropped; this step stops by its own count, and the next step counts from zero.
    this.#reporting ??= this.#report().then(end, end);
  }

  /** Call it when every answer has arrived. Resolves to the remaining cool-down in ms; 0 if the circuit is closed. */
  async settle(): Promise<number> {
    await this.#reporting;
    // The probe was released unsent, or the report of its answer failed: another step may probe.
    if (this.#isProbe)
      this.#coolDownMs = await this.#record({ succeeded: false, failures: 0, isProbe: true });
    const isUnreported = this.#coolDownMs === 0 && this.#failuresInARow >= failuresToOpen;
    return isUnreported ? unreportedCoolDownMs : this.#coolDownMs;
  }

  async #report(): Promise<void> {
    while (this.#unreported.succeeded || this.#unreported.failures > 0) {
      const report = { ...this.#unreported, isProbe: this.#isProbe };
      this.#unreported = nothingToReport;
      this.#coolDownMs = await this.#record(report);
      this.#isFailing = report.failures > 0;
      this.#isProbe = false;
    }
  }
}
