import { setImmediate as nextTurn } from 'node:timers/promises';

/** Calls `work` for one slice of a long list after the other, with a turn of the event loop between them. */
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
