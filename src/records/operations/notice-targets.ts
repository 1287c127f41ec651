/** The address to which the notices of a workspace are posted, and the notices that wait for it. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { webhookErrorCodes, type WebhookErrorCode } from '../../domain/webhooks/delivery.ts';
import type { Connection } from '../database/database.ts';
import { bytes, nothing, nullable, row, timestamp } from '../database/row.ts';

const NoticeTarget = t.type({
  url: t.string,
  hasSecret: t.boolean,
  attemptedAt: nullable(timestamp),
  errorCode: nullable(oneOf(webhookErrorCodes)),
  responseStatus: nullable(t.number),
});
export type NoticeTarget = t.TypeOf<typeof NoticeTarget>;

const selection = sql.fragment`url, secret_encrypted IS NOT NULL AS "hasSecret", attempted_at AS "attemptedAt",
  error_code AS "errorCode", response_status AS "responseStatus"`;

export const findNoticeTarget = (connection: Connection, workspaceId: number): Promise<NoticeTarget | null> =>
  connection.maybeOne(sql.type(row(NoticeTarget))`
    SELECT ${selection} FROM notice_target WHERE workspace_id = ${workspaceId}`);

/** `id` is the one under which the secret is encrypted. Notices that wait go to the new address. */
export async function saveNoticeTarget(
  connection: Connection,
  workspaceId: number,
  {
    id,
    url,
    secretEncrypted,
  }: { readonly id: string; readonly url: string; readonly secretEncrypted: Buffer | null },
): Promise<NoticeTarget> {
  const secret = secretEncrypted === null ? null : sql.binary(secretEncrypted);
  return connection.one(sql.type(row(NoticeTarget))`
    INSERT INTO notice_target (id, workspace_id, url, secret_encrypted) VALUES (${id}, ${workspaceId}, ${url}, ${secret})
    ON CONFLICT (workspace_id) DO UPDATE SET id = excluded.id, url = excluded.url, secret_encrypted = excluded.secret_encrypted,
      attempted_at = NULL, error_code = NULL, response_status = NULL, updated_at = now()
    RETURNING ${selection}`);
}

/** Removes the address, and the notices that wait for it. */
export async function deleteNoticeTarget(connection: Connection, workspaceId: number): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH gone AS (DELETE FROM notice_target WHERE workspace_id = ${workspaceId})
    DELETE FROM notice_post WHERE workspace_id = ${workspaceId}`);
}

const NoticePost = t.type({
  noticeId: t.string,
  workspaceId: t.number,
  body: t.string,
  targetId: t.string,
  url: t.string,
  secretEncrypted: nullable(bytes),
});
/** A notice whose one attempt is now the caller's. */
export type NoticePost = t.TypeOf<typeof NoticePost>;

/** Workspaces whose notices are posted at the same time, the oldest of each. */
const mostPosted = 50;

/**
 * Takes the oldest waiting notice of each workspace: it is deleted before its request is made, so that there is at most one.
 * Notices without an address, or older than `expiryHours`, are deleted only.
 */
export function takeNoticePosts(connection: Connection, expiryHours: number): Promise<readonly NoticePost[]> {
  return connection.any(sql.type(row(NoticePost))`
    WITH oldest AS (
      SELECT DISTINCT ON (workspace_id) notice_id FROM notice_post ORDER BY workspace_id, notice_id LIMIT ${mostPosted}
    ), taken AS (
      DELETE FROM notice_post WHERE notice_id = ANY (ARRAY(
        SELECT notice_id FROM notice_post WHERE notice_id IN (SELECT notice_id FROM oldest) FOR UPDATE SKIP LOCKED))
      RETURNING notice_id, workspace_id, body, created_at
    )
    SELECT notice_id AS "noticeId", workspace_id AS "workspaceId", body, target.id AS "targetId", url,
      secret_encrypted AS "secretEncrypted"
    FROM taken JOIN notice_target AS target USING (workspace_id)
    WHERE taken.created_at >= now() - make_interval(hours => ${expiryHours})`);
}

export async function recordNoticePost(
  connection: Connection,
  targetId: string,
  {
    errorCode,
    responseStatus,
  }: { readonly errorCode: WebhookErrorCode | null; readonly responseStatus: number | null },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE notice_target SET attempted_at = now(), error_code = ${errorCode}, response_status = ${responseStatus}
    WHERE id = ${targetId}`);
}
