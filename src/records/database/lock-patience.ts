/** Lock timeouts for transactions that apply the work of many tenants. */
import { sql } from 'slonik';
import type { Connection } from './database.ts';
import { nothing } from './row.ts';

/** 200 ms for a batch; its callbacks are then applied one by one. */
const patienceMs = 200;
/** 20 ms for one callback, so that locked contacts of one workspace do not delay the others. */
export const singlePatienceMs = 20;

async function setLockTimeout(transaction: Connection, ms: number): Promise<void> {
  await transaction.query(sql.type(nothing)`SELECT set_config('lock_timeout', ${String(ms)}, true)`);
}

/**
 * A preparation holds the contacts that it creates or changes until it commits. A statement of `work` that waits longer than
 * `forMs` for a lock fails with an error that `isLockHeld` recognises, and the transaction with it.
 */
export async function waitBriefly<T>(
  transaction: Connection,
  work: () => Promise<T>,
  forMs = patienceMs,
): Promise<T> {
  await setLockTimeout(transaction, forMs);
  const result = await work();
  await setLockTimeout(transaction, 0);
  return result;
}
