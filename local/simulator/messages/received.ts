import { createCountTable, type CountTable } from '../protocol/count-table.ts';

/** A send request and its result. */
export interface ReceivedMessage {
  readonly at: number;
  readonly phoneNumberId: string;
  readonly to: string;
  readonly callbackData: string;
  /** By the endpoint for marketing messages. */
  readonly marketing: boolean;
  /** Null when the message was not accepted. */
  readonly providerMessageId: string | null;
  /** The code of a refusal, or `accepted`, or the name of a fault. */
  readonly outcome: string;
  readonly body: unknown;
}

/** Everything the simulator was asked to send: counts for all of it, the last ones in full. */
export interface ReceivedMessages {
  record(message: ReceivedMessage): void;
  /** Counts a message that was accepted before a restart. */
  restore(message: { readonly at: number; readonly to: string; readonly callbackData: string }): void;
  readonly recipients: CountTable;
  summary(): MessageSummary;
  /** Newest last. */
  recent(limit: number, filter: RecentFilter): readonly ReceivedMessage[];
  /** Accepted messages in each interval of `bucketMs` (a multiple of 100), and in the busiest second. */
  rate(bucketMs: number): MessageRate;
}

export interface RecentFilter {
  readonly to?: string;
  readonly callbackData?: string;
}

export interface MessageSummary {
  /** Send requests that could be read. */
  readonly received: number;
  /** Accepted messages, even where the answer did not reach the caller. */
  readonly accepted: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly distinctRecipients: number;
  /** Recipients with more than one accepted message. */
  readonly repeatedRecipients: number;
  readonly distinctCallbackData: number;
  /** Values of the callback data with more than one accepted message: a message was sent twice. */
  readonly repeatedCallbackData: number;
}

export interface MessageRate {
  readonly bucketMs: number;
  readonly buckets: readonly { readonly at: number; readonly count: number }[];
  /** The most messages in any ten consecutive spans of 100 ms. */
  readonly busiestSecond: number;
}

const recentSize = 2000;
const spanMs = 100;
/** About a day of sending without a pause. */
const maxSpans = 864_000;

export function createReceivedMessages(): ReceivedMessages {
  const recipients = createCountTable();
  const callbackData = createCountTable();
  const outcomes: Record<string, number> = {};
  const spans = new Map<number, number>();
  const ring: ReceivedMessage[] = [];
  let received = 0;
  let accepted = 0;

  const take = (at: number, to: string, data: string): void => {
    accepted += 1;
    recipients.add(to);
    if (data !== '') callbackData.add(data);
    const span = Math.floor(at / spanMs);
    spans.set(span, (spans.get(span) ?? 0) + 1);
    if (spans.size > maxSpans) spans.delete(spans.keys().next().value ?? 0);
  };

  return {
    recipients,
    record: (message) => {
      ring[received % recentSize] = message;
      received += 1;
      outcomes[message.outcome] = (outcomes[message.outcome] ?? 0) + 1;
      if (message.providerMessageId !== null) take(message.at, message.to, message.callbackData);
    },
    restore: (message) => take(message.at, message.to, message.callbackData),
    summary: () => ({
      received,
      accepted,
      outcomes: { ...outcomes },
      distinctRecipients: recipients.distinct,
      repeatedRecipients: recipients.repeated,
      distinctCallbackData: callbackData.distinct,
      repeatedCallbackData: callbackData.repeated,
    }),
    recent: (limit, { to, callbackData: data }) => {
      const start = received > recentSize ? received % recentSize : 0;
      const ordered = [...ring.slice(start), ...ring.slice(0, start)];
      const matches = ordered.filter(
        (message) =>
          (to === undefined || message.to === to) && (data === undefined || message.callbackData === data),
      );
      return limit === 0 ? [] : matches.slice(-limit);
    },
    rate: (bucketMs) => rateOf(spans, bucketMs),
  };
}

function rateOf(spans: ReadonlyMap<number, number>, bucketMs: number): MessageRate {
  const buckets = new Map<number, number>();
  let busiestSecond = 0;
  for (const [span, count] of spans) {
    const at = Math.floor((span * spanMs) / bucketMs) * bucketMs;
    buckets.set(at, (buckets.get(at) ?? 0) + count);
    let second = 0;
    for (let offset = 0; offset < 1000 / spanMs; offset += 1) second += spans.get(span + offset) ?? 0;
    busiestSecond = Math.max(busiestSecond, second);
  }
  const ordered = [...buckets].toSorted(([first], [second]) => first - second);
  return { bucketMs, buckets: ordered.map(([at, count]) => ({ at, count })), busiestSecond };
}
