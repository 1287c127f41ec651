/** A semaphore in which neither one key (a workspace, a host) nor a few keys together can take all slots. */
export interface KeyedSemaphore {
  /**
   * Resolves to the function that releases the slot, to be called once, or to undefined if too many callers are waiting
   * already. Rejects if `signal` aborts before a slot is free.
   */
  readonly acquire: (keys: readonly Key[], signal?: AbortSignal) => Promise<(() => void) | undefined>;
}

type Key = number | string;

export interface SemaphoreLimits {
  readonly total: number;
  /**
   * Maximum number of slots per key. `'what it leaves'`: at least one, and more as long as the key does not hold more slots
   * than it leaves free.
   */
  readonly perKey: number | 'what it leaves';
  /** Maximum number of callers that wait for a slot; further ones are turned away. */
  readonly waiting: number;
  /** Maximum number of waiting callers per key; `waiting` by default. */
  readonly waitingPerKey?: number;
}

interface Waiter {
  readonly keys: readonly Key[];
  readonly admit: () => void;
}

export function createKeyedSemaphore({
  total,
  perKey,
  waiting,
  waitingPerKey = waiting,
}: SemaphoreLimits): KeyedSemaphore {
  const held = new Map<Key, number>();
  const waiters: Waiter[] = [];
  let all = 0;

  const hasSlot = (keys: readonly Key[]): boolean => all < total && keys.every(mayHoldMore);
  const mayHoldMore = (key: Key): boolean => {
    const own = held.get(key) ?? 0;
    return perKey === 'what it leaves' ? own === 0 || own + 1 <= total - all - 1 : own < perKey;
  };
  const mayWait = (keys: readonly Key[]): boolean =>
    waiters.length < waiting &&
    keys.every((key) => waiters.filter((waiter) => waiter.keys.includes(key)).length < waitingPerKey);

  const hold = (keys: readonly Key[]): (() => void) => {
    all += 1;
    for (const key of keys) held.set(key, (held.get(key) ?? 0) + 1);
    return () => release(keys);
  };

  const release = (keys: readonly Key[]): void => {
    all -= 1;
    for (const key of keys) {
      const left = (held.get(key) ?? 1) - 1;
      if (left === 0) held.delete(key);
      else held.set(key, left);
    }
    // A free slot may let several waiters in, because each key has its own limit.
    for (;;) {
      const next = waiters.findIndex((waiter) => hasSlot(waiter.keys));
      if (next === -1) return;
      waiters.splice(next, 1)[0]?.admit();
    }
  };

  return {
    async acquire(keys, signal) {
      signal?.throwIfAborted();
      if (hasSlot(keys)) return hold(keys);
      if (!mayWait(keys)) return undefined;
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          waiters.splice(waiters.indexOf(waiter), 1);
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          keys,
          admit: () => {
            signal?.removeEventListener('abort', abort);
            resolve(hold(keys));
          },
        };
        waiters.push(waiter);
        signal?.addEventListener('abort', abort, { once: true });
      });
    },
  };
}
