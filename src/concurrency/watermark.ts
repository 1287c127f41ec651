/**
 * The position at which polls of a queue table begin. Finished entries come before the first waiting one. Vacuum cannot
 * remove them while an older transaction is open, so a poll from the beginning would read them all.
 */
export interface Watermark<K> {
  /**
   * `poll` returns the first waiting entry at or after `from` (undefined: the beginning of the table). If there is none and the
   * poll was slow, the watermark moves to `recent`, not to the end: entries from a moment ago may not be committed yet.
   */
  readonly find: (
    poll: (from: K | undefined) => Promise<K | undefined>,
    recent: () => Promise<K | undefined>,
  ) => Promise<K | undefined>;
}

interface WatermarkOptions {
  /**
   * Share of time spent on polls from the beginning. Those find entries that were committed late and lie before the
   * watermark.
   */
  readonly fullShare?: number;
  readonly now?: () => number;
}

/** 5 ms: a poll that takes longer has read many finished entries, so the watermark is worth moving. */
const slowMs = 5;

export function createWatermark<K>({
  fullShare = 0.05,
  now = () => performance.now(),
}: WatermarkOptions = {}): Watermark<K> {
  let mark: K | undefined;
  let nextFull = 0;
  return {
    async find(poll, recent) {
      const startedAt = now();
      const isFull = startedAt >= nextFull;
      const first = await poll(isFull ? undefined : mark);
      const tookMs = now() - startedAt;
      if (isFull) nextFull = now() + tookMs / fullShare;
      mark = first ?? (tookMs > slowMs ? await recent() : undefined) ?? mark;
      return first;
    },
  };
}
