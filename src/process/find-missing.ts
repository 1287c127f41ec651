/** Checks what a process needs to be ready: servers that respond, a database that belongs to it, settings that fit it. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  claimDatabase,
  findMissingAttributes,
  findWrongSettings,
} from '../commands/operations/installation.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Logger } from '../telemetry/logger.ts';
import { pendingMigrations, sqlFolder } from '../records/database/migrate.ts';
import { within } from '../concurrency/within.ts';

const checkTimeoutMs = 3_000;

/** Receives why a server counts as missing. For the log only, because the text may name its host and user. */
type Explain = (reason: string) => void;

/** Resolves to names or sentences that say what is missing; empty if nothing is. */
export type FindMissing = (explain?: Explain) => Promise<readonly string[]>;

/** Resolves within `checkTimeoutMs` to `postgres`, or `migrations` if some were not applied. */
export async function findMissingOfDatabase(
  { probeDatabase }: Pick<Dependencies, 'probeDatabase'>,
  explain?: Explain,
): Promise<readonly string[]> {
  const migrations = await inTime('postgres', pendingMigrations(probeDatabase, sqlFolder()), explain);
  if (migrations === undefined) return ['postgres'];
  return migrations.length > 0 ? ['migrations'] : [];
}

type Checked = Pick<Dependencies, 'database' | 'probeDatabase' | 'config' | 'secrets'>;

/**
 * What an API lacks: a database, or settings that fit it. It does not need Temporal: without it, an API serves requests, stores
 * callbacks and keeps campaign starts in the workflow outbox.
 */
export function findMissingOfApi(dependencies: Checked): FindMissing {
  const findWrong = untilNoneIsFound('settings', () => findWrongSettings(dependencies));
  return async (explain) => {
    const missing = await findMissingOfDatabase(dependencies, explain);
    return missing.length > 0 ? missing : findWrong(explain);
  };
}

/** What a worker lacks: what an API may lack, Temporal, its search attributes, or a database that belongs to its namespace. */
export function findMissingOfWorker(dependencies: Checked & Pick<Dependencies, 'orchestrator'>): FindMissing {
  const { orchestrator } = dependencies;
  const findWrong = untilNoneIsFound('settings', () => findWrongSettings(dependencies));
  const findAttributes = untilNoneIsFound('search attributes', () =>
    findMissingAttributes(orchestrator, checkTimeoutMs),
  );
  return async (explain) => {
    const [missing, namespace] = await Promise.all([
      findMissingOfDatabase(dependencies, explain),
      inTime('temporal', orchestrator.namespace(checkTimeoutMs), explain),
    ]);
    if (namespace === undefined) return [...missing, 'temporal'];
    if (missing.length > 0) return missing;
    const check = claimDatabase(dependencies, namespace).then((foreign) => foreign ?? '');
    const foreign = await inTime('installation', check, explain);
    if (foreign !== '') return [foreign ?? 'installation'];
    return [...(await findWrong(explain)), ...(await findAttributes(explain))];
  };
}

/** Settings change only with a restart, so they are not checked again once nothing is wrong. */
function untilNoneIsFound(name: string, find: () => Promise<readonly string[]>): FindMissing {
  let isChecked = false;
  return async (explain) => {
    if (isChecked) return [];
    const found = await inTime(name, find(), explain);
    isChecked = found?.length === 0;
    return found ?? [name];
  };
}

/** Undefined if a check fails or does not finish in time. */
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
    // The message is empty if a host has several addresses and all refuse.
    explain?.(`${name}: ${message || (cause?.code ?? String(error))}`);
    return undefined;
  }
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/**
 * Logs what is missing while a process starts, because its servers may start later: one line per change, until nothing is
 * missing. Later outages are logged by the code that encounters them.
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
