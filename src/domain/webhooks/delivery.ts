/** States, codes and limits of a delivery: the single attempt to deliver one event to one configuration. Runs in browsers too. */
import type { ReasonTable } from '../campaigns/reasons.ts';

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

/** States of a resend of what a webhook missed. */
export const resendStates = ['running', 'completed', 'cancelled'] as const;

/** Spec 6.1: 256 KB of serialised UTF-8. */
export const maxPayloadBytes = 262_144;

/** Meaning and advice for each error code of a delivery. */
export const webhookErrorTable: ReasonTable<WebhookErrorCode> = {
  blocked_address: {
    meaning: 'The address is private, or reserved for the network of this service.',
    advice: 'Use a public address.',
  },
  dns_error: { meaning: 'The host name does not resolve.', advice: 'Correct the URL or the DNS record.' },
  dns_timeout: {
    meaning: 'The name servers did not answer in time.',
    advice: 'Check the name servers of the domain, then resend.',
  },
  connection_refused: {
    meaning: 'Nothing listens at the address and port.',
    advice: 'Start the receiver or correct the port, then resend.',
  },
  connection_reset: {
    meaning: 'The connection broke before the answer was complete.',
    advice: 'Look into the log of the receiver and its proxies, then resend.',
  },
  tls_error: {
    meaning: 'The TLS handshake failed or the certificate is not valid.',
    advice: 'Renew or complete the certificate chain, then resend.',
  },
  timeout: {
    meaning: 'No answer came within five seconds.',
    advice: 'Answer first and process the event afterwards.',
  },
  redirect: { meaning: 'The receiver answered with a redirect.', advice: 'Set the URL to its target.' },
  non_2xx: {
    meaning: 'The receiver answered with a status other than 2xx.',
    advice: 'Look at `responseStatus` and `responseExcerpt`, correct the receiver, then resend.',
  },
  protocol_error: {
    meaning: 'The answer is not valid HTTP.',
    advice: 'Check that the port serves HTTP, or HTTPS for an https URL.',
  },
  payload_too_large: {
    meaning: 'The event is larger than 256 KB and was not sent.',
    advice: 'Read the record by its id over the API.',
  },
  endpoint_inactive: {
    meaning: 'The webhook was deleted before the delivery was due.',
    advice: 'Create the webhook again, or read the event feed.',
  },
  disabled: {
    meaning: 'The webhook was disabled because it had only failed for days.',
    advice: 'Repair the receiver, set the webhook to active, then resend.',
  },
  interrupted: {
    meaning: 'The service stopped during the attempt: the receiver may have got the event.',
    advice: 'Resend it; `webhook-id` lets the receiver recognise a repetition.',
  },
  expired: {
    meaning: 'The delivery waited too long for its attempt.',
    advice: 'Make the receiver faster, then resend.',
  },
  erased: {
    meaning: 'The person of the event was erased before the delivery.',
    advice: 'Nothing: the event no longer exists.',
  },
};

// Limits and values of a webhook configuration. Runs in browsers too.

/** The statuses that a caller may set. */
export const chosenWebhookStatuses = ['active', 'inactive'] as const;
export type ChosenWebhookStatus = (typeof chosenWebhookStatuses)[number];
/** `disabled`: switched off by the service because every delivery to it failed; a caller sets it to `active` again. */
export const webhookStatuses = [...chosenWebhookStatuses, 'disabled'] as const;
export const webhookDisabledReasons = ['failing'] as const;
/** A webhook is disabled after at least this many failures in a row, so that one old failure of a quiet webhook is not enough. */
export const disabledAfterFailures = 10;

/** Per workspace. */
export const maxConfigurations = 50;
export const maxTitleLength = 255;
export const maxSecretLength = 255;

/** By the last 20 attempts: healthy without a failure, degraded with some, failing without a success; or the status disabled. */
export const webhookHealths = ['healthy', 'degraded', 'failing', 'disabled'] as const;
export const healthWindow = 20;
/** More waiting deliveries than this are not counted. */
export const waitingCountLimit = 10_000;
