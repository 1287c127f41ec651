/** The provider's ids of the files that were uploaded for campaigns, by channel and content. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/** The provider keeps a file for 30 days; the rest is for messages that still wait to be sent. */
const usableDays = 25;
const keptDays = 30;

export interface MediaContent {
  /** In hexadecimal. */
  readonly sha256: string;
  readonly type: string;
}

const Found = t.type({ sha256: t.string, type: t.string, id: t.string });

/** The ids of those files that the channel uploaded less than 25 days ago. */
export const findProviderMedia = (
  connection: Connection,
  channelId: string,
  contents: readonly MediaContent[],
): Promise<readonly t.TypeOf<typeof Found>[]> =>
  connection.any(sql.type(row(Found))`
    SELECT sha256, media_type AS type, media_id AS id FROM provider_media
    WHERE channel_id = ${channelId} AND sha256 = ANY(${sql.array(
      contents.map(({ sha256 }) => sha256),
      'text',
    )}) AND uploaded_at > now() - make_interval(days => ${usableDays})`);

/** Replaces an older upload of the same file. */
export async function saveProviderMedia(
  connection: Connection,
  channelId: string,
  { sha256, type, id }: MediaContent & { readonly id: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO provider_media (channel_id, sha256, media_type, media_id) VALUES (${channelId}, ${sha256}, ${type}, ${id})
    ON CONFLICT (channel_id, sha256, media_type) DO UPDATE SET media_id = excluded.media_id, uploaded_at = now()`);
}

const Renewal = row(t.type({ isDue: t.boolean }));

/**
 * The provider refused one of these ids: they are renewed before the next step. True if that step will have another id, also because
 * the file was renewed since these ids were read; false if all of them are new, and so not to blame.
 */
export function expireProviderMedia(
  connection: Connection,
  channelId: string,
  sent: readonly (MediaContent & { readonly id: string })[],
): Promise<boolean> {
  const files = sql.unnest(
    sent.map(({ sha256, type, id }) => [sha256, type, id]),
    ['text', 'text', 'text'],
  );
  return connection.oneFirst(sql.type(Renewal)`
    WITH sent AS (SELECT * FROM ${files} AS sent (sha256, media_type, media_id)), expired AS (
      UPDATE provider_media SET uploaded_at = now() - make_interval(days => ${usableDays})
      FROM sent WHERE channel_id = ${channelId} AND provider_media.sha256 = sent.sha256
        AND provider_media.media_type = sent.media_type AND provider_media.media_id = sent.media_id
        AND uploaded_at < now() - interval '10 minutes'
      RETURNING 1
    )
    SELECT EXISTS (SELECT FROM expired) OR EXISTS (
      SELECT FROM sent JOIN provider_media USING (sha256, media_type)
      WHERE channel_id = ${channelId} AND provider_media.media_id <> sent.media_id
        AND uploaded_at > now() - make_interval(days => ${usableDays})) AS "isDue"`);
}

/** Messages of these campaigns failed for their files, after they had been accepted: as `expireProviderMedia`. */
export async function expireMediaOfCampaigns(
  connection: Connection,
  campaignIds: readonly string[],
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE provider_media SET uploaded_at = now() - make_interval(days => ${usableDays})
    FROM (
      SELECT used.channel_id, file.sha256 FROM unnest(${sql.array(campaignIds, 'uuid')}) AS given (id)
      CROSS JOIN LATERAL (SELECT channel_id, message_plan FROM campaign WHERE campaign.id = given.id OFFSET 0) AS used
      CROSS JOIN LATERAL jsonb_to_recordset(coalesce(used.message_plan -> 'media', '[]')) AS file (sha256 text)
    ) AS failed
    WHERE provider_media.channel_id = failed.channel_id AND provider_media.sha256 = failed.sha256
      AND uploaded_at < now() - interval '10 minutes'`);
}

/** Deletes up to `limit` ids that the provider has forgotten; resolves to their number. */
export async function deleteOldProviderMedia(connection: Connection, limit: number): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM provider_media WHERE (channel_id, sha256, media_type) IN (
      SELECT channel_id, sha256, media_type FROM provider_media
      WHERE uploaded_at < now() - make_interval(days => ${keptDays}) ORDER BY uploaded_at LIMIT ${limit})`);
  return rowCount;
}
