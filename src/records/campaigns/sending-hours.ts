/** Reads the sending windows of a campaign for its send steps. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { SendingWindow } from '../../codecs/sending-window.ts';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses } from '../../domain/campaigns/campaign.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

export const Windows = t.readonlyArray(SendingWindow);

/**
 * Selects the sending windows that must all be open, from `campaign` joined with `template`. The workspace's window applies
 * to MARKETING templates, unless an operator has exempted the campaign.
 */
export const windowsColumn = sql.fragment`
  array_to_json(array_remove(ARRAY[campaign.sending_window,
    CASE WHEN template.category = 'MARKETING' AND NOT campaign.ignore_quiet_hours
      THEN (SELECT sending_window FROM workspace WHERE workspace.id = campaign.workspace_id) END], NULL))`;

const SendingHours = t.type({
  status: oneOf(campaignStatuses),
  epoch: t.number,
  pending: t.number,
  claimed: t.number,
  claimedPosition: t.number,
  windows: Windows,
  /** Epoch milliseconds on Postgres' clock. */
  now: t.number,
});
export interface SendingHours extends t.TypeOf<typeof SendingHours> {
  /** `performance.now()` before Postgres read its clock: a slow result makes a window close earlier, never later. */
  readonly askedAt: number;
}

/** Throws NotFound. */
export async function getSendingHours(connection: Connection, campaignId: string): Promise<SendingHours> {
  const askedAt = performance.now();
  const found = await connection.maybeOne(sql.type(row(SendingHours))`
    SELECT campaign.status, epoch, pending, claimed, claimed_position AS "claimedPosition", ${windowsColumn} AS windows,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
    FROM campaign
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    WHERE campaign.id = ${campaignId}`);
  return { ...(found ?? notFound('Campaign')), askedAt };
}

const Offer = t.type({ ends_at: nullable(t.number), scheduled_at: nullable(timestamp), windows: Windows });

/**
 * When the limited-time offer in the messages of the campaign ends, in epoch milliseconds; null without one, or if it is not yet
 * known because the campaign takes the messages of another one.
 */
export async function getOffer(connection: Connection, campaignId: string): Promise<t.TypeOf<typeof Offer>> {
  const found = await connection.maybeOne(sql.type(row(Offer))`
    SELECT (SELECT (ends_at #>> '{}')::float8 FROM (VALUES (coalesce(
        jsonb_path_query_first(message_plan, '$.components[*].parameters[*].limited_time_offer.expiration_time_ms'),
        variable_mapping #> '{limited_time_offer,expiration_time_ms}'))) AS given (ends_at)
        WHERE jsonb_typeof(ends_at) = 'number') AS ends_at,
      CASE WHEN campaign.status = 'SCHEDULED' THEN scheduled_at END AS scheduled_at, ${windowsColumn} AS windows
    FROM campaign JOIN template ON template.id = campaign.template_id WHERE campaign.id = ${campaignId}`);
  return found ?? notFound('Campaign');
}

/** Does nothing once the campaign, or a window of it, has changed since `epoch`. */
export async function recordWindowOpening(
  connection: Connection,
  {
    campaignId,
    epoch,
    opensAt,
  }: { readonly campaignId: string; readonly epoch: number; readonly opensAt: Date },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE campaign SET window_opens_at = ${opensAt.toISOString()}::timestamptz
    WHERE id = ${campaignId} AND epoch = ${epoch}
      AND window_opens_at IS DISTINCT FROM ${opensAt.toISOString()}::timestamptz`);
}
