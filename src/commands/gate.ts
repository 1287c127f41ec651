/** At most `limit` pieces of work at a time; the others wait in the order they came. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(limit: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) {
      // oxlint-disable-next-line promise/avoid-new -- resolved by whoever leaves
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
