/** What a process cannot work without, and whether it is there: Postgres, its migrations, Temporal and the namespace. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../dependencies.ts';
import type { Logger } from '../telemetry/logger.ts';
import { pendingMigrations } from '../records/database/migrate.ts';
import { sqlFolder } from '../records/database/sql-folder.ts';
import { within } from '../concurrency/within.ts';

const checkTimeoutMs = 3_000;

/** Names what is missing; answers within `checkTimeoutMs`. */
export async function findMissing({
  database,
  orchestrator,
}: Pick<Dependencies, 'database' | 'orchestrator'>): Promise<readonly string[]> {
  const [migrations, temporal] = await Promise.all([
    inTime(pendingMigrations(database, sqlFolder())),
    inTime(orchestrator.ping(checkTimeoutMs).then(() => true)),
  ]);
  return [
    ...(migrations === undefined ? ['postgres'] : []),
    ...(migrations !== undefined && migrations.length > 0 ? ['migrations'] : []),
    ...(temporal === undefined ? ['temporal'] : []),
  ];
}

/** Undefined for a check that fails or does not answer in time. */
function inTime<T>(check: Promise<T>): Promise<T | undefined> {
  return within(checkTimeoutMs, check).catch(() => undefined);
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/**
 * For the start of a process, which may come before that of its servers: says in the log what is missing, again when that
 * changes, and when nothing is any more. Then it ends; what goes away later is told by whoever needs it.
 */
export async function reportMissing({
  logger,
  find,
}: {
  readonly logger: Logger;
  readonly find: () => Promise<readonly string[]>;
}): Promise<void> {
  let told = '';
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const missing = await find();
    const names = missing.join(', ');
    if (names !== told && names !== '') logger.warn({ missing }, 'waiting for what is missing');
    if (names !== told && names === '') logger.info('nothing is missing any more');
    told = names;
    if (names === '') return;
    await sleep(pauseMs, undefined, { ref: false });
  }
}
