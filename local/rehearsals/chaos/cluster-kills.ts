/** Kills the hosts of a cluster one by one, then in pairs. A killed host returns once sending continues without it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../cluster/cluster.ts';
import { createRandom } from '../../simulator/protocol/random.ts';
import { readProviderTally } from '../evidence.ts';

const kinds = [
  'postgres',
  'postgres and its disk',
  'history',
  'matching',
  'frontend',
  'campaigns',
  'webhooks',
  'maintenance',
  'api',
  'haproxy',
] as const;
type Kind = (typeof kinds)[number];

/** Each kind alone, then pairs of different ones. */
function planKills(seed: number, pairs: number): readonly (readonly Kind[])[] {
  const random = createRandom(seed);
  const draw = (from: readonly Kind[]): Kind => from[Math.floor(random() * from.length)] ?? 'api';
  const drawn = Array.from({ length: pairs }, (): readonly Kind[] => {
    const first = draw(kinds);
    // The standby cannot take over from a primary while it is dead itself.
    const others = kinds.filter((kind) => kind !== first && !(isPostgres(kind) && isPostgres(first)));
    return [first, draw(others)];
  });
  return [...kinds.map((kind) => [kind]), ...drawn];
}

const isPostgres = (kind: Kind): boolean => kind.startsWith('postgres');

export interface ClusterKillContext {
  readonly cluster: Cluster;
  readonly seed: number;
  readonly pairs: number;
  /** False once everything is sent: a kill would then prove nothing. */
  readonly isSending: () => Promise<boolean>;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

const pauseLimitMs = 30_000;

/** Resolves to everything that was wrong. */
export async function runClusterKills(context: ClusterKillContext): Promise<readonly string[]> {
  const { cluster, seed, pairs, say, signal, isSending } = context;
  const random = createRandom(seed);
  const problems: string[] = [];
  for (const kill of planKills(seed, pairs)) {
    await cluster.untilWhole();
    await sleep(random() * 500, undefined, { signal });
    const names = await Promise.all(
      kill.map(async (kind) => {
        if (isPostgres(kind)) return (await cluster.primary()) ?? 'postgres-1';
        return kind === 'haproxy' ? kind : `${kind}-${random() < 0.5 ? 1 : 2}`;
      }),
    );
    if (!(await isSending())) {
      problems.push(`${kill.join(' + ')}: sending was over before`);
      break;
    }
    const dead = names.map((name, index) =>
      cluster.kill(name, { withDisk: kill[index] === 'postgres and its disk' }),
    );
    // There is only one haproxy, so it restarts at once.
    names.forEach((name, index) => name === 'haproxy' && dead[index]?.revive());
    const pauseMs = await longestPause(context);
    for (const { revive } of dead) revive();
    say(
      `${kill.join(' + ')} (${names.join(', ')}): the longest pause of sending was ${(pauseMs / 1000).toFixed(1)} s`,
    );
    if (pauseMs > pauseLimitMs)
      problems.push(`${kill.join(' + ')}: sending stood still for ${Math.round(pauseMs / 1000)} s`);
  }
  await cluster.untilWhole();
  return problems;
}

const pollMs = 250;
/** 5 s without a gap: longer than messages that were in flight when the host died take to arrive. */
const steadyMs = 5_000;
const gapMs = 2_000;

/** Returns the longest gap in the provider's arrivals, from now until sending is steady again. */
async function longestPause({ cluster, signal, isSending }: ClusterKillContext): Promise<number> {
  const startedAt = performance.now();
  let [seen, seenAt, steadySince, longest] = [-1, startedAt, startedAt, 0];
  for (;;) {
    const { accepted } = await readProviderTally(cluster.providerUrl);
    const now = performance.now();
    longest = Math.max(longest, now - seenAt);
    if (now - seenAt > gapMs) steadySince = now;
    if (accepted !== seen) [seen, seenAt] = [accepted, now];
    if (now - steadySince > steadyMs || longest > 2 * pauseLimitMs) return longest;
    if (now - startedAt > gapMs && !(await isSending())) return longest;
    await sleep(pollMs, undefined, { signal });
  }
}
