/** Places for long work, of which no owner takes all. */
export interface Places {
  /**
   * Resolves with what gives the place back, to be called once; undefined when there is none and enough others wait for
   * one already.
   */
  readonly take: (owner: number | string) => Promise<(() => void) | undefined>;
}

export interface PlaceLimits {
  readonly total: number;
  readonly perOwner: number;
  readonly waiting: number;
}

interface Waiter {
  readonly owner: number | string;
  readonly admit: () => void;
}

export function createPlaces({ total, perOwner, waiting }: PlaceLimits): Places {
  const taken = new Map<number | string, number>();
  const waiters: Waiter[] = [];
  let all = 0;

  const hasRoom = (owner: number | string): boolean => all < total && (taken.get(owner) ?? 0) < perOwner;

  const enter = (owner: number | string): (() => void) => {
    all += 1;
    taken.set(owner, (taken.get(owner) ?? 0) + 1);
    return () => leave(owner);
  };

  const leave = (owner: number | string): void => {
    all -= 1;
    const left = (taken.get(owner) ?? 1) - 1;
    if (left === 0) taken.delete(owner);
    else taken.set(owner, left);
    const next = waiters.findIndex((waiter) => hasRoom(waiter.owner));
    if (next !== -1) waiters.splice(next, 1)[0]?.admit();
  };

  return {
    async take(owner) {
      if (hasRoom(owner)) return enter(owner);
      if (waiters.length >= waiting) return undefined;
      return new Promise((resolve) => {
        waiters.push({ owner, admit: () => resolve(enter(owner)) });
      });
    },
  };
}
