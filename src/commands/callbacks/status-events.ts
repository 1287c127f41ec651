import type { MessageSource, MessageStatusData } from '../../codecs/event.ts';
import { messageSources } from '../../codecs/event.ts';
import type { NewEvent } from '../../codecs/event-data.ts';
import type { StatusNotice } from './match-statuses.ts';

/** Spec 6.3: one event per status, with the provider's own object inside. */
export function statusEvents(
  notices: readonly StatusNotice[],
  { source, occurredAt }: { readonly source: string; readonly occurredAt: Date },
): readonly NewEvent[] {
  const messageSource = sourceOf(source);
  return notices.map(({ channel, raw, status, providerMessageId }) => ({
    eventKey: status,
    occurredAt,
    data: {
      status: {
        ...raw,
        id: providerMessageId,
        status,
        // Text by contract; some senders write a number, and a person known by user id alone has no number.
        timestamp: textOf(raw['timestamp']),
        recipient_id: textOf(raw['recipient_id'] ?? raw['recipient_user_id']),
      },
      phoneNumberId: channel.phoneNumberId,
      messageSource,
      providerEvent: { statuses: [raw as MessageStatusData['status']] },
    },
  }));
}

function sourceOf(source: string): MessageSource {
  return messageSources.find((known) => known === source) ?? 'unknown';
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
