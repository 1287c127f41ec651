import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';

/**
 * Requests a sync of these business accounts' templates. Never fails the caller: the hourly sync makes up for it. Ends at the
 * first failure: while Temporal is away, each further call would take its whole timeout, and callbacks of all tenants wait.
 */
export async function requestTemplateSyncs(
  { orchestrator, logger }: Pick<Dependencies, 'orchestrator' | 'logger'>,
  businessAccountIds: Iterable<string>,
): Promise<void> {
  for (const businessAccountId of new Set(businessAccountIds)) {
    try {
      await orchestrator.startTemplateSync(businessAccountId);
    } catch (error) {
      logger.warn({ businessAccountId, error: errorName(error) }, 'sync of templates delayed');
      return;
    }
  }
}
