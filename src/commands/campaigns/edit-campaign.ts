/** PATCH of a campaign. A change to its sending hours takes effect at the next claim, or wakes its workflow. */
import { isFinished } from '../../domain/campaigns/campaign.ts';
import { describeWindow, nextOpenTime } from '../../domain/campaigns/sending-window.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Conflict, Invalid, type FieldProblem } from '../../domain/error.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import {
  saveCampaignTexts,
  saveCapExemption,
  saveCampaignWindow,
  saveMaxCost,
  saveSchedule,
  type CampaignChanges,
} from '../../records/campaigns/creation.ts';
import type { Connection } from '../../records/database/database.ts';
import { lockCampaign } from '../../records/campaigns/lifecycle.ts';
import { getOffer, getSendingHours } from '../../records/campaigns/sending-hours.ts';
import { enqueueRefresh } from '../../records/campaigns/workflow-outbox.ts';
import { type AuditDetails, insertAuditEntry } from '../../records/operations/audit.ts';
import { deliverWorkflowOutbox } from './deliver-workflow-outbox.ts';

export const quietHoursRefusal = "ignore_quiet_hours may be true with an operator's key only";
export const capRefusal = "ignore_frequency_cap may be true with an operator's key only";
export const neverOpens =
  'sending_window has no time in common with the sending window of the workspace: choose hours within it';

/** If the windows delay sending, warns when it will actually start. */
export function windowWarnings(scheduledAt: Date | null, opensAt: Date, now: Date): readonly FieldProblem[] {
  if (opensAt.getTime() === (scheduledAt ?? now).getTime()) return [];
  const when = `sending begins at ${opensAt.toISOString()}`;
  return scheduledAt === null
    ? [{ field: 'sending_window', message: `The sending window is closed now: ${when}` }]
    : [{ field: 'scheduled_at', message: `scheduled_at is outside the sending window: ${when}` }];
}

/** The end of the campaign's offer, in words, if every message would leave after it. */
export async function offerEndingBeforeSending(
  transaction: Connection,
  campaignId: string,
  now: Date,
): Promise<string | undefined> {
  const { ends_at: endsAt, scheduled_at: scheduledAt, windows } = await getOffer(transaction, campaignId);
  if (endsAt === null) return undefined;
  const begins = nextOpenTime(windows, scheduledAt !== null && scheduledAt > now ? scheduledAt : now);
  if (begins === undefined || endsAt > begins.opensAt.getTime()) return undefined;
  return `the end of the offer (limited_time_offer.expiration_time_ms), ${new Date(endsAt).toISOString()}`;
}

/** The new values, for the audit log. */
function describeChanges({
  name,
  sendingWindow,
  ignoreQuietHours,
  scheduledAt,
  maxCost,
}: CampaignChanges): AuditDetails {
  return {
    ...(name !== undefined && { renamed_to: name }),
    ...(sendingWindow !== undefined && { sending_window: describeWindow(sendingWindow) }),
    ...(ignoreQuietHours !== undefined && { ignore_quiet_hours: String(ignoreQuietHours) }),
    ...(scheduledAt !== undefined && { scheduled_at: scheduledAt.toISOString() }),
    ...(maxCost !== undefined && { max_cost: maxCost === null ? null : formatAmount(maxCost) }),
  };
}

/** Throws NotFound, Invalid, or Conflict if the campaign whose hours are changed has ended. */
export async function editCampaign(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'now'>,
  { workspaceId, scope }: Pick<Principal, 'workspaceId' | 'scope'>,
  campaignId: string,
  changes: CampaignChanges,
): Promise<void> {
  const { name, description, sendingWindow, ignoreQuietHours, ignoreFrequencyCap, scheduledAt, maxCost } =
    changes;
  if (ignoreQuietHours === true && scope !== 'operator')
    throw Invalid.at('ignore_quiet_hours', quietHoursRefusal);
  if (ignoreFrequencyCap === true && scope !== 'operator')
    throw Invalid.at('ignore_frequency_cap', capRefusal);
  if (scheduledAt !== undefined && scheduledAt.getTime() <= dependencies.now().getTime())
    throw Invalid.at('scheduled_at', 'Scheduled time must be in the future', 'schedule_in_past');
  const changesHours = sendingWindow !== undefined || ignoreQuietHours !== undefined;
  await dependencies.database.transaction(async (transaction) => {
    const { status } = await lockCampaign(transaction, campaignId, workspaceId);
    if (changesHours && isFinished(status))
      throw new Conflict(`The campaign is ${status}: its sending window cannot be changed any more`);
    if (maxCost !== undefined) {
      if (isFinished(status))
        throw new Conflict(`The campaign is ${status}: its max_cost cannot be changed any more`);
      await saveMaxCost(transaction, campaignId, maxCost);
    }
    if (name !== undefined || description !== undefined)
      await saveCampaignTexts(transaction, campaignId, { name, description });
    if (scheduledAt !== undefined) {
      if (!(await saveSchedule(transaction, campaignId, scheduledAt)))
        throw new Conflict(`The campaign is ${status}: only a SCHEDULED one has a time to change`);
      await enqueueRefresh(transaction, campaignId);
    }
    if (ignoreFrequencyCap !== undefined) {
      if (isFinished(status))
        throw new Conflict(`The campaign is ${status}: its frequency cap cannot be changed any more`);
      await saveCapExemption(transaction, campaignId, ignoreFrequencyCap);
      await enqueueRefresh(transaction, campaignId);
    }
    if (changesHours) {
      await saveCampaignWindow(transaction, campaignId, { sendingWindow, ignoreQuietHours });
      const { windows } = await getSendingHours(transaction, campaignId);
      if (nextOpenTime(windows, new Date()) === undefined) throw Invalid.at('sending_window', neverOpens);
      await enqueueRefresh(transaction, campaignId);
    }
    if (changesHours || scheduledAt !== undefined) {
      const ends = await offerEndingBeforeSending(transaction, campaignId, dependencies.now());
      const field = scheduledAt === undefined ? 'sending_window' : 'scheduled_at';
      if (ends !== undefined)
        throw Invalid.at(field, `${field} would begin to send after ${ends}: choose an earlier time`);
    }
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'campaign.update',
      objectId: campaignId,
      details: describeChanges(changes),
    });
  });
  dependencies.logger.info({ campaignId, changesHours }, 'campaign changed');
  if (changesHours || scheduledAt !== undefined || ignoreFrequencyCap !== undefined)
    await deliverWorkflowOutbox(dependencies, campaignId);
}
