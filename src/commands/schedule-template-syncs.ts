import type { Dependencies } from '../dependencies.ts';
import { listAllBusinessAccounts } from '../records/business-accounts.ts';

/**
 * Sees to it that every business account has its hourly sync of templates. For the start of a worker, and again from time
 * to time: accounts are created by other processes. Returns how many there are.
 */
export async function scheduleTemplateSyncs({
  database,
  orchestrator,
}: Pick<Dependencies, 'database' | 'orchestrator'>): Promise<number> {
  const accounts = await listAllBusinessAccounts(database);
  for (const account of accounts) {
    // oxlint-disable-next-line no-await-in-loop -- a handful, and no rush
    await orchestrator.scheduleTemplateSync(account);
  }
  return accounts.length;
}
