/**
 * Deletes recipients of campaigns that ended long ago, and messages as old. Counters, ledger and opt-outs stay. `archived_at`
 * is set before the first row of a campaign is deleted: from then on nothing reads its recipients.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/** At least 31 days: the provider reports on a message for up to a month. */
const cutoff = (months: number) =>
  sql.fragment`least(now() - make_interval(months => ${months}), now() - interval '31 days')`;

const Id = row(t.type({ id: t.string }));

/**
 * Lists campaigns whose deletion was interrupted, then campaigns that ended long enough ago, each oldest first. A campaign with
 * CLAIMED recipients waits until their outcome is known. `except`: ids to leave out.
 */
export async function listCampaignsToDelete(
  connection: Connection,
  {
    olderThanMonths,
    limit,
    except,
  }: { readonly olderThanMonths: number; readonly limit: number; readonly except: readonly string[] },
): Promise<readonly string[]> {
  const others = sql.fragment`id <> ALL (${sql.array(except, 'uuid')})`;
  const interrupted = await connection.anyFirst(sql.type(Id)`
    SELECT id FROM campaign
    WHERE archived_at IS NOT NULL AND ${others} AND EXISTS (SELECT FROM recipient WHERE campaign_id = campaign.id)
    ORDER BY archived_at LIMIT ${limit}`);
  if (interrupted.length > 0) return interrupted;
  return connection.anyFirst(sql.type(Id)`
    SELECT id FROM campaign JOIN campaign_counter ON campaign_id = id AND claimed = 0
    WHERE archived_at IS NULL AND status IN ('COMPLETED', 'FAILED', 'CANCELLED') AND created_at < ${cutoff(olderThanMonths)}
      AND COALESCE(completed_at, updated_at) < ${cutoff(olderThanMonths)} AND ${others}
    ORDER BY created_at LIMIT ${limit}`);
}

const Position = row(t.type({ position: t.number }));

/** Marks the campaign. Returns its last position; 0 without recipients. */
export async function beginDeletingRecipients(connection: Connection, campaignId: string): Promise<number> {
  await connection.query(sql.type(nothing)`
    UPDATE campaign SET archived_at = now() WHERE id = ${campaignId} AND archived_at IS NULL`);
  const last = await connection.maybeOneFirst(sql.type(Position)`
    SELECT position FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position DESC LIMIT 1`);
  return last ?? 0;
}

// A message whose outcome is unknown may still have its price reserved: deleting it releases the money.
const released = sql.fragment`
  UPDATE wallet SET reserved = reserved - total.amount, updated_at = now()
  FROM (
    SELECT channel_id, sum(price)::bigint AS amount FROM removed WHERE settlement = 'reserved' GROUP BY channel_id
  ) AS total
  WHERE wallet.channel_id = total.channel_id`;

const Removed = row(t.type({ count: t.number }));

/**
 * Deletes the recipients after a position, as many positions as `limit`. Both bounds keep Postgres to the index of positions,
 * whatever its statistics are. Returns the number of rows.
 */
export function deleteRecipients(
  connection: Connection,
  {
    campaignId,
    after,
    limit,
  }: { readonly campaignId: string; readonly after: number; readonly limit: number },
): Promise<number> {
  return connection.oneFirst(sql.type(Removed)`
    WITH batch AS (
      SELECT position FROM recipient
      WHERE campaign_id = ${campaignId} AND position > ${after} AND position <= ${after + limit}
      ORDER BY position FOR UPDATE
    ), removed AS (
      DELETE FROM recipient WHERE campaign_id = ${campaignId} AND position = ANY (ARRAY(SELECT position FROM batch))
      RETURNING price, settlement, (SELECT channel_id FROM campaign WHERE campaign.id = ${campaignId}) AS channel_id
    ), released AS (${released})
    SELECT count(*)::int4 AS count FROM removed`);
}

export async function endDeletingRecipients(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_countries WHERE campaign_id = ${campaignId}`);
}

const Workspace = row(t.type({ id: t.number }));

/** Workspaces with a message that is old enough. */
export function listWorkspacesWithOldMessages(
  connection: Connection,
  olderThanMonths: number,
): Promise<readonly number[]> {
  return connection.anyFirst(sql.type(Workspace)`
    SELECT workspace.id FROM workspace
    CROSS JOIN LATERAL (
      SELECT created_at FROM message WHERE message.workspace_id = workspace.id ORDER BY created_at, id LIMIT 1
    ) AS oldest
    WHERE oldest.created_at < ${cutoff(olderThanMonths)}
    ORDER BY workspace.id`);
}

/** Deletes one batch, oldest first; both bounds keep Postgres to the index of creation. Returns the number of rows. */
export function deleteOldMessages(
  connection: Connection,
  {
    workspaceId,
    olderThanMonths,
    limit,
  }: { readonly workspaceId: number; readonly olderThanMonths: number; readonly limit: number },
): Promise<number> {
  return connection.oneFirst(sql.type(Removed)`
    WITH batch AS (
      SELECT id FROM message
      WHERE workspace_id = ${workspaceId} AND created_at >= '-infinity' AND created_at < ${cutoff(olderThanMonths)}
      ORDER BY created_at, id LIMIT ${limit} FOR UPDATE
    ), removed AS (
      DELETE FROM message WHERE id = ANY (ARRAY(SELECT id FROM batch)) RETURNING channel_id, price, settlement
    ), released AS (${released})
    SELECT count(*)::int4 AS count FROM removed`);
}
