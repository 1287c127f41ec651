/**
 * Handles the provider's responses.
 * - `createOutcomeRecorder` records outcomes while the step sends, in bounded batches, one statement at a time. An outcome stays
 *   in memory until its statement succeeds, whatever the error. It is lost only if the process ends; the claim then stays open.
 * - `classifyAnswer` decides the outcome of a message and whether the step stops.
 * - `handleRejections` applies effects beyond the message: the channel slows down, campaigns pause, contacts opt out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { providerReason, type RecipientState } from '../../domain/campaigns/recipient.ts';
import { cleanText } from '../../domain/clean-text.ts';
import {
  type ProviderError,
  providerErrorAction,
  retryDelayMs,
} from '../../domain/sending/provider-error.ts';
import { providerErrorOf, type SendRejected, type SendResult } from '../../provider/provider.ts';
import { slowDown } from '../../records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import {
  type MessageOutcome,
  type OutcomeBatch,
  type RecipientOutcome,
  recordOutcomes,
} from '../../records/sending/outcomes.ts';
import { isRunningEpoch, type SendingContext } from '../../records/sending/sending-context.ts';
import { countRecipients } from '../../telemetry/metrics.ts';
import { stopsMarketing } from '../callbacks/change-subscription.ts';
import { pauseBraked } from '../campaigns/change-campaign.ts';
import { keepChoice } from '../contacts/opted-out-numbers.ts';
import { applyRefusalEffects } from '../messages/refusal-effects.ts';

/** 100 ms: outcomes that arrive within this time share a statement. */
const collectForMs = 100;
/** 500 outcomes: limits how long a statement, and so its locks on wallet and counter, may last. */
const largestBatch = 500;
/** With more than 2,000 unwritten outcomes the step claims nothing, because a dying process would lose them. */
const mostWaiting = 2_000;
const [firstPauseMs, longestPauseMs] = [250, 5_000];
/** A write that keeps failing is logged again after this many failures, about every minute. */
const logEvery = 12;

export interface OutcomeRecorder {
  readonly add: (outcome: RecipientOutcome) => void;
  /** Resolves when every outcome is recorded. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Resolves to true when every outcome is recorded, or to false as soon as a write fails. */
  readonly tryToFlush: () => Promise<boolean>;
  /** True while a write fails or too many outcomes wait; claim nothing then. */
  readonly isBehind: () => boolean;
}

export function createOutcomeRecorder(
  { database, metrics, logger, secrets }: Pick<Dependencies, 'database' | 'metrics' | 'logger' | 'secrets'>,
  { campaignId, channelId, workspaceId }: Omit<OutcomeBatch, 'outcomes'> & { readonly workspaceId: number },
  {
    onRecorded,
    onBraked,
  }: {
    readonly onRecorded: (states: readonly RecipientState[]) => void;
    /** The failure brake has decided that the campaign pauses. */
    readonly onBraked: () => void;
  },
): OutcomeRecorder {
  let waiting: RecipientOutcome[] = [];
  let batchSize = largestBatch;
  let failures = 0;
  let writing: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  let onFailure: () => void = () => undefined;

  const writeBatch = async (): Promise<void> => {
    const outcomes = nextBatch(waiting, batchSize);
    const stop = metrics.recordSeconds.startTimer();
    const { strangers, braked } = await recordOutcomes(database, { campaignId, channelId, outcomes });
    stop();
    waiting = waiting.slice(outcomes.length);
    if (braked.length > 0) onBraked();
    if (strangers.length > 0)
      await keepChoice({ secrets }, database, { workspaceId, names: strangers, decision: stopsMarketing });
    const states = outcomes.map(({ outcome }) => outcomeStates[outcome.kind]);
    countRecipients(metrics, states);
    onRecorded(states);
    logger.info({ campaignId, recorded: outcomes.length }, 'outcomes recorded');
  };

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      try {
        await writeBatch();
        failures = 0;
        batchSize = Math.min(largestBatch, batchSize * 2);
      } catch (error) {
        if (failures % logEvery === 0)
          logger.error(
            { campaignId, waiting: waiting.length, error: errorName(error) },
            'outcomes could not be recorded, trying again',
          );
        failures += 1;
        onFailure();
        // A statement that takes too long, or an outcome that Postgres refuses, must not delay the others.
        if (batchSize === 1) waiting = [...waiting.slice(1), ...waiting.slice(0, 1)];
        batchSize = Math.max(1, Math.floor(Math.min(batchSize, waiting.length) / 2));
        await sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 10)));
      }
    }
  };

  const flush = (): Promise<void> => {
    clearTimeout(soon);
    soon = undefined;
    writing ??= writeAll().finally(() => (writing = undefined));
    return writing;
  };

  return {
    add(outcome) {
      waiting.push(outcome);
      soon ??= setTimeout(() => void flush(), collectForMs);
    },
    flush,
    async tryToFlush() {
      if (failures > 0) return false;
      const failed = new Promise<boolean>((resolve) => (onFailure = () => resolve(false)));
      return Promise.race([flush().then(() => true), failed]);
    },
    isBehind: () => failures > 0 || waiting.length > mostWaiting,
  };
}

