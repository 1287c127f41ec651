/** Bounds how much work is under way: `add` waits for the oldest once there are too many. */
export interface Backlog {
  /** Resolves when more may be added. Throws what an earlier work failed with. */
  readonly add: (work: Promise<void>) => Promise<void>;
  /** All of it is done. */
  readonly settle: () => Promise<void>;
}

/** At most `most` at a time; they end in the order in which they were added. */
export function createBacklog(most: number): Backlog {
  const underWay: Promise<void>[] = [];
  return {
    async add(work) {
      // The next caller gets the failure; until then Node must not count it as unhandled.
      work.catch(() => undefined);
      underWay.push(work);
      if (underWay.length > most) await underWay.shift();
    },
    async settle() {
      for (const work of underWay.splice(0)) await work;
    },
  };
}
