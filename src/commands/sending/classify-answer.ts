/** From the provider's answer to what is recorded of the message, and to what it means for the rest. */
import { cleanText } from '../../domain/clean-text.ts';
import { providerErrorAction } from '../../domain/sending/provider-error.ts';
import { providerReason } from '../../domain/campaigns/recipient.ts';
import { providerErrorOf, type SendRejected, type SendResult } from '../../provider/provider.ts';
import type { MessageOutcome } from '../../records/sending/outcomes.ts';

/** Classification on the messages that have not left yet. */
export type StopReason =
  /** The campaign was paused, cancelled or started again, or the step has lost its turn. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'throttled'; readonly silenceMs: number }
  /** The template's or the channel's campaigns cannot go on. */
  | { readonly kind: 'refused' }
  /** Everybody's message is malformed in the same way: what is wrong is the campaign's mapping. */
  | { readonly kind: 'mistaken' };

export interface Classification {
  readonly outcome: MessageOutcome;
  readonly stopReason?: StopReason;
  /** Not about this message: the provider answers with nonsense, not in time, with its own trouble, or not at all. */
  readonly trouble?: true;
  /** Nobody was asked: the message was held back here. */
  readonly answered?: false;
  /** A rejection that means something beyond its message. */
  readonly rejection?: { readonly code: number };
  /** The provider's code for a message that is malformed; many in a row have one cause. */
  readonly mistake?: number;
}

const afterHalt: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };
const longestDetail = 500;

/** `attempts` counts this send; null while the channel is held: then "try again later" counts as no attempt. */
export function classifyAnswer(result: SendResult, attempts: number | null): Classification {
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
      return { outcome: { kind: 'unknown', detail: cleanText(result.cause, longestDetail) }, trouble: true };
    case 'unreachable':
      // Not the recipient's fault, and surely not sent: it does not count as an attempt.
      return {
        outcome: afterHalt,
        ...(result.cause === 'held back' ? { answered: false } : { trouble: true }),
      };
    case 'rejected':
      return classifyRejection(result, attempts);
  }
}

function classifyRejection(result: SendRejected, attempts: number | null): Classification {
  const action = providerErrorAction(result, attempts ?? 1);
  switch (action.kind) {
    case 'retry':
    case 'retry_recipient':
      return {
        outcome: {
          kind: 'released',
          delayMs: action.delayMs,
          attempted: action.kind === 'retry_recipient' || attempts !== null,
        },
        ...(action.kind === 'retry' && { trouble: true }),
      };
    case 'throttle':
      return {
        outcome: { kind: 'released', delayMs: action.delayMs, attempted: false },
        stopReason: { kind: 'throttled', silenceMs: action.silenceMs },
      };
    case 'pause_template':
    case 'pause_channel':
      return { outcome: afterHalt, stopReason: { kind: 'refused' }, rejection: { code: result.code } };
    case 'fail':
      return {
        outcome: {
          kind: 'failed',
          // An HTTP error outside the provider's protocol has no code of the provider's.
          reason: result.code === result.httpStatus ? 'PROVIDER_UNREACHABLE' : providerReason(result.code),
          // The provider's words may hold what a text column cannot.
          detail: cleanText(result.details ?? result.message, longestDetail),
          ...(result.code !== result.httpStatus && { error: providerErrorOf(result) }),
        },
        ...(action.effect !== undefined && { rejection: { code: result.code } }),
        ...(action.mappingSuspect === true && { mistake: result.code }),
      };
  }
}
