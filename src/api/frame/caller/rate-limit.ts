/**
 * Token buckets in the memory of each process, for requests per API key and refused credentials per address. They use the
 * monotonic clock, so that a change of the wall clock blocks no client.
 */
import { TokenBucket } from 'limiter';
import { HttpProblem } from '../error-envelope.ts';

export interface RateLimits {
  readonly perSecond: number;
  /** Tokens of a full bucket. */
  readonly burst: number;
}

export interface RateLimiter {
  /** The headers of an allowed request; HttpProblem 429 for one too many. */
  readonly take: (key: string) => Readonly<Record<string, string>>;
  /** Adds to the cost of a request afterwards (negative: refunds). A bucket may go below zero; later requests then wait. */
  readonly charge: (key: string, tokens: number) => void;
}

const mostBuckets = 50_000;

export function createRateLimiter({ perSecond, burst }: RateLimits): RateLimiter {
  const buckets = new Map<string, TokenBucket>();

  const makeRoom = () => {
    for (const [key, bucket] of buckets) if (secondsToFull(bucket) === 0) buckets.delete(key);
    // All buckets are in use: dropping them is better than growing without bound.
    if (buckets.size >= mostBuckets) buckets.clear();
  };

  const bucketOf = (key: string): TokenBucket => {
    const known = buckets.get(key);
    if (known !== undefined) return known;
    if (buckets.size >= mostBuckets) makeRoom();
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: 'second' });
    bucket.content = burst;
    buckets.set(key, bucket);
    return bucket;
  };

  const limit = String(burst);
  const policy = `${perSecond};w=1;burst=${burst}`;
  return {
    take(key) {
      const bucket = bucketOf(key);
      const allowed = bucket.tryRemoveTokens(1);
      const headers = {
        'RateLimit-Limit': limit,
        'RateLimit-Remaining': String(Math.max(0, Math.floor(bucket.content))),
        'RateLimit-Reset': String(secondsToFull(bucket)),
        'RateLimit-Policy': policy,
      };
      if (allowed) return headers;
      const retryAfter = String(Math.max(1, Math.ceil(bucket.getWaitTime(1) / 1000)));
      throw new HttpProblem(429, 'Too many requests', { ...headers, 'Retry-After': retryAfter });
    },
    charge(key, tokens) {
      const bucket = bucketOf(key);
      bucket.drip();
      bucket.content = Math.min(burst, bucket.content - tokens);
    },
  };
}

function secondsToFull(bucket: TokenBucket): number {
  bucket.drip();
  return Math.ceil((bucket.bucketSize - bucket.content) / bucket.tokensPerInterval);
}
