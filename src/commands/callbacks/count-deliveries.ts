/** Finds out how statuses change what was delivered on each day, and what that cost. */
import { pricedCategory, type ReportedPricing } from '../../domain/callbacks/message-status.ts';
import { statusBits } from '../../domain/campaigns/recipient.ts';
import type { LockedMessage, StatusTarget } from '../../records/callbacks/message-statuses.ts';
import type { Delivered } from '../../records/wallet/comparison.ts';

interface Reported {
  readonly target: StatusTarget;
  readonly before: LockedMessage;
  /** With its price after the statuses. */
  readonly after: LockedMessage;
  readonly pricing: ReportedPricing | null;
  /** When it was delivered. */
  readonly at: Date;
}

export const hasArrived = ({ state }: Pick<LockedMessage, 'state'>): boolean =>
  state === 'DELIVERED' || state === 'READ';

/** 15 minutes: every time zone's midnight is a multiple of it. */
const spanMs = 15 * 60 * 1_000;
/** Bits of a `delivered` and a `read` that stated a price. */
const statedArrival = (statusBits.delivered | statusBits.read) << 4;

/**
 * A message counts once it has arrived, in the category that its arrival stated, or else in that of its template. A price that becomes
 * known later moves it.
 */
export function deliveriesOf(reported: readonly Reported[]): readonly Delivered[] {
  const sums = new Map<string, Delivered>();
  const add = ({ messages, cost, ...line }: Delivered): void => {
    const key = Object.values(line).join(' ');
    const known = sums.get(key);
    sums.set(key, {
      ...line,
      messages: (known?.messages ?? 0) + messages,
      cost: (known?.cost ?? 0n) + cost,
    });
  };
  for (const { target, before, after, pricing, at } of reported) {
    if (!hasArrived(after)) continue;
    const stated = pricing === null ? null : pricedCategory(pricing.category).slice(0, 100);
    // What `sent` stated does not count: it may come before the arrival or after it.
    const categoryOf = ({ statuses_seen: seen }: LockedMessage) =>
      (seen & statedArrival) === 0 ? null : stated;
    const lineOf = (message: LockedMessage, when: Date) => ({
      channelId: target.channel_id,
      at: new Date(Math.floor(when.getTime() / spanMs) * spanMs),
      category: categoryOf(message),
      templateId: categoryOf(message) === null ? target.template_id : null,
      country: target.country,
      isFree: message.price === 0n,
    });
    if (hasArrived(before)) {
      if (stated === null) continue;
      add({ ...lineOf(before, before.arrived_at ?? at), messages: -1, cost: -before.price });
    }
    add({ ...lineOf(after, at), messages: 1, cost: after.price });
  }
  return [...sums.values()].filter(({ messages, cost }) => messages !== 0 || cost !== 0n);
}
