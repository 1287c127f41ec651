/**
 * A token bucket as one number, the instant at which it would be full again (GCRA): no timers, no windows whose edge
 * lets twice the limit through.
 */
export interface BucketLimits {
  readonly perSecond: number;
  /** Tokens of a full bucket. */
  readonly burst: number;
}

export interface BucketDecision {
  readonly allowed: boolean;
  /** The bucket afterwards: milliseconds at which it is full again. */
  readonly fullAtMs: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Until one token is there; 0 when allowed. */
  readonly retryAfterMs: number;
}

/** Takes one token. `fullAtMs` undefined is a full bucket. */
export function takeToken(
  fullAtMs: number | undefined,
  nowMs: number,
  { perSecond, burst }: BucketLimits,
): BucketDecision {
  const spacingMs = 1000 / perSecond;
  const before = Math.max(fullAtMs ?? nowMs, nowMs);
  const after = before + spacingMs;
  // A thousandth of a token of slack for floating point.
  const excessMs = after - nowMs - (burst + 0.001) * spacingMs;
  const allowed = excessMs <= 0;
  const present = allowed ? after : before;
  return {
    allowed,
    fullAtMs: present,
    remaining: Math.max(0, Math.floor(burst - (present - nowMs) / spacingMs + 0.001)),
    retryAfterMs: allowed ? 0 : excessMs,
  };
}
