/** Days of events, deliveries and callbacks: whether their tables have them, and whether they are made in time. */
import { pendingMigrations } from '../../records/database/migrate.ts';
import { sqlFolder } from '../../records/database/sql-folder.ts';
import { countDaysAhead, makePartitions } from '../../records/operations/partitions.ts';
import type { Doctor, Finding } from './check.ts';

const fewDays = 4;

export async function* checkPartitions({ database }: Doctor): AsyncIterable<Finding> {
  const { deferred } = await pendingMigrations(database, sqlFolder());
  for (const id of deferred) {
    yield {
      kind: 'migration-unfinished',
      id,
      fingerprint: '',
      meaning: 'once nothing of the release before runs any more, `migrate --finish` applies it',
    };
  }
  for (const { table, days } of await countDaysAhead(database)) {
    if (days >= fewDays) continue;
    yield {
      kind: 'days-not-made',
      id: table,
      fingerprint: String(days),
      meaning: `retention makes a week ahead and ${table} has ${days}: what comes without a day of its own is removed row by row`,
      repair: {
        does: 'make them',
        run: async () => {
          if (!(await makePartitions(database, table))) throw new Error('Somebody held the table for long');
        },
      },
    };
  }
}
