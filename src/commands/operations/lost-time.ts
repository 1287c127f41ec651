/** How far a campaign may have been sent in the time whose records are lost. Pure. */
import type { RestoredCampaignRow } from '../../records/operations/doctor-restore.ts';
import type { CampaignHistory } from './campaign-history.ts';

export interface LostTime {
  /** The records hold everything up to here. */
  readonly backupAt: Date;
  /** From this time on nothing was sent, because the database or the workers were gone. */
  readonly stoppedAt: Date;
}

const second = 1000;
/** 10 s: covers differing clocks and messages claimed ahead of sending. With less, a recipient could get a second message. */
export const marginSeconds = 10;

/** False for a campaign whose time had not come when sending stopped. */
export function mayHaveBegun(
  { started, scheduled_at }: Pick<RestoredCampaignRow, 'started' | 'scheduled_at'>,
  { stoppedAt }: Pick<LostTime, 'stoppedAt'>,
): boolean {
  return started || scheduled_at === null || scheduled_at <= stoppedAt;
}

/**
 * The position up to which a recipient may have been claimed; undefined when the campaign surely sent nothing. `history` is
 * undefined when Temporal does not know the campaign or was restored from a backup too: then only the rate bounds what was sent.
 */
export function mayBeClaimedUpTo(
  campaign: Pick<
    RestoredCampaignRow,
    'claimed_position' | 'messages_per_second' | 'started' | 'scheduled_at'
  >,
  history: CampaignHistory | undefined,
  { backupAt, stoppedAt }: LostTime,
): number | undefined {
  const byRateSince = (since: Date, from: number): number =>
    from +
    Math.ceil(
      (Math.max(0, stoppedAt.getTime() - since.getTime()) / second + marginSeconds) *
        campaign.messages_per_second,
    );
  if (history === undefined) {
    return mayHaveBegun(campaign, { stoppedAt })
      ? byRateSince(backupAt, campaign.claimed_position)
      : undefined;
  }
  const seen = Math.max(campaign.claimed_position, history.claimedPosition ?? 0);
  if (history.openStepSince !== undefined) {
    const reportedAt = history.reportedAt ?? backupAt;
    return byRateSince(reportedAt > backupAt ? reportedAt : backupAt, seen);
  }
  const earliest = backupAt.getTime() - marginSeconds * second;
  if ((history.lastStepAt?.getTime() ?? 0) < earliest && seen <= campaign.claimed_position) return undefined;
  // The steps reported no position, so the rate bounds what was sent.
  if (history.claimedPosition === undefined) return byRateSince(backupAt, seen);
  return seen;
}
