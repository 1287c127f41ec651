/** An event before it is stored. */
import type * as t from 'io-ts';
import type { eventDataCodecs } from '../../codecs/event.ts';
import type { EventKey } from './event-key.ts';

export type EventData<K extends EventKey> = t.TypeOf<(typeof eventDataCodecs)[K]>;

export type NewEvent = {
  readonly [K in EventKey]: {
    readonly eventKey: K;
    readonly data: EventData<K>;
    /** When it happened; becomes the envelope's `timestamp`. */
    readonly occurredAt: Date;
  };
}[EventKey];

/**
 * The text of the request body (Spec 6.1): serialised here once, then stored, signed and sent as it is.
 * JSON.stringify escapes NUL and lone surrogates, so that the text fits into any column and any UTF-8.
 */
export function serialiseEvent(workspaceId: number, event: NewEvent): string {
  return JSON.stringify({
    eventKey: event.eventKey,
    workspaceId,
    timestamp: event.occurredAt.toISOString(),
    data: event.data,
  });
}
