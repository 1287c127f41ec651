/** Long work in slices, with turns of the event loop between them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Calls `work` for the slices of a long list in turn and yields to the event loop in between. */
export async function inSlices<T>(
  list: readonly T[],
  size: number,
  work: (slice: readonly T[], from: number) => void,
): Promise<void> {
  for (let from = 0; from < list.length; from += size) {
    if (from > 0) await nextTurn();
    work(list.slice(from, from + size), from);
  }
}

const maxTurnMs = 5;

/** Returns a function to await between the steps of long work. It yields to the event loop after every 5 ms of work. */
export function createTurns(): () => Promise<void> {
  let beganAt = performance.now();
  return async () => {
    if (performance.now() - beganAt < maxTurnMs) return;
    await nextTurn();
    beganAt = performance.now();
  };
}
