/** Lock timeouts for transactions that apply the work of many tenants. */
import { sql } from 'slonik';
import type { Connection } from './database.ts';
import { nothing } from './row.ts';

/** 1 s, until the transaction ends: a claim of recipients is repeated later. A FROM item, so that it is set before rows are locked. */
export const claimPatience = sql.fragment`set_config('lock_timeout', '1000', true)`;

/**
 * From now on, a statement of this transaction that waits longer than `ms` for a lock fails with an error that `isLockHeld`
 * recognises, and the transaction with it.
 */
export async function limitLockWaits(transaction: Connection, ms: number): Promise<void> {
  await transaction.query(sql.type(nothing)`SELECT set_config('lock_timeout', ${String(ms)}, true)`);
}
