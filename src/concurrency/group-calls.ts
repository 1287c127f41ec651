import { setImmediate as turnOver, setTimeout as sleep } from 'node:timers/promises';

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
}

export interface Grouping<I> {
  /** Maximum number of items in a group. */
  readonly maxSize: number;
  /** A group weighs at most `maxWeight`, unless its first item alone weighs more. */
  readonly weigh?: (item: I) => number;
  readonly maxWeight?: number;
  /** Number of groups that may run at a time. */
  readonly lanes: number;
  /** Minimum time between the starts of two groups, so that groups grow under load. A single call is not delayed. */
  readonly spacingMs?: number;
}

/**
 * Turns a batch function into a function of one item. Calls made in the same event-loop turn, or while a batch is running,
 * form the next batch. The batch function must return its outputs in the order of the items.
 */
export function groupCalls<I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  { maxSize, lanes, spacingMs = 0, weigh = () => 0, maxWeight = Infinity }: Grouping<I>,
): (item: I) => Promise<O> {
  const queue: Waiting<I, O>[] = [];
  let busy = 0;
  let lastBeganAt = -Infinity;

  const takeGroup = (): readonly Waiting<I, O>[] => {
    let weight = 0;
    const end = queue.findIndex(({ item }, index) => {
      weight += weigh(item);
      return index > 0 && (index === maxSize || weight > maxWeight);
    });
    return queue.splice(0, end === -1 ? queue.length : end);
  };

  const drain = async (): Promise<void> => {
    busy += 1;
    while (queue.length > 0) {
      const restMs = lastBeganAt + spacingMs - performance.now();
      const waits = restMs > 0 && queue.length < maxSize;
      // Wait one turn. Otherwise, if one response triggers many calls, the first call would form a group of its own.
      await (waits ? sleep(restMs) : turnOver());
      const group = takeGroup();
      // Another lane has taken the items in the meantime.
      if (group.length === 0) break;
      lastBeganAt = performance.now();
      try {
        const outputs = await run(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(outputs[index] as O);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    busy -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (busy < lanes) void drain();
    });
}
