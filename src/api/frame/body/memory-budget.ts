/**
 * Limits the memory that request bodies and large answers hold in a process. A single request of a holder may take all that is
 * left. Several requests of one holder may together take no more than they leave for the others.
 */
import { HttpProblem } from '../error-envelope.ts';

export interface MemoryShare {
  /** Reserves `bytes` more; throws HttpProblem 503 if the budget does not cover them. */
  readonly take: (bytes: number) => void;
  /** Frees the share; `take` does nothing afterwards. */
  readonly release: () => void;
}

export interface MemoryBudget {
  /** Opens the share of one request; `holder` is the party that the memory counts against. */
  readonly open: (holder: string) => MemoryShare;
}

export function createMemoryBudget(most: number): MemoryBudget {
  const held = new Map<string, number>();
  let all = 0;
  return {
    open(holder) {
      let own = 0;
      let isReleased = false;
      const move = (bytes: number): void => {
        own += bytes;
        all += bytes;
        const total = (held.get(holder) ?? 0) + bytes;
        if (total === 0) held.delete(holder);
        else held.set(holder, total);
      };
      return {
        take(bytes) {
          if (isReleased) return;
          const total = held.get(holder) ?? 0;
          const left = most - all - bytes;
          if (left < 0 || (total > own && total + bytes > left)) {
            const headers = { 'Retry-After': '1' };
            throw new HttpProblem(503, 'Too much is being received and answered at the moment', headers);
          }
          move(bytes);
        },
        release() {
          isReleased = true;
          move(-own);
        },
      };
    },
  };
}
