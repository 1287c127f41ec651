/** Compares what is stored twice, by `sql/checks/books.sql`: counters with recipients, and money with ledger and messages. */
import * as t from 'io-ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'slonik';
import type { Database } from '../database/database.ts';
import { sqlFolder } from '../database/migrate.ts';
import { nothing, row } from '../database/row.ts';

const Difference = t.type({
  kind: t.keyof({
    'counters-differ-from-rows': null,
    'reasons-differ-from-rows': null,
    'totals-differ-from-rows': null,
    'recipients-stranded': null,
    'charged-differs-from-entries': null,
    'ledger-differs-from-balance': null,
    'reserved-differs-from-messages': null,
    'uncollected-differs-from-debts': null,
  }),
  /** Of the campaign; for money, of the channel. */
  id: t.string,
  /** What is counted: a state, a reason, micro-units. */
  what: t.string,
  stored: t.string,
  found: t.string,
});
export type BookDifference = t.TypeOf<typeof Difference>;

/**
 * Returns at most 10,000 differences. Reads every recipient, 0.6 s of Postgres' CPU per million; `quick` leaves out those of
 * campaigns that have ended with every outcome known.
 */
export async function listBookDifferences(
  database: Database,
  { quick = false }: { readonly quick?: boolean } = {},
): Promise<readonly BookDifference[]> {
  const text = await readFile(join(sqlFolder(), 'checks', 'books.sql'), 'utf8');
  return database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`SELECT set_config('statement_timeout', '0', true),
      set_config('books.quick', ${quick ? 'on' : 'off'}, true)`);
    return transaction.any({ ...sql.type(row(Difference))`SELECT`, sql: text });
  });
}
