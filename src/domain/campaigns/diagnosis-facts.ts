/** Types of a diagnosis: the facts it is derived from, and its entries. Free of io-ts and Node. */
import type { SendingWindow } from './sending-window.ts';
import type { CampaignStatus, PauseReason, PreparationStatus, WaitingReason } from './campaign.ts';

export const diagnosisChecks = [
  'STATUS',
  'PREPARATION',
  'SCHEDULE',
  'SENDING_WINDOW',
  'QUOTA',
  'TEMPLATE',
  'CHANNEL',
  'PACE',
  'WALLET',
  'WORKER',
] as const;

export interface DiagnosisEntry {
  readonly check: (typeof diagnosisChecks)[number];
  /** True when this check does not prevent the campaign from sending. */
  readonly ok: boolean;
  readonly detail: string;
  /** Advice for the reader; null if there is nothing to do. */
  readonly action: string | null;
  /**
   * Amount that the wallet lacks to send to all pending recipients, in its currency; an estimate if the sentences say
   * "about".
   */
  readonly missing?: string;
}

/** Facts for the status sentence, which every report of a campaign contains. */
export interface StatusFacts {
  readonly status: CampaignStatus;
  readonly pauseReason: PauseReason | null;
  readonly preparationError: string | null;
  /** Recipients to send to, whatever their state. */
  readonly total: number;
  readonly pending: number;
  readonly underWay: number;
  readonly failed: number;
}

export interface CampaignFacts extends StatusFacts {
  readonly preparationStatus: PreparationStatus;
  readonly createdAt: Date;
  readonly scheduledAt: Date | null;
  /** Sending windows, which must all be open. */
  readonly windows: readonly SendingWindow[];
  readonly template: { readonly name: string; readonly status: string; readonly vanished: boolean };
  readonly channel: {
    readonly isActive: boolean;
    readonly blockReason: string | null;
    /** The provider's code for the refusal that paused the campaign; null if something else did. */
    readonly refusalCode: number | null;
    readonly messagesPerSecond: number;
    /** Share of `messagesPerSecond` that remains under throttling, 0 to 1. */
    readonly factor: number;
  };
  /**
   * Why the campaign waits, according to its record; null if it does not. `waitingUntil` is when the wait ends, null if
   * unknown.
   */
  readonly waitingFor: WaitingReason | null;
  readonly waitingUntil: Date | null;
  readonly wallet: {
    readonly available: bigint;
    readonly currency: string;
    /** Price of the next message in micro-units; null if no recipient is pending. */
    readonly nextPrice: bigint | null;
    /** Price of all pending messages in micro-units; an estimate unless `isExact`. */
    readonly remainingCost: bigint;
    readonly isExact: boolean;
  };
  /** Broadcasts of this month; `limit` null: unlimited; `counted`: this campaign already counts as a broadcast. */
  readonly broadcasts: { readonly used: number; readonly limit: number | null; readonly counted: boolean };
  /** Creation time of the oldest undelivered message in the campaign's workflow outbox; null if there is none. */
  readonly outboxSince: Date | null;
  readonly now: Date;
}

export const fine = (check: DiagnosisEntry['check'], detail: string): DiagnosisEntry => ({
  check,
  ok: true,
  detail,
  action: null,
});
export const wrong = (
  check: DiagnosisEntry['check'],
  detail: string,
  action: string | null = null,
): DiagnosisEntry => ({ check, ok: false, detail, action });

/** Shown as the action for an obstacle that ends by itself. */
export const goesOnByItself = 'Nothing to do: it goes on by itself.';
