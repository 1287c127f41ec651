/** Work under way, ahead of which its maker may run so far and no further. */
export interface Backlog {
  /** Resolves when more may be added. Throws what an earlier work failed with. */
  readonly add: (work: Promise<void>) => Promise<void>;
  /** All of it is done. */
  readonly settle: () => Promise<void>;
}

/** Of `most` works at a time, which end in the order in which they were added. */
export function createBacklog(most: number): Backlog {
  const underWay: Promise<void>[] = [];
  return {
    async add(work) {
      // Whoever comes next learns of a failure; until then it must not count as unhandled.
      work.catch(() => undefined);
      underWay.push(work);
      if (underWay.length > most) await underWay.shift();
    },
    async settle() {
      for (const work of underWay.splice(0)) await work;
    },
  };
}
