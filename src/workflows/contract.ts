/**
 * Names and argument types shared by the workflows, the worker and the one client (`src/orchestrator/`). Only ids travel in
 * payloads. It must not import SDK modules with side effects, because workflows, activities and the API import it.
 */
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';

export const taskQueues = {
  campaigns: 'campaigns',
  webhooks: 'webhooks',
  maintenance: 'maintenance',
} as const;

export const workflowTypes = {
  campaign: 'campaign',
  webhookDelivery: 'webhookDelivery',
  templateSync: 'templateSync',
  retention: 'retention',
  contactImport: 'contactImport',
  priceComparison: 'priceComparison',
} as const;

export const campaignWorkflowId = (campaignId: string): string => `campaign-${campaignId}`;
export const webhookDeliveryWorkflowId = (deliveryId: string): string => `webhook-delivery-${deliveryId}`;
export const templateSyncWorkflowId = (businessAccountId: string): string =>
  `template-sync-now-${businessAccountId}`;
export const contactImportWorkflowId = (importId: string): string => `contact-import-${importId}`;
export const retentionScheduleId = 'retention';
export const priceComparisonScheduleId = 'price-comparison';
export const templateSyncScheduleId = (businessAccountId: string): string =>
  `template-sync-${businessAccountId}`;

/**
 * Signals `resume`, `pause` and `cancel` are for operators (Web UI, `temporal` command); `refresh` says that the record has
 * changed.
 */
export const signalNames = {
  resume: 'resume',
  pause: 'pause',
  cancel: 'cancel',
  refresh: 'refresh',
} as const;
export const progressQueryName = 'progress';

export const searchAttributeNames = {
  workspaceId: 'WorkspaceId',
  campaignStatus: 'CampaignStatus',
  pauseReason: 'PauseReason',
} as const;

/**
 * Headers of a workflow and its activities. They are not search attributes, because nobody searches by them and search
 * attributes remain after the workflow has ended.
 */
export const causeHeaders = { requestId: 'request-id', traceparent: 'traceparent' } as const;

/** The span of a finished run; times in milliseconds since 1970. */
export interface FinishedRun {
  readonly name: string;
  readonly parent: string;
  readonly spanId: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** `waitMs` is how long the workflow sleeps before the next step (0: not at all). */
export interface SendStep extends CampaignSnapshot {
  readonly waitMs: number;
  /** No recipient is left to claim; claims of crashed steps may still be open. */
  readonly drained: boolean;
}

/** The record after an operator's action. */
export interface OperatedCampaign extends CampaignSnapshot {
  /** Why nothing was changed. */
  readonly refused?: string;
}

export interface CampaignWorkflowInput {
  readonly campaignId: string;
  /** Set when the run continues an earlier one, which has prepared and started the campaign. */
  readonly continued?: true;
  /** The highest position that earlier runs saw claimed. */
  readonly claimedPosition?: number;
}

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
}

export interface ContactImportInput {
  readonly importId: string;
}

export interface TemplateSyncInput {
  readonly businessAccountId: string;
}

/** Actions that an operator can request for a campaign, by signal or by update. */
export const operatorActions = ['resume', 'pause', 'cancel'] as const;
export type OperatorAction = (typeof operatorActions)[number];
