/** Limits and values of a webhook configuration. Node-free. */

export const webhookStatuses = ['active', 'inactive'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

/** Per workspace. */
export const maxConfigurations = 50;
export const maxTitleLength = 255;
export const maxSecretLength = 255;

/** What the outcomes say of a receiver; `unknown` until the first one since its URL was set. */
export const webhookHealths = ['unknown', 'healthy', 'failing'] as const;
/** More waiting deliveries than this are not counted. */
export const waitingCountLimit = 10_000;
