import { Context } from '@temporalio/activity';
import type { Dependencies } from '../dependencies.ts';
import { syncBusinessAccount, type SyncProgress } from '../commands/templates/sync-templates.ts';
import type { SyncSummary } from '../domain/templates/sync.ts';
import { asActivity } from './failure.ts';

export function createTemplateActivities(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'provider' | 'secrets' | 'logger' | 'now'>,
) {
  return {
    /** Fetches the provider's templates of one business account. A retry continues after the last page that was written. */
    syncTemplates: (businessAccountId: string): Promise<SyncSummary> =>
      asActivity(async () => {
        const context = Context.current();
        const resumeFrom = context.info.heartbeatDetails as SyncProgress | undefined;
        // Repeats the last progress, so that the next attempt finds it even if this one dies before its first page.
        context.heartbeat(resumeFrom);
        return syncBusinessAccount(dependencies, businessAccountId, {
          resumeFrom,
          onProgress: (progress) => context.heartbeat(progress),
        });
      }),
  };
}

export type TemplateActivities = ReturnType<typeof createTemplateActivities>;
