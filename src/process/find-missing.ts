/** Checks what a process needs to be ready: an API needs Postgres with its migrations, a worker also Temporal's namespace. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../dependencies.ts';
import type { Logger } from '../telemetry/logger.ts';
import { pendingMigrations } from '../records/database/migrate.ts';
import { sqlFolder } from '../records/database/sql-folder.ts';
import { within } from '../concurrency/within.ts';

const checkTimeoutMs = 3_000;

/**
 * Resolves within `checkTimeoutMs` to what an API lacks: `postgres`, or `migrations` if some were not applied. It does not need
 * Temporal: without it an API answers requests, stores callbacks and keeps starts of campaigns in the workflow outbox.
 */
export async function findMissingOfApi({
  database,
}: Pick<Dependencies, 'database'>): Promise<readonly string[]> {
  const migrations = await inTime(pendingMigrations(database, sqlFolder()));
  if (migrations === undefined) return ['postgres'];
  return migrations.length > 0 ? ['migrations'] : [];
}

/** Resolves within `checkTimeoutMs` to what a worker lacks: what an API may lack, and `temporal`. */
export async function findMissingOfWorker({
  database,
  orchestrator,
}: Pick<Dependencies, 'database' | 'orchestrator'>): Promise<readonly string[]> {
  const [missing, temporal] = await Promise.all([
    findMissingOfApi({ database }),
    inTime(orchestrator.ping(checkTimeoutMs).then(() => true)),
  ]);
  return [...missing, ...(temporal === undefined ? ['temporal'] : [])];
}

/** Undefined for a check that fails or does not answer in time. */
function inTime<T>(check: Promise<T>): Promise<T | undefined> {
  return within(checkTimeoutMs, check).catch(() => undefined);
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/**
 * Logs what is missing when a process starts, as its servers may start later: one line for each change, until nothing is
 * missing. A later outage is logged by the code that meets it.
 */
export async function reportMissing({
  logger,
  find,
}: {
  readonly logger: Logger;
  readonly find: () => Promise<readonly string[]>;
}): Promise<void> {
  let loggedNames = '';
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const missing = await find();
    const names = missing.join(', ');
    if (names !== loggedNames && names !== '') logger.warn({ missing }, 'waiting for what is missing');
    if (names !== loggedNames && names === '') logger.info('nothing is missing any more');
    loggedNames = names;
    if (names === '') return;
    await sleep(pauseMs, undefined, { ref: false });
  }
}
