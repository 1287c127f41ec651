import type { Dependencies } from '../../dependencies.ts';
import { listAllBusinessAccounts } from '../../records/workspaces/business-accounts.ts';

const failuresPerPoll = 3;

export interface SchedulePoll {
  readonly scheduled: number;
  /** The account after which the next poll continues; '' when this poll reached the last one. */
  readonly lastId: string;
  readonly failure: unknown;
}

/**
 * Creates missing hourly sync schedules for the business accounts after `afterId`. Runs when a worker starts and again
 * later, because other processes create accounts. An account that Temporal rejects does not block the others; after a few
 * rejections the poll ends, since Temporal is probably unavailable.
 */
export async function scheduleTemplateSyncs(
  { database, orchestrator }: Pick<Dependencies, 'database' | 'orchestrator'>,
  afterId = '',
): Promise<SchedulePoll> {
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
