/** Classifies the provider's answer: the outcome to record, and the effect on the messages that follow. */
import { cleanText } from '../../domain/clean-text.ts';
import {
  providerErrorAction,
  retryDelayMs,
  type ProviderError,
} from '../../domain/sending/provider-error.ts';
import { providerReason } from '../../domain/campaigns/recipient.ts';
import { providerErrorOf, type SendRejected, type SendResult } from '../../provider/provider.ts';
import type { MessageOutcome } from '../../records/sending/outcomes.ts';

/** Why a step stops before its time. */
export type StopReason =
  /** The campaign was paused, cancelled or started again. */
  | { readonly kind: 'stale_epoch' }
  /** The provider asks the channel for silence. */
  | { readonly kind: 'throttled'; readonly silenceMs: number }
  /** The provider blocks the template, or the channel. */
  | { readonly kind: 'blocked' }
  /** A hundred messages in a row were malformed in the same way, so the campaign's mapping is wrong. */
  | { readonly kind: 'malformed' };

export interface Classification {
  readonly outcome: MessageOutcome;
  readonly stopReason?: StopReason;
  /** Failure of the provider, not of this message: no answer, a late one, or a server error. Counts for the circuit breaker. */
  readonly isFailure?: true;
  /** The failure is a refusal of the provider itself, "try again later". */
  readonly isAnswered?: true;
  /** The message was released here, and the provider was not asked. */
  readonly wasSent?: false;
  /** A rejection with an effect beyond its message. */
  readonly rejection?: ProviderError;
  /** The reason of a malformed message. */
  readonly malformedReason?: string;
}

const released: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };
const maxDetailLength = 500;

/** Of a channel's circuit breaker, as an answer comes. */
export type CircuitState =
  | 'closed'
  /** The message was on its way when the circuit opened. */
  | 'open'
  /** The message is the probe of an open circuit. */
  | 'probing';

/**
 * 1, 4, 16 and 64 min: a probe that the provider answers with "try again later" counts as an attempt, or a recipient that is
 * always answered so would never end. An outage of an hour uses up no recipient's attempts.
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
      // The request surely did not leave, so it does not count as an attempt.
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
        ...(action.effect !== undefined && action.effect !== 'unsubscribe_contact' && { rejection: result }),
        ...(action.mappingSuspect === true && { malformedReason: reason }),
      };
    }
  }
}
