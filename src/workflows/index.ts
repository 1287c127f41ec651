/** All workflows; the entry of the workflow bundle. The campaign workflow has its own file. */
import {
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/deliver-webhook.ts';
import type { ImportActivities } from '../activities/import-contacts.ts';
import type { ContactImportInput, TemplateSyncInput, WebhookDeliveryInput } from './contract.ts';
import type { TemplateActivities } from '../activities/sync-templates.ts';
import type { SyncSummary } from '../domain/templates/sync.ts';
import type { ComparisonActivities } from '../activities/compare-prices.ts';
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
 * Makes the single attempt of a delivery. The result is for people who read the workflow's history; the record is
 * authoritative.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<string> {
  return deliverWebhook(input);
}

// Reading a page of templates may take the provider's whole time limit, and the provider limits calls per hour.
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

/** Syncs one business account once. Started by its schedule, or after a callback about a change that only a sync can read. */
export async function templateSync({ businessAccountId }: TemplateSyncInput): Promise<SyncSummary> {
  return syncTemplates(businessAccountId);
}

const { deleteExpired } = proxyActivities<RetentionActivities>({
  // Long enough for the first run after retention is switched on; missing heartbeats end a dead run sooner.
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes', maximumAttempts: 10 },
  summary: 'remove what has outlived its time',
});

/** Started by its schedule. Returns the number of deleted rows by kind. */
export async function retention(): Promise<Readonly<Record<string, number>>> {
  return deleteExpired();
}

const { comparePrices } = proxyActivities<ComparisonActivities>({
  startToCloseTimeout: '50 minutes',
  heartbeatTimeout: '5 minutes',
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes', maximumAttempts: 5 },
  summary: "compare charges with the provider's figures",
});

/** Started every hour by its schedule: compares each account once a night of its time zone. Returns how many, and what it found. */
export async function priceComparison(): Promise<Readonly<Record<string, number>>> {
  return { ...(await comparePrices()) };
}

const untilItWorks = {
  initialInterval: '1 second',
  backoffCoefficient: 1.5,
  maximumInterval: '5 seconds',
} as const;

const { importContacts } = proxyActivities<ImportActivities>({
  // 256 MiB of rows take some minutes, and an import may wait for others in its worker.
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '20 seconds',
  retry: untilItWorks,
  summary: 'import the rows of a file',
});
const { cancelImport } = proxyActivities<ImportActivities>({
  startToCloseTimeout: '30 seconds',
  retry: untilItWorks,
  summary: 'cancel the import',
});

/** Imports contacts until the record says that the import has ended. A request to cancel the workflow cancels the import. */
export async function contactImport({ importId }: ContactImportInput): Promise<void> {
  try {
    while (!(await importContacts(importId)));
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => cancelImport(importId));
    throw error;
  }
}
