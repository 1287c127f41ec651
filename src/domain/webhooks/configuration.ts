/** Limits and values of a webhook configuration. Runs in browsers too. */

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
