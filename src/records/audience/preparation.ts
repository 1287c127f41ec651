/** Reads the state of a preparation, and records a failed one. A successful one is recorded in `recipient-load.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { FrequencyCap } from '../../codecs/frequency-cap.ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  contactSelectionTypes,
  nextCampaignStatus,
  preparationStatuses,
  type CampaignStatus,
} from '../../domain/campaigns/campaign.ts';
import { consentPolicies } from '../../domain/contacts/consent.ts';
import { notFound } from '../../domain/error.ts';
import { campaignFailed } from '../../domain/operations/notice.ts';
import type { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import type { Connection } from '../database/database.ts';
import { lockCampaign, moveCampaign } from '../campaigns/lifecycle.ts';
import { insertNotices } from '../operations/notices.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

/** True while the recipients of a campaign are still to be found. */
export function isBeingPrepared(status: CampaignStatus, preparationStatus: string): boolean {
  return preparationStatus === 'PREPARING' && nextCampaignStatus(status, 'fail') !== undefined;
}

const CampaignToPrepare = t.type({
  id: t.string,
  workspace_id: t.number,
  channel_id: t.string,
  template_id: t.string,
  template_category: t.string,
  contact_selection_type: oneOf(contactSelectionTypes),
  audience: t.unknown,
  variable_mapping: t.unknown,
  scheduled_at: nullable(timestamp),
  status: oneOf(campaignStatuses),
  preparation_status: oneOf(preparationStatuses),
  blocked_countries: t.array(t.string),
  /** The workspace's, for numbers that name no country. */
  default_country: nullable(t.string),
  /** The workspace's. */
  require_consent: oneOf(consentPolicies),
  /** The workspace's, unless the campaign is exempt from it. */
  frequency_cap: nullable(FrequencyCap),
  /** Bytes of the CSV or the list of numbers; null for any other audience and for files of other servers. */
  input_bytes: nullable(t.number),
});
export type CampaignToPrepare = t.TypeOf<typeof CampaignToPrepare>;

// `csv_file_url` may be the address of an uploaded file, which ends with its key.
const fileKey = sql.fragment`COALESCE(campaign.audience ->> 'csv_file_key',
  substring(campaign.audience ->> 'csv_file_url' FROM '[^/]*$'))`;

/** Throws NotFound. */
export async function getCampaignToPrepare(
  connection: Connection,
  campaignId: string,
): Promise<CampaignToPrepare> {
  const found = await connection.maybeOne(sql.type(row(CampaignToPrepare))`
    SELECT campaign.id, campaign.workspace_id, campaign.channel_id, campaign.template_id,
      campaign.contact_selection_type, campaign.audience, campaign.variable_mapping, campaign.scheduled_at,
      campaign.status, campaign.preparation_status, channel.blocked_countries,
      (SELECT default_country FROM workspace WHERE id = campaign.workspace_id),
      (SELECT require_consent FROM workspace WHERE id = campaign.workspace_id),
      CASE WHEN NOT campaign.ignore_frequency_cap
        THEN (SELECT frequency_cap FROM workspace WHERE id = campaign.workspace_id) END AS frequency_cap,
      (SELECT category FROM template WHERE template.id = campaign.template_id) AS template_category,
      COALESCE(
        (SELECT octet_length(content) FROM campaign_input WHERE campaign_id = campaign.id),
        (SELECT least(size, 2147483647)::int4 FROM campaign_file WHERE workspace_id = campaign.workspace_id AND key = ${fileKey})) AS input_bytes
    FROM campaign JOIN channel ON channel.id = campaign.channel_id
    WHERE campaign.id = ${campaignId}`);
  return found ?? notFound('Campaign');
}

const Preparation = row(
  t.type({ status: oneOf(campaignStatuses), preparation_status: oneOf(preparationStatuses) }),
);

/** False once the campaign is cancelled or another process has finished its preparation. */
export async function needsPreparation(connection: Connection, campaignId: string): Promise<boolean> {
  const found = await connection.maybeOne(sql.type(Preparation)`
    SELECT status, preparation_status FROM campaign WHERE id = ${campaignId}`);
  return found !== null && isBeingPrepared(found.status, found.preparation_status);
}

/** Ends a preparation as failed; does nothing if the campaign no longer needs one. */
export async function failPreparation(
  database: Connection,
  campaignId: string,
  { code, message }: PreparationFailure,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (!isBeingPrepared(campaign.status, campaign.preparation_status)) return;
    await moveCampaign(transaction, campaign, 'fail');
    await insertNotices(transaction, [campaignFailed(campaign, message)]);
    await transaction.query(sql.type(nothing)`
      UPDATE campaign SET preparation_status = 'FAILED', preparation_error_code = ${code},
        preparation_error_message = ${message.slice(0, 1000)}
      WHERE id = ${campaignId}`);
    await transaction.query(sql.type(nothing)`DELETE FROM campaign_input WHERE campaign_id = ${campaignId}`);
  });
}
