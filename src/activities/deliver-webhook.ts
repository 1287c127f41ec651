import type { EventEmitter } from 'node:events';
import { createDeliverWebhook, type DeliverySummary } from '../commands/webhooks/deliver-webhook.ts';
import type { WebhookDeliveryInput } from '../workflows/contract.ts';

/** Who starts deliveries in this process hears on `begun`, by their ids, of those that have come here. */
export function createWebhookActivities(
  dependencies: Parameters<typeof createDeliverWebhook>[0],
  begun?: EventEmitter,
) {
  const deliverWebhook = createDeliverWebhook(dependencies);
  return {
    deliverWebhook: ({ deliveryId }: WebhookDeliveryInput): Promise<DeliverySummary> => {
      begun?.emit(deliveryId);
      return deliverWebhook(deliveryId);
    },
  };
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;
