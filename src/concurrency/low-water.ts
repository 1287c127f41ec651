/**
 * Where the reading of a queue begins. Behind its first waiting entry lie those that are done; while any transaction is open,
 * Postgres cannot forget them, and every look from the beginning passes them all.
 */
export interface LowWater<K> {
  /**
   * `look` answers with the first entry that waits, from `from` on; undefined: from the beginning. Where none does, and finding
   * that out took long, the next look begins at what `recent` names: what came a moment ago may not be committed yet.
   */
  readonly find: (
    look: (from: K | undefined) => Promise<K | undefined>,
    recent: () => Promise<K | undefined>,
  ) => Promise<K | undefined>;
}

interface LowWaterOptions {
  /** Share of the time that looks from the beginning may take. They find what came late: an entry counts from its commit on. */
  readonly fullShare?: number;
  readonly now?: () => number;
}

const longMs = 5;

export function createLowWater<K>({
  fullShare = 0.05,
  now = () => performance.now(),
}: LowWaterOptions = {}): LowWater<K> {
  let mark: K | undefined;
  let nextFull = 0;
  return {
    async find(look, recent) {
      const startedAt = now();
      const isFull = startedAt >= nextFull;
      const first = await look(isFull ? undefined : mark);
      const tookMs = now() - startedAt;
      if (isFull) nextFull = now() + tookMs / fullShare;
      mark = first ?? (tookMs > longMs ? await recent() : undefined) ?? mark;
      return first;
    },
  };
}
