import type { Dependencies } from '../../dependencies.ts';
import { expireClaimedMessages } from '../../records/messages/outbound-messages.ts';
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';

type SweepDependencies = Pick<Dependencies, 'config' | 'database' | 'logger'>;

const limit = 500;
const idleMs = 2_000;

/** Single sends whose process died become UNKNOWN after the grace period; returns how many. */
export async function sweepMessages({ config, database, logger }: SweepDependencies): Promise<number> {
  const unknown = await expireClaimedMessages(database, { graceSeconds: config.outcomeGraceSeconds, limit });
  if (unknown > 0) logger.warn({ messages: unknown }, 'outcome of single sends unknown');
  return unknown;
}

export function startSweepingMessages(dependencies: SweepDependencies): Loop {
  return startPollingLoop({
    name: 'message sweep',
    logger: dependencies.logger,
    idleMs,
    work: async () => (await sweepMessages(dependencies)) === limit,
  });
}
