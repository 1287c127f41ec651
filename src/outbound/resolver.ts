import { NODATA, NOTFOUND, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';

type ResolveProblem = 'not_found' | 'dns_error' | 'dns_timeout';

export type ResolveResult =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly problem: ResolveProblem };

/** Looks a name up in the DNS. Never rejects. */
export type ResolveHost = (host: string) => Promise<ResolveResult>;

export interface ResolverOptions {
  /** `address` or `address:port`; by default the name servers of the machine. */
  readonly servers?: readonly string[];
  /** Time limit of a lookup, including all attempts and both address families. */
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

interface Answer {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
  readonly problem?: ResolveProblem;
}

interface CacheEntry {
  readonly result: Promise<ResolveResult>;
  expiresAt: number;
}

const defaultTimeoutMs = 3000;
/** How long the result for one address family waits for the other, in ms. */
const otherFamilyGraceMs = 300;
const tryTimeoutMs = 900;
const maxCacheMs = 30_000;
const failureCacheMs = 1000;
const maxCacheEntries = 5000;
const maxAnswers = 256;

async function query(lookup: Promise<readonly { address: string; ttl: number }[]>): Promise<Answer> {
  try {
    const records = await lookup;
    const ttlSeconds = records.reduce((least, { ttl }) => Math.min(least, ttl), Number.POSITIVE_INFINITY);
    return { addresses: records.map(({ address }) => address), ttlSeconds };
  } catch (error) {
    return { addresses: [], ttlSeconds: 0, problem: problemOf((error as NodeJS.ErrnoException).code) };
  }
}

function problemOf(code: string | undefined): ResolveProblem {
  if (code === NOTFOUND || code === NODATA) return 'not_found';
  return code === TIMEOUT ? 'dns_timeout' : 'dns_error';
}

/** A name without addresses is unknown only if the lookups of both address families say so. */
function worst(answers: readonly Answer[]): ResolveProblem {
  const problems = answers.map(({ problem }) => problem);
  if (problems.every((problem) => problem === 'not_found')) return 'not_found';
  return problems.includes('dns_timeout') ? 'dns_timeout' : 'dns_error';
}

function combine(answers: readonly Answer[]): { result: ResolveResult; ttlSeconds: number } {
  const addresses = answers.flatMap((answer) => answer.addresses);
  const ttlSeconds = answers
    .filter((answer) => answer.addresses.length > 0)
    .reduce((least, answer) => Math.min(least, answer.ttlSeconds), Number.POSITIVE_INFINITY);
  if (addresses.length > 0 && addresses.length <= maxAnswers) {
    return { result: { ok: true, addresses }, ttlSeconds };
  }
  return { result: { ok: false, problem: worst(answers) }, ttlSeconds: 0 };
}

interface Timer {
  readonly elapsed: Promise<undefined>;
  readonly stop: () => void;
}

function startTimer(ms: number): Timer {
  let handle: NodeJS.Timeout;
  const elapsed = new Promise<undefined>((resolve) => {
    handle = setTimeout(() => resolve(undefined), ms);
  });
  return { elapsed, stop: () => clearTimeout(handle) };
}

/** Waits for both families, but only briefly for the second once the first has addresses. */
async function bothFamilies(lookups: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const collected = lookups.map(async (lookup) => {
    const answer = await lookup;
    answers.push(answer);
    return answer;
  });
  const first = await Promise.race(collected);
  if (first.addresses.length === 0) return Promise.all(collected);
  const grace = startTimer(otherFamilyGraceMs);
  await Promise.race([Promise.all(collected), grace.elapsed]);
  grace.stop();
  return answers;
}

/**
 * Creates a resolver based on c-ares. `dns.lookup` would use the four threads that file access shares, so one tenant with a
 * dead name server would block them all. The hosts file is not read. Simultaneous lookups of a name share one request.
 */
export function createResolver(options: ResolverOptions = {}): ResolveHost {
  const now = options.now ?? (() => performance.now());
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries: 3 });
  if (options.servers !== undefined && options.servers.length > 0) resolver.setServers(options.servers);
  const cache = new Map<string, CacheEntry>();

  async function lookUp(host: string, keepFor: (ms: number) => void): Promise<ResolveResult> {
    const deadline = startTimer(timeoutMs);
    const answers = await Promise.race([
      bothFamilies([
        query(resolver.resolve4(host, { ttl: true })),
        query(resolver.resolve6(host, { ttl: true })),
      ]),
      deadline.elapsed,
    ]);
    deadline.stop();
    if (answers === undefined) {
      keepFor(failureCacheMs);
      return { ok: false, problem: 'dns_timeout' };
    }
    const { result, ttlSeconds } = combine(answers);
    keepFor(result.ok ? Math.min(ttlSeconds * 1000, maxCacheMs) : failureCacheMs);
    return result;
  }

  return (host) => {
    const cached = cache.get(host);
    if (cached !== undefined && cached.expiresAt > now()) return cached.result;
    if (cache.size >= maxCacheEntries) cache.clear();
    const entry: CacheEntry = {
      result: lookUp(host, (ms) => {
        entry.expiresAt = now() + ms;
      }),
      expiresAt: Number.POSITIVE_INFINITY,
    };
    cache.set(host, entry);
    return entry.result;
  };
}
