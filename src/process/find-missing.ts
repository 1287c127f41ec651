/** Checks what a process needs to be ready: an API needs Postgres with its migrations, a worker also Temporal's namespace. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../dependencies.ts';
import type { Logger } from '../telemetry/logger.ts';
import { pendingMigrations } from '../records/database/migrate.ts';
import { sqlFolder } from '../records/database/sql-folder.ts';
import { within } from '../concurrency/within.ts';

const checkTimeoutMs = 3_000;

/** Takes why a server counts as missing, for the log alone: the text may name its host and user. */
type Explain = (reason: string) => void;

/**
 * Resolves within `checkTimeoutMs` to what an API lacks: `postgres`, or `migrations` if some were not applied. It does not need
 * Temporal: without it an API answers requests, stores callbacks and keeps starts of campaigns in the workflow outbox.
 */
export async function findMissingOfApi(
  { database }: Pick<Dependencies, 'database'>,
  explain?: Explain,
): Promise<readonly string[]> {
  const migrations = await inTime('postgres', pendingMigrations(database, sqlFolder()), explain);
  if (migrations === undefined) return ['postgres'];
  return migrations.length > 0 ? ['migrations'] : [];
}

/** Resolves within `checkTimeoutMs` to what a worker lacks: what an API may lack, and `temporal`. */
export async function findMissingOfWorker(
  { database, orchestrator }: Pick<Dependencies, 'database' | 'orchestrator'>,
  explain?: Explain,
): Promise<readonly string[]> {
  const [missing, temporal] = await Promise.all([
    findMissingOfApi({ database }, explain),
    inTime(
      'temporal',
      orchestrator.ping(checkTimeoutMs).then(() => true),
      explain,
    ),
  ]);
  return [...missing, ...(temporal === undefined ? ['temporal'] : [])];
}

/** Undefined for a check that fails or does not answer in time. */
async function inTime<T>(
  name: string,
  check: Promise<T>,
  explain: Explain | undefined,
): Promise<T | undefined> {
  try {
    const found = await within(checkTimeoutMs, check);
    if (found === undefined) explain?.(`${name}: no answer within ${checkTimeoutMs} ms`);
    return found;
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
    // The message is empty where a host has several addresses and all refuse.
    explain?.(`${name}: ${message || (cause?.code ?? String(error))}`);
    return undefined;
  }
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
  readonly find: (explain: Explain) => Promise<readonly string[]>;
}): Promise<void> {
  let loggedNames = '';
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const reasons: string[] = [];
    const missing = await find((reason) => reasons.push(reason));
    const names = missing.join(', ');
    if (names !== loggedNames && names !== '')
      logger.warn({ reasons, missing }, 'waiting for what is missing');
    if (names !== loggedNames && names === '') logger.info('nothing is missing any more');
    loggedNames = names;
    if (names === '') return;
    await sleep(pauseMs, undefined, { ref: false });
  }
}
