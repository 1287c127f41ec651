/** Examples of the document, in wire form. */

export const webhookExample = {
  id: '0199d6c1-0000-7000-8000-000000000001',
  title: 'Order desk',
  url: 'https://example.com/hooks/messages',
  status: 'active',
  disabled_reason: null,
  health: 'healthy',
  recentAttempts: 20,
  events: ['sent', 'delivered', 'failed'],
  hasSecret: true,
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
};

export const webhookHealthExample = {
  webhookId: webhookExample.id,
  health: 'failing',
  failingSince: '2026-11-19T21:14:03.118Z',
  consecutiveFailures: 412,
  waiting: 3,
};

export const deliveryExample = {
  id: '0199d6c1-0000-7000-8000-000000000002',
  webhookId: webhookExample.id,
  eventId: '0199d6c1-0000-7000-8000-000000000003',
  eventKey: 'delivered',
  state: 'failed',
  errorCode: 'non_2xx',
  responseStatus: 503,
  responseExcerpt: 'Service Unavailable',
  durationMs: 48,
  attemptedAt: '2026-11-21T09:00:00.120Z',
  createdAt: '2026-11-21T09:00:00.000Z',
};

export const waitingDeliveryExample = {
  ...deliveryExample,
  state: 'pending',
  errorCode: null,
  responseStatus: null,
  responseExcerpt: null,
  durationMs: null,
  attemptedAt: null,
};
