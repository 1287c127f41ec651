import type { CampaignStatus, PauseReason, PreparationErrorCode, WaitingReason } from './campaign.ts';

/** A campaign as every step of its workflow reports it. */
export interface CampaignSnapshot {
  readonly workspaceId: number;
  readonly status: CampaignStatus;
  readonly pauseReason: PauseReason | null;
  /** What the failure brake says about the pause, without personal data. Absent from steps of a 1.0.0 worker. */
  readonly pauseText?: string | null;
  readonly waitingFor: WaitingReason | null;
  /** ISO 8601; null if not known. */
  readonly waitingUntil: string | null;
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
    /** Number of messages accepted by the provider, including delivered and read ones. */
    readonly accepted: number;
    /** Every recipient up to this position has been claimed. */
    readonly claimedPosition: number;
  };
}
