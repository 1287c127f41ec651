import { createDeliverWebhook, type DeliverySummary } from '../commands/webhooks/deliver-webhook.ts';
import type { WebhookDeliveryInput } from '../workflows/contract.ts';

export function createWebhookActivities(dependencies: Parameters<typeof createDeliverWebhook>[0]) {
  const deliverWebhook = createDeliverWebhook(dependencies);
  return {
    deliverWebhook: ({ deliveryId }: WebhookDeliveryInput): Promise<DeliverySummary> =>
      deliverWebhook(deliveryId),
  };
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;
