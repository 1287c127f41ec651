import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';

/** Requests a sync of these business accounts' templates. Never fails the caller: the hourly sync makes up for it. */
export async function requestTemplateSyncs(
  { orchestrator, logger }: Pick<Dependencies, 'orchestrator' | 'logger'>,
  businessAccountIds: Iterable<string>,
): Promise<void> {
  for (const businessAccountId of new Set(businessAccountIds)) {
    try {
      await orchestrator.startTemplateSync(businessAccountId);
    } catch (error) {
      logger.warn({ businessAccountId, error: errorName(error) }, 'sync of templates delayed');
    }
  }
}
