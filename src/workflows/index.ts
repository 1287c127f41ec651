/** Everything the worker may run as a workflow; the bundle's entry. A campaign is told in its own file. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/deliver-webhook.ts';
import type { TemplateSyncInput, WebhookDeliveryInput } from './contract.ts';
import type { TemplateActivities } from '../activities/sync-templates.ts';
import type { SyncSummary } from '../domain/templates/sync.ts';
import type { RetentionActivities } from '../activities/retention.ts';

export { campaign } from './campaign.ts';

/**
 * A local activity costs the server half as much as a regular one. It may run again after a lost workflow task, but the
 * compare-and-set in the database permits at most one request.
 */
const { deliverWebhook } = proxyLocalActivities<WebhookActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * Makes the single attempt of a delivery. The result is for readers of the workflow's history; the record is authoritative.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<string> {
  return deliverWebhook(input);
}

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

const { deleteExpired } = proxyActivities<RetentionActivities>({
  // Long enough for the first run after the setting was made; heartbeats end a dead one.
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes', maximumAttempts: 10 },
  summary: 'remove what has outlived its time',
});

/** Started by its schedule. Returns the number of deleted rows by kind. */
export async function retention(): Promise<Readonly<Record<string, number>>> {
  return deleteExpired();
}