/** Takes up to `size` outcomes from the front; stops before a position that is already in the batch. */
function nextBatch(waiting: readonly RecipientOutcome[], size: number): readonly RecipientOutcome[] {
  const seen = new Set<number>();
  const batch: RecipientOutcome[] = [];
  for (const outcome of waiting) {
    if (batch.length === size || seen.has(outcome.position)) break;
    seen.add(outcome.position);
    batch.push(outcome);
  }
  return batch;
}

const outcomeStates = {
  accepted: 'ACCEPTED',
  failed: 'FAILED',
  unknown: 'UNKNOWN',
  released: 'PENDING',
  skipped: 'SKIPPED',
} as const satisfies Record<RecipientOutcome['outcome']['kind'], RecipientState>;

/** Why a step stops early. */
export type StopReason =
  /** The campaign was paused, cancelled or started again. */
  | { readonly kind: 'stale_epoch' }
  /** The provider asks the channel to stop sending for a while. */
  | { readonly kind: 'throttled'; readonly silenceMs: number }
  /** The provider blocks the template, or the channel. */
  | { readonly kind: 'blocked' }
  /** The failure brake has decided that the campaign pauses. */
  | { readonly kind: 'braked' };

export interface Classification {
  readonly outcome: MessageOutcome;
  readonly stopReason?: StopReason;
  /** The provider failed, not this message: no answer, a late one, or a server error. Counts for the circuit breaker. */
  readonly isFailure?: true;
  /** The failure is a refusal of the provider itself, "try again later". */
  readonly isAnswered?: true;
  /** The message was released without asking the provider. */
  readonly wasSent?: false;
  /** A rejection with an effect beyond its message. */
  readonly rejection?: ProviderError;
  /** The code, if the table of codes does not list it. */
  readonly unlistedCode?: number;
}

const released: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };
const maxDetailLength = 500;

/** The state of a channel's circuit breaker when an answer arrives. */
export type CircuitState =
  | 'closed'
  /** The message was on its way when the circuit opened. */
  | 'open'
  /** The message is the probe of an open circuit. */
  | 'probing';

/**
 * 1, 4, 16 and 64 min. A probe that the provider answers with "try again later" counts as an attempt; otherwise a recipient
 * that always gets this answer would be retried for ever. An hour's outage uses up no recipient's attempts.
 */
const afterProbe = { kind: 'retry', attempts: 5, firstDelayMs: 60_000, factor: 4 } as const;

