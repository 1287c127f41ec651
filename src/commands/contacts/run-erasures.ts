/** The second part of an erasure: clears the person's data from events, deliveries, callbacks and statuses. */
import { errorName, startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  advanceErasure,
  coverRowsAhead,
  endErasure,
  eraseCallbacks,
  eraseEvents,
  eraseLateTraces,
  eraseStatusesAndAnswers,
  type Erasure,
  findFirstDay,
  isKnownToPreparation,
  limitSlice,
  lockErasure,
  postponeErasure,
} from '../../records/contacts/erasure-job.ts';
import type { Connection } from '../../records/database/database.ts';
import { isDatabaseAway, isStatementTooLong } from '../../records/database/failure.ts';
import { startOfDay } from '../../records/database/id-bounds.ts';

type ErasureDependencies = Pick<Dependencies, 'database' | 'logger'>;

const idleMs = 2_000;
/** 5 s: by then, transactions that read the contact before the erasure was requested have committed their events. */
const afterSeconds = 5;
/** 2 s until an erasure checks again for a callback that waits to be applied; other erasures advance meanwhile. */
const callbackDelaySeconds = 2;
const preparationDelaySeconds = 2;
/** 60 s until a failed step is retried; other erasures advance meanwhile. */
const failureDelaySeconds = 60;
/** 10 s until a step that took too long is retried with half the rows. */
const halvedDelaySeconds = 10;

/**
 * Clears the next slice of one erasure, from the earliest row up to the request, and records its progress in the same
 * transaction, so that a process that dies loses one step. A step that fails is postponed; one that takes too long is retried
 * with half the rows. Returns false if no step is due.
 */
export async function stepErasure(dependencies: ErasureDependencies, after: number): Promise<boolean> {
  const { database, logger } = dependencies;
  let erasure: Erasure | undefined;
  try {
    return await database.transaction(async (transaction) => {
      erasure = await lockErasure(transaction, after);
      if (erasure === undefined) return false;
      await clearNextSlice(dependencies, transaction, erasure);
      return true;
    });
  } catch (error) {
    if (erasure === undefined || isDatabaseAway(error)) throw error;
    const { workspaceId, contactId } = erasure;
    const halve = isStatementTooLong(error);
    const delaySeconds = halve ? halvedDelaySeconds : failureDelaySeconds;
    await postponeErasure(database, erasure, { delaySeconds, halve });
    logger.error({ workspaceId, contactId, error: errorName(error) }, 'step of an erasure failed');
    return true;
  }
}

async function clearNextSlice(
  { logger }: ErasureDependencies,
  transaction: Connection,
  erasure: Erasure,
): Promise<void> {
  const { workspaceId, contactId, clearedUntil } = erasure;
  let { requestedAt } = erasure;
  if (clearedUntil === null) {
    if (await isKnownToPreparation(transaction, erasure))
      return postponeErasure(transaction, erasure, { delaySeconds: preparationDelaySeconds });
    await eraseLateTraces(transaction, erasure);
    requestedAt = await coverRowsAhead(transaction, erasure);
  }
  const from = clearedUntil ?? (await findFirstDay(transaction)) ?? requestedAt;
  if (from >= requestedAt) {
    await endErasure(transaction, erasure);
    logger.info({ workspaceId, contactId }, 'person erased');
    return;
  }
  const endOfDay = startOfDay(from.getTime(), 1);
  const to = endOfDay < requestedAt ? endOfDay : requestedAt;
  const slice = await limitSlice(transaction, { from, to }, erasure.halvings);
  await eraseEvents(transaction, erasure, slice);
  await eraseStatusesAndAnswers(transaction, erasure, slice);
  const complete = await eraseCallbacks(transaction, erasure, slice);
  await advanceErasure(transaction, erasure, {
    clearedUntil: complete ? slice.to : from,
    delaySeconds: complete ? 0 : callbackDelaySeconds,
  });
}

/** Polling loop of a worker. */
export function startErasing(dependencies: ErasureDependencies): Loop {
  return startPollingLoop({
    name: 'erasures',
    logger: dependencies.logger,
    idleMs,
    work: () => stepErasure(dependencies, afterSeconds),
  });
}
