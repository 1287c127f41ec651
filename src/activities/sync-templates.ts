import { Context } from '@temporalio/activity';
import type { Dependencies } from '../dependencies.ts';
import { syncBusinessAccount, type SyncProgress } from '../commands/templates/sync-templates.ts';
import type { SyncSummary } from '../domain/templates/sync.ts';
import { asActivity } from './failure.ts';

export function createTemplateActivities(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'provider' | 'secrets' | 'logger' | 'now'>,
) {
  return {
    /** Pulls the provider's templates of one business account. Run again, it goes on behind the last page that is written. */
    syncTemplates: (businessAccountId: string): Promise<SyncSummary> =>
      asActivity(async () => {
        const context = Context.current();
        const resumeFrom = context.info.heartbeatDetails as SyncProgress | undefined;
        // Seen again by the next attempt even when this one dies before its first page.
        context.heartbeat(resumeFrom);
        return syncBusinessAccount(dependencies, businessAccountId, {
          resumeFrom,
          onProgress: (progress) => context.heartbeat(progress),
        });
      }),
  };
}

export type TemplateActivities = ReturnType<typeof createTemplateActivities>;
