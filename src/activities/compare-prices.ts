import { Context } from '@temporalio/activity';
import { compareDueAccounts } from '../commands/wallet/compare-prices.ts';
import type { Dependencies } from '../dependencies.ts';
import { asActivity } from './failure.ts';

export function createComparisonActivities(
  dependencies: Pick<Dependencies, 'database' | 'provider' | 'secrets' | 'logger'>,
) {
  return {
    /** Compares the accounts that are due. A retry continues with those that are still due. */
    comparePrices: () =>
      asActivity(async () => {
        const context = Context.current();
        return compareDueAccounts(dependencies, () => context.heartbeat());
      }),
  };
}

export type ComparisonActivities = ReturnType<typeof createComparisonActivities>;
