/** Notices for the users of a workspace. A notice is written in the transaction of the change that it reports. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { cleanText } from '../../domain/clean-text.ts';
import {
  noticeKinds,
  noticeSubjectTypes,
  type NewNotice,
  type NoticeKind,
} from '../../domain/operations/notice.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';

export async function insertNotices(connection: Connection, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return;
  const rows = notices.map(({ workspaceId, kind, subject, message }) => [
    workspaceId,
    kind,
    subject.type,
    subject.id,
    cleanText(subject.name, 512),
    cleanText(message, 2_000),
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO notice (workspace_id, kind, subject_type, subject_id, subject_name, message)
    SELECT * FROM ${sql.unnest(rows, ['int4', 'text', 'text', 'text', 'text', 'text'])}`);
}

const Notice = t.type({
  id: t.string,
  kind: oneOf(noticeKinds),
  subjectType: oneOf(noticeSubjectTypes),
  subjectId: t.string,
  subjectName: t.string,
  message: t.string,
  createdAt: timestamp,
  readAt: nullable(timestamp),
});
export type Notice = t.TypeOf<typeof Notice>;

interface NoticeQuery {
  readonly unread: boolean;
  readonly kind?: NoticeKind | undefined;
  /** Start of the period, included, and its end, excluded. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Continues after this notice. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export function listNotices(
  connection: Connection,
  workspaceId: number,
  { unread, kind, from, to, before, limit }: NoticeQuery,
): Promise<readonly Notice[]> {
  const isUnread = unread ? sql.fragment`AND read_at IS NULL` : sql.fragment``;
  const isBefore = before === undefined ? sql.fragment`` : sql.fragment`AND id < ${before}`;
  const ofKind = kind === undefined ? sql.fragment`` : sql.fragment`AND kind = ${kind}`;
  const since = from === undefined ? sql.fragment`` : sql.fragment`AND id >= ${firstIdAt(from)}`;
  const until = to === undefined ? sql.fragment`` : sql.fragment`AND id < ${firstIdAt(to)}`;
  return connection.any(sql.type(row(Notice))`
    SELECT id, kind, subject_type AS "subjectType", subject_id AS "subjectId", subject_name AS "subjectName", message,
      created_at AS "createdAt", read_at AS "readAt"
    FROM notice WHERE workspace_id = ${workspaceId} ${isUnread} ${isBefore} ${ofKind} ${since} ${until}
    ORDER BY id DESC LIMIT ${limit}`);
}

/** Marks the unread notices that were created at `until` or earlier. */
export async function markNoticesRead(
  connection: Connection,
  workspaceId: number,
  until: Date,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE notice SET read_at = now()
    WHERE workspace_id = ${workspaceId} AND read_at IS NULL AND created_at <= ${until.toISOString()}`);
}

const Unlisted = row(
  t.type({ id: t.string, workspaceId: t.number, displayPhoneNumber: t.string, code: t.number }),
);

/** Records codes that the table of codes does not list; returns those that are new today, with the channel that met them. */
export async function recordUnlistedCodes(
  connection: Connection,
  met: readonly { readonly channelId: string; readonly code: number }[],
) {
  if (met.length === 0) return [];
  const rows = met.map(({ channelId, code }) => [channelId, code]);
  return connection.any(sql.type(Unlisted)`
    WITH met AS MATERIALIZED (
      SELECT DISTINCT ON (workspace_id, code) workspace_id, code, channel.id, display_phone_number
      FROM ${sql.unnest(rows, ['uuid', 'int4'])} AS given (channel_id, code) JOIN channel ON channel.id = given.channel_id
      ORDER BY workspace_id, code
    ), forgotten AS (
      DELETE FROM unlisted_refusal
      WHERE workspace_id IN (SELECT workspace_id FROM met) AND day < (now() AT TIME ZONE 'UTC')::date
    ), recorded AS (
      INSERT INTO unlisted_refusal (workspace_id, code, day)
      SELECT workspace_id, code, (now() AT TIME ZONE 'UTC')::date FROM met ORDER BY workspace_id, code
      ON CONFLICT DO NOTHING RETURNING workspace_id, code
    )
    SELECT met.id, workspace_id AS "workspaceId", display_phone_number AS "displayPhoneNumber", code
    FROM met JOIN recorded USING (workspace_id, code)`);
}

const keptDays = 90;
const dayMs = 24 * 60 * 60 * 1_000;

/** Deletes notices older than 90 days; returns how many. */
export async function deleteOldNotices(connection: Connection, limit: number): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM notice WHERE id = ANY (ARRAY(
      SELECT id FROM notice WHERE id < ${firstIdAt(new Date(Date.now() - keptDays * dayMs))}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED))`);
  return rowCount;
}
