/**
 * Computes the change of a message from the provider's statuses. Pure: the caller reads the record before and writes it after.
 */
import type { MessageSource } from '../../codecs/event.ts';
import {
  type ProviderStatus,
  type RecipientState,
  stateAfterStatus,
  statusBits,
} from '../campaigns/recipient.ts';
import type { NewEvent } from '../webhooks/new-event.ts';

/** One status of one message, with the fields that decide its effect. */
export interface ReportedStatus {
  readonly status: ProviderStatus;
  /** Error code and details of a `failed` status; null if the provider gives no reason. */
  readonly failure: { readonly code: number; readonly details: string | null } | null;
  readonly pricing: ReportedPricing | null;
}

export interface ReportedPricing {
  /** False: the message costs nothing. True: it costs what the card says for its category. */
  readonly billable: boolean;
  /** The provider's spelling: `marketing`, `authentication-international`, … */
  readonly category: string;
}

/**
 * Returns whether a message with these fields of `pricing` costs anything; undefined if they do not say. `type` counts before
 * `billable`, which the provider will drop.
 */
export function billableOf({
  type,
  billable,
}: {
  readonly type?: unknown;
  readonly billable?: unknown;
}): boolean | undefined {
  const named = typeof type === 'string' ? type.trim().toLowerCase() : '';
  if (named.startsWith('free_')) return false;
  if (named === 'regular') return true;
  return typeof billable === 'boolean' ? billable : undefined;
}

export interface StatusOutcome<S extends ReportedStatus> {
  readonly state: RecipientState;
  readonly statusesSeen: number;
  /** Statuses seen for the first time, in order of arrival. */
  readonly fresh: readonly S[];
  /** Why these statuses failed the message; null if they did not. */
  readonly failure: { readonly code: number; readonly details: string | null } | null;
  /** The price stated by the fresh statuses, unless a later status stated one before. */
  readonly pricing: ReportedPricing | null;
}

/**
 * Bits of `statuses_seen` for the statuses that stated a price, so that the order of arrival does not decide which one counts:
 * what `read` states beats `delivered`, and both beat `sent`. A message that failed costs nothing, whatever it states.
 */
const statedBit = (status: ProviderStatus): number => (status === 'failed' ? 0 : statusBits[status] << 4);

/** Applies statuses in any order. Idempotent: a status seen before changes nothing. */
export function foldStatuses<S extends ReportedStatus>(
  message: { readonly state: RecipientState; readonly statusesSeen: number },
  statuses: readonly S[],
): StatusOutcome<S> {
  const fresh: S[] = [];
  let { state, statusesSeen } = message;
  let failure: StatusOutcome<S>['failure'] = null;
  let pricing: ReportedPricing | null = null;
  for (const reported of statuses) {
    const bit = statusBits[reported.status];
    if ((statusesSeen & bit) !== 0) continue;
    statusesSeen |= bit;
    fresh.push(reported);
    if (reported.pricing !== null) {
      const stated = statedBit(reported.status);
      if (stated > (statusesSeen & ~0b1111)) pricing = reported.pricing;
      statusesSeen |= stated;
    }
    const next = afterStatus(state, reported.status);
    if (next === 'FAILED' && state !== 'FAILED') failure = reported.failure ?? unexplained;
    state = next;
  }
  return { state, statusesSeen, fresh, pricing, failure: state === 'FAILED' ? failure : null };
}

const unexplained = { code: 0, details: null };

/**
 * Returns the state after a status. If a recipient waits for another attempt, the response refused its message; a `failed`
 * status repeats that refusal and must not end the attempts. Any other status shows that the message was sent.
 */
function afterStatus(state: RecipientState, status: ProviderStatus): RecipientState {
  return state === 'PENDING' && status === 'failed' ? state : stateAfterStatus(state, status);
}

/** Converts a category in the provider's pricing to the category of the rate card. */
export function pricedCategory(category: string): string {
  const name = category.trim().toUpperCase().replaceAll('-', '_');
  return aliases[name] ?? name;
}

const aliases: Readonly<Record<string, string>> = {
  MARKETING_LITE: 'MARKETING',
};

// Builds the event `failed` for a message without a status callback, because it was refused in the response or never sent.

/** The provider's words for a refusal. */
export interface ProviderError {
  readonly code: number;
  readonly message: string;
  readonly details: string | null;
}

interface FailedMessage {
  readonly id: string;
  readonly providerMessageId: string | null;
  /** E.164 digits, or the provider's user id for a person without a number; '' if neither is known. */
  readonly to: string;
  /** Null for a message outside campaigns and for a campaign's test message. */
  readonly campaignId: string | null;
  readonly contactId: string | null;
  readonly phoneNumberId: string;
  readonly source: MessageSource;
  /** Null if this service failed the message; the event then shows `reason` and `detail`. */
  readonly error: ProviderError | null;
  readonly reason: string;
  readonly detail: string | null;
}

export function failedEvent(message: FailedMessage, occurredAt: Date): NewEvent {
  const status = {
    id: message.providerMessageId ?? message.id,
    status: 'failed',
    timestamp: String(Math.floor(occurredAt.getTime() / 1_000)),
    recipient_id: message.to,
    errors: [errorOf(message)],
    biz_opaque_callback_data: message.id,
  };
  return {
    eventKey: 'failed',
    occurredAt,
    data: {
      status,
      phoneNumberId: message.phoneNumberId,
      messageSource: message.source,
      messageId: message.id,
      campaignId: message.campaignId,
      contactId: message.contactId,
      providerEvent: { statuses: [status] },
    },
  };
}

/** Builds an error in the shape of the provider's status callbacks. */
function errorOf({ error, reason, detail }: FailedMessage) {
  if (error === null) return { title: reason, message: detail ?? reason };
  const { code, message, details } = error;
  return { code, title: message, message, ...(details !== null && { error_data: { details } }) };
}
