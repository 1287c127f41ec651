import { proxyActivities } from '@temporalio/workflow';
import type { TemplateActivities } from '../activities/sync-templates.ts';
import type { SyncSummary } from '../domain/templates/sync.ts';
import type { TemplateSyncInput } from './contract.ts';

// A page of templates may take the provider's whole time limit; the provider limits calls per hour.
const { syncTemplates } = proxyActivities<TemplateActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '2 minutes',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 3,
    maximumInterval: '5 minutes',
    maximumAttempts: 8,
  },
  summary: 'pull the templates of a business account',
});

/** One sync of one business account; started by its schedule, or when a callback reports a change that a sync has to read. */
export async function templateSync({ businessAccountId }: TemplateSyncInput): Promise<SyncSummary> {
  return syncTemplates(businessAccountId);
}
