/** Builds the event `failed` for a message without a status callback, because it was refused in the response or never sent. */
import type { MessageSource } from '../../codecs/event.ts';
import type { NewEvent } from '../webhooks/new-event.ts';

/** The provider's words for a refusal. */
export interface ProviderError {
  readonly code: number;
  readonly message: string;
  readonly details: string | null;
}

export interface FailedMessage {
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
