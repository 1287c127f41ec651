/**
 * Archives of old recipients and messages. An archive is recorded when its object is complete; only then are its rows
 * deleted, in batches. So whoever reads the rows and then finds no record of an archive has read all of them.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

/** The recipients of a campaign, or the messages of a workspace's UTC month (`2026-03`). */
const ArchiveSource = t.type({
  workspaceId: t.number,
  campaignId: nullable(t.string),
  month: nullable(t.string),
});
export type ArchiveSource = t.TypeOf<typeof ArchiveSource>;

/** 31 days at least: the provider reports on a message for up to a month. */
const cutoff = (months: number) =>
  sql.fragment`least(now() - make_interval(months => ${months}), now() - interval '31 days')`;

export interface Age {
  readonly olderThanMonths: number;
  readonly limit: number;
}

/** Lists old campaigns that have ended, oldest first. A campaign with CLAIMED recipients is left out until the doctor settles it. */
export function listCampaignsToArchive(connection: Connection, { olderThanMonths, limit }: Age) {
  return connection.any(sql.type(row(ArchiveSource))`
    SELECT workspace_id AS "workspaceId", id AS "campaignId", NULL::text AS month
    FROM campaign JOIN campaign_counter ON campaign_id = id AND claimed = 0
    WHERE archived_at IS NULL AND status IN ('COMPLETED', 'FAILED', 'CANCELLED') AND created_at < ${cutoff(olderThanMonths)}
      AND COALESCE(completed_at, updated_at) < ${cutoff(olderThanMonths)}
    ORDER BY created_at LIMIT ${limit}`);
}

/** Lists, for each workspace, the earliest month with messages that is old enough and not archived yet. */
export function listMonthsToArchive(connection: Connection, { olderThanMonths, limit }: Age) {
  return connection.any(sql.type(row(ArchiveSource))`
    SELECT workspace.id AS "workspaceId", NULL::uuid AS "campaignId",
      to_char(oldest.created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month
    FROM workspace
    CROSS JOIN LATERAL (
      SELECT created_at FROM message
      WHERE message.workspace_id = workspace.id AND created_at >= COALESCE((
        SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' FROM archive WHERE archive.workspace_id = workspace.id
      ), '-infinity')
      ORDER BY created_at, id LIMIT 1
    ) AS oldest
    WHERE (date_trunc('month', oldest.created_at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
      <= ${cutoff(olderThanMonths)}
    ORDER BY workspace.id LIMIT ${limit}`);
}

const Known = row(t.type({ known: t.boolean }));

export function isArchived(connection: Connection, key: string): Promise<boolean> {
  return connection.oneFirst(sql.type(Known)`
    SELECT EXISTS (SELECT FROM archive WHERE key = ${key}) AS known`);
}

/** Records a complete object; another process that recorded the same one before wins. */
export async function recordArchive(
  connection: Connection,
  {
    workspaceId,
    campaignId,
    month,
    key,
    size,
  }: ArchiveSource & { readonly key: string; readonly size: number },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH recorded AS (
      INSERT INTO archive (key, workspace_id, campaign_id, month, size)
      VALUES (${key}, ${workspaceId}, ${campaignId}, to_date(${month}, 'YYYY-MM'), ${size})
      ON CONFLICT DO NOTHING
      RETURNING campaign_id
    )
    UPDATE campaign SET archived_at = now() FROM recorded WHERE campaign.id = recorded.campaign_id`);
}

const OpenArchive = t.type({ ...ArchiveSource.props, key: t.string });
export type OpenArchive = t.TypeOf<typeof OpenArchive>;

/** Lists recorded archives whose rows are not all deleted. */
export function listOpenArchives(connection: Connection, limit: number): Promise<readonly OpenArchive[]> {
  return connection.any(sql.type(row(OpenArchive))`
    SELECT key, workspace_id AS "workspaceId", campaign_id AS "campaignId", to_char(month, 'YYYY-MM') AS month
    FROM archive WHERE removed_at IS NULL ORDER BY created_at LIMIT ${limit}`);
}

/** Marks an archive whose rows are deleted, and deletes the counts by country of its campaign. */
export async function closeArchive(connection: Connection, { key, campaignId }: OpenArchive): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH counted AS (DELETE FROM campaign_countries WHERE campaign_id = ${campaignId}::uuid)
    UPDATE archive SET removed_at = now() WHERE key = ${key}`);
}

// A message whose outcome is unknown may still have its price reserved: deleting it releases the money.
const released = sql.fragment`
  UPDATE wallet SET reserved = reserved - total.amount, updated_at = now()
  FROM (
    SELECT channel_id, sum(price)::bigint AS amount FROM removed WHERE settlement = 'reserved' GROUP BY channel_id
  ) AS total
  WHERE wallet.channel_id = total.channel_id`;

const Position = row(t.type({ position: t.number }));

/** 0 without recipients. */
export async function lastPosition(connection: Connection, campaignId: string): Promise<number> {
  const last = await connection.maybeOneFirst(sql.type(Position)`
    SELECT position FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position DESC LIMIT 1`);
  return last ?? 0;
}

const Removed = row(t.type({ count: t.number }));

/**
 * Deletes the recipients of an archived campaign after a position, as many positions as `limit`. Both bounds keep Postgres to
 * the index of positions, whatever its statistics are. Returns the number of rows.
 */
export function deleteArchivedRecipients(
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

const RemovedMessages = t.type({ count: t.number, last: nullable(timestamp) });

/** Deletes the next messages of an archived month, by time of creation. */
export function deleteArchivedMessages(
  connection: Connection,
  {
    workspaceId,
    month,
    from,
    limit,
  }: {
    readonly workspaceId: number;
    readonly month: string;
    readonly from: Date | null;
    readonly limit: number;
  },
): Promise<t.TypeOf<typeof RemovedMessages>> {
  const first = sql.fragment`to_date(${month}, 'YYYY-MM')::timestamp`;
  return connection.one(sql.type(row(RemovedMessages))`
    WITH batch AS (
      SELECT id FROM message
      WHERE workspace_id = ${workspaceId}
        AND created_at >= COALESCE(${from?.toISOString() ?? null}::timestamptz, ${first} AT TIME ZONE 'UTC')
        AND created_at < (${first} + interval '1 month') AT TIME ZONE 'UTC'
      ORDER BY created_at, id LIMIT ${limit} FOR UPDATE
    ), removed AS (
      DELETE FROM message WHERE id = ANY (ARRAY(SELECT id FROM batch))
      RETURNING channel_id, price, settlement, created_at
    ), released AS (${released})
    SELECT count(*)::int4 AS count, max(created_at) AS last FROM removed`);
}

/** The key of a campaign's archive; null while its recipients are kept. Throws NotFound without such a campaign. */
export async function findCampaignArchive(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<string | null> {
  const found = await connection.maybeOne(sql.type(row(t.type({ key: nullable(t.string) })))`
    SELECT (SELECT key FROM archive WHERE campaign_id = campaign.id) AS key
    FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return (found ?? notFound('Campaign')).key;
}
