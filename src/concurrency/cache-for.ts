/** Caches the outcome of `run`, including a rejection, for `ms` from its start. Overlapping calls share one run. */
export function cacheFor<T>(ms: number, run: () => Promise<T>): () => Promise<T> {
  let last: { readonly outcome: Promise<T>; staleAt: number } | undefined;
  return () => {
    if (last !== undefined && performance.now() < last.staleAt) return last.outcome;
    const outcome = run();
    const present = { outcome, staleAt: Infinity };
    const beganAt = performance.now();
    const settle = () => {
      present.staleAt = beganAt + ms;
    };
    outcome.then(settle, settle);
    last = present;
    return outcome;
  };
}
