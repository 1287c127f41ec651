/** The audit log: which key or admin command changed what. Entries are never changed and hold no personal data. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { AuditAction } from '../../domain/operations/audit.ts';
import { callContext } from '../../concurrency/call-context.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

export interface NewAuditEntry {
  readonly workspaceId: number;
  readonly action: AuditAction;
  readonly objectId: string | FragmentSqlToken;
  /** What changed, in texts by name: amounts, settings, and the name of what is deleted. No personal data. */
  readonly details?: AuditDetails;
}

export type AuditDetails = Readonly<Record<string, string | null>>;

/** Pass the transaction of the change, so that both commit or neither does. */
export async function insertAuditEntry(connection: Connection, entry: NewAuditEntry): Promise<void> {
  await connection.query(sql.type(nothing)`${auditEntry(entry)}`);
}

/** Fragment for the statement that creates the object; the actor comes from the call context. */
export function auditEntry({ workspaceId, action, objectId, details }: NewAuditEntry): FragmentSqlToken {
  const { keyId = null, command = null, requestId = null } = callContext();
  return sql.fragment`
    INSERT INTO audit_entry (workspace_id, key_id, command, action, object_id, request_id, details)
    VALUES (${workspaceId}, ${keyId}, ${command}, ${action}, ${objectId}, ${requestId},
      ${details === undefined ? null : JSON.stringify(details)}::jsonb)`;
}

/**
 * Fragment that writes an entry for each key that `keys` selects as `key_id`, in the workspace of that key. The key is the
 * object and, unless the call context names an actor, also the actor.
 */
export function auditEntryOfKey(action: AuditAction, keys: FragmentSqlToken): FragmentSqlToken {
  const { keyId = null, command = null, requestId = null } = callContext();
  return sql.fragment`
    INSERT INTO audit_entry (workspace_id, key_id, command, action, object_id, request_id)
    SELECT workspace_id, coalesce(${keyId}, CASE WHEN ${command}::text IS NULL THEN api_key.key_id END), ${command},
      ${action}, api_key.key_id, ${requestId}
    FROM api_key WHERE api_key.key_id IN (${keys})`;
}

const Entry = t.type({
  id: t.bigint,
  at: timestamp,
  key_id: nullable(t.string),
  command: nullable(t.string),
  action: t.string,
  object_id: t.string,
  request_id: nullable(t.string),
  object_name: nullable(t.string),
  details: nullable(t.record(t.string, nullable(t.string))),
});
export type AuditEntry = t.TypeOf<typeof Entry>;

export interface AuditQuery {
  /** Continues below this id. */
  readonly before: bigint | undefined;
  readonly limit: number;
  readonly objectId?: string | undefined;
  /** First part of the actions, such as `campaign`. */
  readonly object?: string | undefined;
  readonly keyId?: string | undefined;
  /** Start of the period, included, and its end, excluded. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** The present name of an entry's object, or the one that it had when it was deleted; contacts have none here. */
const objectName = sql.fragment`coalesce(audit_entry.details ->> 'name', CASE split_part(action, '.', 1)
  WHEN 'campaign' THEN (SELECT name FROM campaign WHERE campaign.id = object_uuid)
  WHEN 'channel' THEN (SELECT display_phone_number FROM channel WHERE channel.id = object_uuid)
  WHEN 'wallet' THEN (SELECT display_phone_number FROM channel WHERE channel.id = object_uuid)
  WHEN 'webhook' THEN (SELECT title FROM webhook_configuration WHERE webhook_configuration.id = object_uuid) END)`;

/** Lists entries newest first. */
export async function listAuditEntries(
  connection: Connection,
  workspaceId: number,
  { before, limit, objectId, object, keyId, from, to }: AuditQuery,
): Promise<readonly AuditEntry[]> {
  const ofObject = objectId === undefined ? sql.fragment`` : sql.fragment`AND object_id = ${objectId}`;
  const ofKind =
    object === undefined ? sql.fragment`` : sql.fragment`AND starts_with(action, ${`${object}.`})`;
  const byKey = keyId === undefined ? sql.fragment`` : sql.fragment`AND key_id = ${keyId}`;
  const since = from === undefined ? sql.fragment`` : sql.fragment`AND at >= ${from.toISOString()}`;
  const until = to === undefined ? sql.fragment`` : sql.fragment`AND at < ${to.toISOString()}`;
  return connection.any(sql.type(row(Entry))`
    SELECT id, at, key_id, command, action, object_id, request_id, details, ${objectName} AS object_name
    FROM audit_entry, LATERAL (SELECT CASE WHEN pg_input_is_valid(object_id, 'uuid') THEN object_id::uuid END AS object_uuid)
    WHERE workspace_id = ${workspaceId} AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint)
      ${ofObject} ${ofKind} ${byKey} ${since} ${until}
    ORDER BY id DESC LIMIT ${limit}`);
}
