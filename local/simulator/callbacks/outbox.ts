import { setTimeout as sleep } from 'node:timers/promises';
import { statusesBody, type Receipt } from './bodies.ts';
import type { CallbackSender } from './sender.ts';
import type { CallbackSettings } from './settings.ts';
import { createRandom } from '../protocol/random.ts';

/** Due statuses, sent in batches until the receiver answers 200. */
export interface CallbackOutbox {
  add(receipt: Receipt): void;
  /** Starts as many callbacks as the settings allow. */
  pump(): void;
  counts(): OutboxCounts;
  /** Drops waiting statuses; a callback in flight is not repeated. */
  clear(): void;
}

export interface OutboxCounts {
  /** Statuses that are due and that the receiver has not yet answered with 200. */
  readonly waiting: number;
  readonly told: number;
  /** Callbacks that were not answered with 200. */
  readonly failedPosts: number;
  /** Given up because too many were waiting. */
  readonly dropped: number;
}

const maxWaiting = 2_000_000;
const longestRetryMs = 60_000;
/** Sent entries are removed from the list in blocks of this size, since removing each one would copy the list. */
const cutAfter = 100_000;

export function createCallbackOutbox(
  sender: CallbackSender,
  settings: () => CallbackSettings,
): CallbackOutbox {
  const random = createRandom(1);
  let waiting: Receipt[] = [];
  let taken = 0;
  let underWay = 0;
  let cancel = new AbortController();
  const counts = { posting: 0, told: 0, failedPosts: 0, dropped: 0 };

  const takeBatch = (): readonly Receipt[] => {
    const batch = waiting.slice(taken, taken + settings().batchSize);
    taken += batch.length;
    if (taken === waiting.length || taken > cutAfter) {
      waiting = waiting.slice(taken);
      taken = 0;
    }
    return batch;
  };

  const disturb = (batch: readonly Receipt[]): readonly Receipt[] => {
    const { duplicateRate, shuffle } = settings();
    const disturbed = batch.flatMap((receipt) => (random() < duplicateRate ? [receipt, receipt] : [receipt]));
    return shuffle ? shuffled(disturbed, random) : disturbed;
  };

  const deliver = async (batch: readonly Receipt[], signal: AbortSignal): Promise<void> => {
    const body = statusesBody(disturb(batch));
    let delayMs = settings().retryDelayMs;
    while (!signal.aborted) {
      if ((await sender.post(body)) === 200) {
        counts.told += batch.length;
        return;
      }
      counts.failedPosts += 1;
      await sleep(delayMs, undefined, { ref: false, signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, longestRetryMs);
    }
  };

  const pump = (): void => {
    while (underWay < settings().concurrency && waiting.length > taken) {
      const batch = takeBatch();
      underWay += 1;
      counts.posting += batch.length;
      void deliver(batch, cancel.signal).finally(() => {
        underWay -= 1;
        counts.posting -= batch.length;
        pump();
      });
    }
  };

  return {
    add: (receipt) => {
      if (waiting.length - taken >= maxWaiting) counts.dropped += 1;
      else waiting.push(receipt);
    },
    pump,
    counts: () => {
      const { posting, told, failedPosts, dropped } = counts;
      return { waiting: waiting.length - taken + posting, told, failedPosts, dropped };
    },
    clear: () => {
      cancel.abort();
      cancel = new AbortController();
      waiting = [];
      taken = 0;
      Object.assign(counts, { told: 0, failedPosts: 0, dropped: 0 });
    },
  };
}

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  return list
    .map((item) => ({ item, place: random() }))
    .toSorted((first, second) => first.place - second.place)
    .map(({ item }) => item);
}
