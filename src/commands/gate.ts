/** At most `limit` pieces of work at a time; the others wait in the order they came. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(limit: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) {
      const turn = Promise.withResolvers<undefined>();
      waiting.push(() => turn.resolve(undefined));
      await turn.promise;
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
