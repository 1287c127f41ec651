/** An event before it is stored. */
import type * as t from 'io-ts';
import type { eventDataCodecs } from '../../codecs/event.ts';
import { maxPayloadBytes } from './delivery.ts';
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

/** The end of the text of an event whose data is left out because its deliveries could not carry it. */
export const tooLargeEnd = '"data":{"too_large":true}}';

/**
 * The text of the request body (Spec 6.1): serialised here once, then stored, signed and sent as it is. One that no delivery
 * could carry keeps its envelope alone, so that what is stored has a bound; its deliveries fail as `payload_too_large`.
 * JSON.stringify escapes NUL and lone surrogates, so that the text fits into any column and any UTF-8.
 */
export function serialiseEvent(workspaceId: number, event: NewEvent): string {
  const envelope = {
    eventKey: event.eventKey,
    workspaceId,
    timestamp: event.occurredAt.toISOString(),
  };
  const text = JSON.stringify({ ...envelope, data: event.data });
  if (Buffer.byteLength(text) <= maxPayloadBytes) return text;
  return `${JSON.stringify(envelope).slice(0, -1)},${tooLargeEnd}`;
}
