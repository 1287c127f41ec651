import type { CampaignStatus, PauseReason, PreparationErrorCode, WaitingReason } from './campaign.ts';

/** Where a campaign stands: what every step of its workflow reports. */
export interface CampaignSnapshot {
  readonly workspaceId: number;
  readonly status: CampaignStatus;
  readonly pauseReason: PauseReason | null;
  /** Missing in what releases before 0.2 recorded. */
  readonly waitingFor?: WaitingReason | null;
  /** ISO 8601; null when it is not known. */
  readonly waitingUntil?: string | null;
  readonly prepared: boolean;
  /** Why preparation failed. */
  readonly preparationError: PreparationErrorCode | null;
  /** ISO 8601; null for an immediate campaign. */
  readonly scheduledAt: string | null;
  readonly counts: {
    readonly total: number;
    readonly skipped: number;
    readonly pending: number;
    readonly claimed: number;
    readonly failed: number;
    readonly unknown: number;
    /** Accepted by the provider, whatever came after. */
    readonly accepted: number;
    /** Every recipient up to here has been claimed. Missing in what releases before 0.2 recorded. */
    readonly claimedPosition?: number;
  };
}
