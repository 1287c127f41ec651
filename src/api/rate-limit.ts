/** Requests per API key, and failing credentials per address. Counted in the memory of each process. */
import { takeToken, type BucketDecision, type BucketLimits } from '../domain/token-bucket.ts';
import { HttpProblem } from './http-problem.ts';

export interface RateLimiter {
  /** The headers of an allowed request; HttpProblem 429 for one too many. */
  readonly take: (key: string) => Readonly<Record<string, string>>;
}

const mostBuckets = 50_000;

export function createRateLimiter(limits: BucketLimits, now: () => Date): RateLimiter {
  const fullAt = new Map<string, number>();
  const { perSecond, burst } = limits;
  const fixed = {
    'RateLimit-Limit': String(burst),
    'RateLimit-Policy': `${perSecond};w=1;burst=${burst}`,
  };

  const sweep = (nowMs: number) => {
    for (const [key, instant] of fullAt) if (instant <= nowMs) fullAt.delete(key);
    // Still crowded by callers of this very moment: forgetting all of them is better than growing.
    if (fullAt.size > mostBuckets) fullAt.clear();
  };

  /** A bucket that would be full later than an empty one is of before the clock was set back. */
  const knownAt = (key: string, nowMs: number): number | undefined => {
    const instant = fullAt.get(key);
    const latest = nowMs + (limits.burst / limits.perSecond) * 1_000;
    return instant === undefined ? undefined : Math.min(instant, latest);
  };

  return {
    take(key) {
      const nowMs = now().getTime();
      const decision = takeToken(knownAt(key, nowMs), nowMs, limits);
      fullAt.set(key, decision.fullAtMs);
      if (fullAt.size > mostBuckets) sweep(nowMs);
      const headers = { ...fixed, ...standingOf(decision, nowMs) };
      if (decision.allowed) return headers;
      const retryAfter = String(Math.max(1, Math.ceil(decision.retryAfterMs / 1000)));
      throw new HttpProblem(429, 'Too many requests', { ...headers, 'Retry-After': retryAfter });
    },
  };
}

function standingOf({ fullAtMs, remaining }: BucketDecision, nowMs: number) {
  return {
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(Math.ceil((fullAtMs - nowMs) / 1000)),
  };
}
