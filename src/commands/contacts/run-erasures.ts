/** The second part of an erasure: clears what names the person in events, deliveries, callbacks and statuses. */
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  advanceErasure,
  coverRowsAhead,
  endErasure,
  eraseCallbacks,
  eraseEvents,
  eraseStatusesAndAnswers,
  findFirstDay,
  limitSlice,
  lockErasure,
} from '../../records/contacts/erasure-job.ts';
import { startOfDay } from '../../records/database/id-bounds.ts';

type ErasureDependencies = Pick<Dependencies, 'config' | 'database' | 'logger'>;

const idleMs = 2_000;
/** An erasure starts after 5 s. By then, transactions that read the contact before the request have committed their events. */
const afterSeconds = 5;
/** 2 s until an erasure looks again at a callback that waits to be applied; meanwhile other erasures advance. */
const callbackDelaySeconds = 2;

/**
 * Clears the next slice of one erasure, from the earliest row to the request, and records it in the same transaction: a
 * process that dies loses one step. False when no step is due.
 */
export async function stepErasure(
  { config, database, logger }: ErasureDependencies,
  after: number,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const erasure = await lockErasure(transaction, after);
    if (erasure === undefined) return false;
    const { workspaceId, contactId } = erasure;
    const requestedAt =
      erasure.clearedUntil === null ? await coverRowsAhead(transaction, erasure) : erasure.requestedAt;
    const from = erasure.clearedUntil ?? (await findFirstDay(transaction)) ?? requestedAt;
    if (from >= requestedAt) {
      await endErasure(transaction, erasure, config.messageRetentionMonths !== undefined);
      logger.info({ workspaceId, contactId }, 'person erased');
      return true;
    }
    const endOfDay = startOfDay(from.getTime(), 1);
    const to = endOfDay < requestedAt ? endOfDay : requestedAt;
    const slice = await limitSlice(transaction, { from, to });
    await eraseEvents(transaction, erasure, slice);
    await eraseStatusesAndAnswers(transaction, erasure, slice);
    const complete = await eraseCallbacks(transaction, erasure, slice);
    await advanceErasure(transaction, erasure, {
      clearedUntil: complete ? slice.to : from,
      delaySeconds: complete ? 0 : callbackDelaySeconds,
    });
    return true;
  });
}

/** The loop of a worker. */
export function startErasing(dependencies: ErasureDependencies): Loop {
  return startPollingLoop({
    name: 'erasures',
    logger: dependencies.logger,
    idleMs,
    work: () => stepErasure(dependencies, afterSeconds),
  });
}
