/** Everything the worker may run as a workflow; the bundle's entry. */
export { campaign } from './campaign.ts';
export { webhookDelivery } from './webhook-delivery.ts';
export { templateSync } from './template-sync.ts';
export { retention } from './retention.ts';
