/** Limits how many tasks run at once: `add` waits for the oldest task when the queue is full. */
export interface BoundedQueue {
  /** Resolves when another task may be added. Rejects with the error of an earlier task. */
  readonly add: (work: Promise<void>) => Promise<void>;
  /** Resolves when all tasks have ended. */
  readonly settle: () => Promise<void>;
}

/**
 * When `add` resolves, at most `most` tasks are running. `add` and `settle` wait for tasks in the order in which they were
 * added.
 */
export function createBoundedQueue(most: number): BoundedQueue {
  const underWay: Promise<void>[] = [];
  return {
    async add(work) {
      // A later `add` or `settle` receives the rejection; until then Node must not report it as unhandled.
      work.catch(() => undefined);
      underWay.push(work);
      if (underWay.length > most) await underWay.shift();
    },
    async settle() {
      for (const work of underWay.splice(0)) await work;
    },
  };
}
