/**
 * What request bodies and large answers may hold of a process's memory, over all of them. Of several that one holder has,
 * they take no more than is left for everybody else: whoever fills it alone gets half.
 */
import { HttpProblem } from '../http-problem.ts';

export interface MemoryShare {
  /** Throws HttpProblem 503 when there is no room for so many more bytes. */
  readonly take: (bytes: number) => void;
  /** What is taken afterwards is held by nobody. */
  readonly release: () => void;
}

export interface MemoryBudget {
  /** For one request. `holder`: whom the memory is counted against. */
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
