/** For transactions in which many wait for what one of them waits for. */
import { sql } from 'slonik';
import type { Connection } from './database.ts';
import { nothing } from './row.ts';

const patienceMs = 1_000;

async function setLockTimeout(transaction: Connection, ms: number): Promise<void> {
  await transaction.query(sql.type(nothing)`SELECT set_config('lock_timeout', ${String(ms)}, true)`);
}

/**
 * Contacts are held for as long as the preparation of a campaign takes that makes or changes them. What waits longer than
 * `patienceMs` for a lock in `work` fails with an error that `isLockHeld` recognises, and the transaction with it.
 */
export async function waitBriefly<T>(transaction: Connection, work: () => Promise<T>): Promise<T> {
  await setLockTimeout(transaction, patienceMs);
  const result = await work();
  await setLockTimeout(transaction, 0);
  return result;
}
