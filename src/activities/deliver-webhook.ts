import type { EventEmitter } from 'node:events';
import { createDeliverWebhook, type DeliverySummary } from '../commands/webhooks/deliver-webhook.ts';
import type { WebhookDeliveryInput } from '../workflows/contract.ts';

/** `attempts` emits `begun <id>` and `ended <id>` for the process's own scheduler. */
export function createWebhookActivities(
  dependencies: Parameters<typeof createDeliverWebhook>[0],
  attempts?: EventEmitter,
) {
  const deliverWebhook = createDeliverWebhook(dependencies);
  return {
    async deliverWebhook({ deliveryId }: WebhookDeliveryInput): Promise<DeliverySummary> {
      attempts?.emit(`begun ${deliveryId}`);
      try {
        return await deliverWebhook(deliveryId);
      } finally {
        attempts?.emit(`ended ${deliveryId}`);
      }
    },
  };
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;
