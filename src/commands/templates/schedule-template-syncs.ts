import type { Dependencies } from '../../dependencies.ts';
import { listAllBusinessAccounts } from '../../records/workspaces/business-accounts.ts';

const failuresPerPoll = 3;

export interface ScheduleRound {
  readonly scheduled: number;
  /** Where the next round goes on; '' when this one came to the end. */
  readonly lastId: string;
  readonly failure: unknown;
}

/**
 * Sees to it that every business account, behind `afterId`, has its hourly sync of templates. For the start of a worker, and
 * again from time to time: accounts are created by other processes. An account that Temporal refuses does not hold up the
 * others; after a few refusals the round ends, for Temporal seems to be away.
 */
export async function scheduleTemplateSyncs(
  { database, orchestrator }: Pick<Dependencies, 'database' | 'orchestrator'>,
  afterId = '',
): Promise<ScheduleRound> {
  const accounts = await listAllBusinessAccounts(database, afterId);
  let [scheduled, failures] = [0, 0];
  let failure: unknown;
  for (const account of accounts) {
    try {
      await orchestrator.scheduleTemplateSync(account);
      scheduled += 1;
    } catch (error) {
      failure = error;
      failures += 1;
      if (failures === failuresPerPoll) return { scheduled, lastId: account.id, failure };
    }
  }
  return { scheduled, lastId: '', failure };
}
