/** Limits and values of a webhook configuration. Node-free. */

export const webhookStatuses = ['active', 'inactive'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

/** Per workspace. */
export const maxConfigurations = 50;
export const maxTitleLength = 255;
export const maxSecretLength = 255;
