/** One run at a time for all who ask, its outcome kept for `ms` from the moment it began. */
export function rememberFor<T>(ms: number, run: () => Promise<T>): () => Promise<T> {
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
