/** Checks that the daily partitions of events, deliveries and callbacks are created ahead in time. */
import { countDaysAhead, makePartitions } from '../../records/operations/partitions.ts';
import type { Doctor, Finding } from './check.ts';

const fewDays = 4;

export async function* checkPartitions({ database }: Doctor): AsyncIterable<Finding> {
  for (const { table, days } of await countDaysAhead(database)) {
    if (days >= fewDays) continue;
    yield {
      kind: 'days-not-made',
      id: table,
      fingerprint: String(days),
      meaning: `retention creates partitions seven days ahead and ${table} has ${days}: rows of a day without a partition are removed one by one`,
      repair: {
        does: 'create them',
        run: async () => {
          if (!(await makePartitions(database, table)))
            throw new Error('Other sessions held locks on the table throughout');
        },
      },
    };
  }
}
