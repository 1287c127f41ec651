import { type MessageSource, messageSources, type MessageStatusData } from '../../codecs/event.ts';
import type { NewEvent } from '../../domain/webhooks/new-event.ts';
import type { Connection } from '../../records/database/database.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import type { StatusTarget } from '../../records/callbacks/message-statuses.ts';
import type { RoutedStatus } from './match-statuses.ts';

interface EmittedStatus {
  readonly status: RoutedStatus;
  /** Undefined for a message that is not ours. */
  readonly target?: StatusTarget;
}

/** Spec 6.3: one event per status, with the provider's own object inside. */
export async function emitStatusEvents(
  connection: Connection,
  statuses: readonly EmittedStatus[],
  occurredAt: Date,
): Promise<void> {
  const byWorkspace = new Map<number, NewEvent[]>();
  for (const { status, target } of statuses) {
    const { workspaceId } = status.channel;
    const events = byWorkspace.get(workspaceId) ?? [];
    byWorkspace.set(workspaceId, events);
    events.push(statusEvent(status, target, occurredAt));
  }
  for (const [workspaceId, events] of byWorkspace) await emitEvents(connection, workspaceId, events);
}

function statusEvent(
  { channel, raw, status, providerMessageId }: RoutedStatus,
  target: StatusTarget | undefined,
  occurredAt: Date,
): NewEvent {
  return {
    eventKey: status,
    occurredAt,
    data: {
      status: {
        ...raw,
        id: providerMessageId,
        status,
        // Both are texts by contract, but the provider may send a JSON number, and some people have no phone number.
        timestamp: textOf(raw['timestamp']),
        recipient_id: textOf(raw['recipient_id'] ?? raw['recipient_user_id']),
      },
      phoneNumberId: channel.phoneNumberId,
      messageSource: sourceOf(target?.source),
      messageId: target?.id ?? null,
      campaignId: target?.kind === 'recipient' ? target.campaign_id : null,
      contactId: target?.contact_id ?? null,
      providerEvent: { statuses: [raw as MessageStatusData['status']] },
    },
  };
}

function sourceOf(source: string | undefined): MessageSource {
  return messageSources.find((known) => known === source) ?? 'unknown';
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
