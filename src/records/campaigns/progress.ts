/** Status and counters of the campaigns that clients follow, by one statement for all of them. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses, pauseReasons, preparationStatuses } from '../../domain/campaigns/campaign.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';
import { Windows, windowsColumn } from './sending-hours.ts';
import { contactTotals } from './campaign-snapshot.ts';
import { counterColumns, counterFields } from './status-counters.ts';

const CampaignProgress = t.type({
  id: t.string,
  status: oneOf(campaignStatuses),
  pause_reason: nullable(oneOf(pauseReasons)),
  preparation_status: oneOf(preparationStatuses),
  total_contacts: t.number,
  total_contacts_skipped: t.number,
  /** Sending windows that must all be open. */
  windows: Windows,
  ...counterFields,
  /** Micro-units. */
  charged: t.bigint,
});
export type CampaignProgress = t.TypeOf<typeof CampaignProgress>;

export function listCampaignProgress(connection: Connection, campaignIds: readonly string[]) {
  return connection.any(sql.type(row(CampaignProgress))`
    SELECT campaign.id, campaign.status, pause_reason, preparation_status, ${contactTotals}, ${windowsColumn} AS windows,
      ${counterColumns}, charged
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    WHERE campaign.id = ANY (${sql.array(campaignIds, 'uuid')})`);
}
