/** States, codes and limits of a delivery: the single attempt to deliver one event to one configuration. Runs in browsers too. */

export const deliveryStates = ['pending', 'sending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why a delivery failed; the closed list that customers read in the log. */
export const webhookErrorCodes = [
  'blocked_address',
  'dns_error',
  'dns_timeout',
  'connection_refused',
  'connection_reset',
  'tls_error',
  'timeout',
  'redirect',
  'non_2xx',
  'protocol_error',
  'payload_too_large',
  'endpoint_inactive',
  'disabled',
  'interrupted',
  'expired',
  'erased',
] as const;
export type WebhookErrorCode = (typeof webhookErrorCodes)[number];

/** The cause of a delivery: the event itself, a request to send it again, or a test. */
const deliveryCauses = ['event', 'resend', 'test'] as const;
export type DeliveryCause = (typeof deliveryCauses)[number];

/** Spec 6.1: 256 KB of serialised UTF-8. */
export const maxPayloadBytes = 262_144;
