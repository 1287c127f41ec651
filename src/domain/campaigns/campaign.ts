/**
 * States of a campaign and the only table of its transitions (Spec 3.1). No other code compares states to decide a move.
 * Imports neither io-ts nor Node, because workflows import it.
 */

export const campaignStatuses = [
  'DRAFT',
  'SCHEDULED',
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/** Reasons why a campaign is PAUSED. Their texts are in `reasons.ts`; the database allows no others. */
export const pauseReasons = [
  'INSUFFICIENT_BALANCE',
  'BROADCAST_QUOTA',
  'TEMPLATE_UNAVAILABLE',
  'CHANNEL_BLOCKED',
  'MESSAGE_REJECTED',
  'RECORD_RESTORED',
  'OPERATOR',
  'FAILURES',
  'MAX_COST',
  'PRICE_RAISED',
] as const;
export type PauseReason = (typeof pauseReasons)[number];

/** Reasons why a campaign that could proceed waits. */
export const waitingReasons = [
  'TURN',
  'CHANNEL_TROUBLE',
  'CHANNEL_THROTTLE',
  'MESSAGING_LIMIT',
  'SENDING_WINDOW',
  'PREPARATION',
  'QUEUED',
  'WORKFLOW_STUCK',
  'FIRST_STATUSES',
] as const;
export type WaitingReason = (typeof waitingReasons)[number];

/**
 * FAILED: the preparation ended with an error. READY: the recipients exist. A campaign that is cancelled before that stays
 * PREPARING; clients stop waiting when its status is CANCELLED.
 */
export const preparationStatuses = ['PREPARING', 'READY', 'FAILED'] as const;
export type PreparationStatus = (typeof preparationStatuses)[number];

export const preparationErrorCodes = [
  'AUDIENCE_EMPTY',
  'CSV_UNREADABLE',
  'CSV_COLUMN_OUT_OF_RANGE',
  'TEMPLATE_NOT_FOUND',
  'FILE_NOT_FOUND',
  'FILE_TOO_LARGE',
  'FILE_FETCH_REFUSED',
  'MEDIA_UNREACHABLE',
  'MEDIA_TYPE',
  'MEDIA_TOO_LARGE',
] as const;
export type PreparationErrorCode = (typeof preparationErrorCodes)[number];

export const contactSelectionTypes = [
  'all_contacts',
  'segmented',
  'csv_contacts',
  'quick_contacts',
  'failed_contacts',
] as const;
export type ContactSelectionType = (typeof contactSelectionTypes)[number];

export const sendTypes = ['IMMEDIATE', 'SCHEDULED'] as const;
export type SendType = (typeof sendTypes)[number];

/**
 * Actions that change a campaign's status. `begin` is the first start, `resume` every later one; `requeue` and `reschedule`
 * end a pause that began before the first start.
 */
const campaignActions = [
  'begin',
  'resume',
  'requeue',
  'reschedule',
  'pause',
  'cancel',
  'complete',
  'fail',
] as const;
export type CampaignAction = (typeof campaignActions)[number];

const transitions: Readonly<Record<CampaignAction, Partial<Record<CampaignStatus, CampaignStatus>>>> = {
  begin: { DRAFT: 'RUNNING', SCHEDULED: 'RUNNING' },
  resume: { PAUSED: 'RUNNING' },
  requeue: { PAUSED: 'DRAFT' },
  reschedule: { PAUSED: 'SCHEDULED' },
  // A campaign that has not started yet can be paused by its quota or by an operator.
  pause: { DRAFT: 'PAUSED', SCHEDULED: 'PAUSED', RUNNING: 'PAUSED' },
  cancel: { DRAFT: 'CANCELLED', SCHEDULED: 'CANCELLED', RUNNING: 'CANCELLED', PAUSED: 'CANCELLED' },
  complete: { RUNNING: 'COMPLETED' },
  fail: { DRAFT: 'FAILED', SCHEDULED: 'FAILED', PAUSED: 'FAILED' },
};

/** Returns the status after the action, or undefined if the action is not possible in this status. */
export function nextCampaignStatus(
  status: CampaignStatus,
  action: CampaignAction,
): CampaignStatus | undefined {
  return transitions[action][status];
}

/** Spec 3.1: the status at creation. */
export function initialStatus(sendType: SendType): CampaignStatus {
  return sendType === 'IMMEDIATE' ? 'DRAFT' : 'SCHEDULED';
}

/** Returns the action that ends a pause; it depends on the campaign's state before the pause. */
export function actionOfStart(campaign: {
  readonly started: boolean;
  readonly sendType: SendType;
}): CampaignAction {
  if (campaign.started) return 'resume';
  return campaign.sendType === 'IMMEDIATE' ? 'requeue' : 'reschedule';
}

/** True for a final status: only receipts of sent messages still arrive. */
export function isFinished(status: CampaignStatus): boolean {
  return campaignActions.every((action) => transitions[action][status] === undefined);
}

export const openStatuses: readonly CampaignStatus[] = campaignStatuses.filter(
  (status) => !isFinished(status),
);
