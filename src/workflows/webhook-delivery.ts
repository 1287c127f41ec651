import { proxyLocalActivities } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/deliver-webhook.ts';
import type { WebhookDeliveryInput } from './contract.ts';

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
