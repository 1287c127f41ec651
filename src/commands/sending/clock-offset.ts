/** Places instants of another machine's clock on ours, as exactly as the fastest exchange with it allowed. */
export interface Exchange {
  /** On our clock. */
  readonly askedAt: number;
  /** On theirs: read between `askedAt` and `answeredAt`. */
  readonly theirs: number;
  readonly answeredAt: number;
}

// Both clocks drift; what lies within this of an earlier exchange does not contradict it.
const driftMs = 1;

/** Answers with ours − theirs. A slow exchange tells little and moves nothing, unless it proves that their clock was set. */
export function createClockOffset(): (exchange: Exchange) => number {
  let best: { readonly offset: number; readonly error: number } | undefined;
  return ({ askedAt, theirs, answeredAt }) => {
    const offset = (askedAt + answeredAt) / 2 - theirs;
    const error = (answeredAt - askedAt) / 2;
    const contradicts = best !== undefined && Math.abs(offset - best.offset) > best.error + error + driftMs;
    if (best === undefined || contradicts || error <= best.error) best = { offset, error };
    return best.offset;
  };
}