/** `attempts` counts this send. */
export function classifyAnswer(
  result: SendResult,
  attempts: number,
  circuit: CircuitState = 'closed',
): Classification {
  switch (result.kind) {
    case 'accepted':
      return {
        outcome: {
          kind: 'accepted',
          providerMessageId: cleanText(result.providerMessageId),
          otherIds: result.otherIds,
        },
      };
    case 'unknown':
      return {
        outcome: { kind: 'unknown', detail: cleanText(result.cause, maxDetailLength) },
        isFailure: true,
      };
    case 'unreachable':
      // The request certainly did not leave, so it does not count as an attempt.
      return {
        outcome: released,
        ...(result.cause === 'held back' ? { wasSent: false } : { isFailure: true }),
      };
    case 'rejected':
      return classifyRejection(result, attempts, circuit);
  }
}

function classifyRejection(result: SendRejected, attempts: number, circuit: CircuitState): Classification {
  // An HTTP error outside the provider's protocol has no error code of the provider.
  const isAnswered = result.code !== result.httpStatus;
  const counts = circuit === 'closed' || (circuit === 'probing' && isAnswered);
  const action = providerErrorAction(result, counts ? attempts : 1);
  switch (action.kind) {
    case 'retry': {
      const delayMs =
        circuit === 'probing' && isAnswered
          ? Math.max(action.delayMs, retryDelayMs(afterProbe, attempts))
          : action.delayMs;
      return {
        outcome: { kind: 'released', delayMs, attempted: counts },
        isFailure: true,
        ...(isAnswered && { isAnswered }),
      };
    }
    case 'retry_recipient':
      return { outcome: { kind: 'released', delayMs: action.delayMs, attempted: true } };
    case 'throttle':
      return {
        outcome: { kind: 'released', delayMs: action.delayMs, attempted: false },
        stopReason: { kind: 'throttled', silenceMs: action.silenceMs },
      };
    case 'pause_template':
    case 'pause_channel':
      return { outcome: released, stopReason: { kind: 'blocked' }, rejection: result };
    case 'fail': {
      const reason = isAnswered ? providerReason(result.code) : 'PROVIDER_UNREACHABLE';
      return {
        outcome: {
          kind: 'failed',
          reason,
          // The provider's text may contain characters that a text column refuses.
          detail: cleanText(result.details ?? result.message, maxDetailLength),
          ...(isAnswered && { error: providerErrorOf(result) }),
          ...(action.effect === 'unsubscribe_contact' && { optedOut: true }),
        },
        // An opt-out is recorded with the outcome.
        ...(action.effect === 'report_code' && { unlistedCode: result.code }),
        ...(action.effect !== undefined && action.effect !== 'unsubscribe_contact' && { rejection: result }),
      };
    }
  }
}

export interface Rejection {
  readonly error: ProviderError;
  readonly recipient: ClaimedRecipient;
  /** The effect pauses the campaigns of the template or of the channel. */
  readonly pauses: boolean;
}

/** Applies the effects of rejections. Pauses nothing if the campaign was paused or started again since the step read it. */
export async function handleRejections(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator' | 'now' | 'secrets'>,
  context: SendingContext,
  rejections: readonly Rejection[],
): Promise<void> {
  if (rejections.length === 0) return;
  const channel = { id: context.channel_id, workspaceId: context.workspace_id };
  // A rejection from an older epoch says nothing about what was repaired since.
  const isCurrent = await isRunningEpoch(dependencies.database, context);
  for (const { error, recipient, pauses } of rejections) {
    if (pauses && !isCurrent) continue;
    await applyRefusalEffects(
      dependencies,
      { channel, template: { id: context.template_id }, recipient, isCounted: true },
      error,
    );
  }
}

export async function handleStop(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'metrics' | 'orchestrator'>,
  context: SendingContext,
  reason: StopReason,
): Promise<void> {
  if (reason.kind === 'braked') await pauseBraked(dependencies, [context.campaign_id]);
  if (reason.kind !== 'throttled') return;
  const { database, logger } = dependencies;
  const { channel_id: channelId } = context;
  logger.warn({ channelId }, 'the provider throttles the channel');
  await slowDown(database, { channelId, holdMs: reason.silenceMs });
}
