export { createClient, type Client, type ClientOptions, type CallOptions } from './client.ts';
export { ApiError, type FieldProblem, type ProviderRefusal } from './api-error.ts';
export { CampaignTimeoutError, followCampaign, waitForCampaign, type WaitOptions } from './campaign.ts';
export { followEvents, type FollowEventsOptions } from './follow-events.ts';
export { pages } from './pages.ts';
export { uploadCampaignCsv, type Upload } from './upload.ts';
export { verifyWebhook, type WebhookRequest } from './verify-webhook.ts';
export * from './operations.ts';
export type * from './schemas.ts';
