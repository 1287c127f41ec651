/** PATCH of a campaign. A change to its sending hours takes effect at the next claim, or wakes its workflow. */
import { isFinished } from '../../domain/campaigns/campaign.ts';
import { nextOpenTime } from '../../domain/campaigns/sending-window.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Conflict, Invalid } from '../../domain/error.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import {
  saveCampaignTexts,
  saveCampaignWindow,
  saveSchedule,
  type CampaignChanges,
} from '../../records/campaigns/creation.ts';
import { lockCampaign } from '../../records/campaigns/lifecycle.ts';
import { getSendingHours } from '../../records/campaigns/sending-hours.ts';
import { enqueueRefresh } from '../../records/campaigns/workflow-outbox.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { deliverWorkflowOutbox } from './deliver-workflow-outbox.ts';

export const quietHoursRefusal = "ignore_quiet_hours may be true with an operator's key only";
export const neverOpens =
  'sending_window has no time in common with the sending window of the workspace: choose hours within it';

/** Throws NotFound, Invalid, or Conflict if the campaign whose hours are changed has ended. */
export async function editCampaign(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'now'>,
  { workspaceId, scope }: Pick<Principal, 'workspaceId' | 'scope'>,
  campaignId: string,
  changes: CampaignChanges,
): Promise<void> {
  const { name, description, sendingWindow, ignoreQuietHours, scheduledAt } = changes;
  if (ignoreQuietHours === true && scope !== 'operator')
    throw Invalid.at('ignore_quiet_hours', quietHoursRefusal);
  if (scheduledAt !== undefined && scheduledAt.getTime() <= dependencies.now().getTime())
    throw Invalid.at('scheduled_at', 'Scheduled time must be in the future', 'schedule_in_past');
  const changesHours = sendingWindow !== undefined || ignoreQuietHours !== undefined;
  await dependencies.database.transaction(async (transaction) => {
    const { status } = await lockCampaign(transaction, campaignId, workspaceId);
    if (changesHours && isFinished(status))
      throw new Conflict(`The campaign is ${status}: its sending window cannot be changed any more`);
    if (name !== undefined || description !== undefined)
      await saveCampaignTexts(transaction, campaignId, { name, description });
    if (scheduledAt !== undefined) {
      if (!(await saveSchedule(transaction, campaignId, scheduledAt)))
        throw new Conflict(`The campaign is ${status}: only a SCHEDULED one has a time to change`);
      await enqueueRefresh(transaction, campaignId);
    }
    if (changesHours) {
      await saveCampaignWindow(transaction, campaignId, { sendingWindow, ignoreQuietHours });
      const { windows } = await getSendingHours(transaction, campaignId);
      if (nextOpenTime(windows, new Date()) === undefined) throw Invalid.at('sending_window', neverOpens);
      await enqueueRefresh(transaction, campaignId);
    }
    await insertAuditEntry(transaction, { workspaceId, action: 'campaign.update', objectId: campaignId });
  });
  dependencies.logger.info({ campaignId, changesHours }, 'campaign changed');
  if (changesHours || scheduledAt !== undefined) await deliverWorkflowOutbox(dependencies, campaignId);
}
