/** Who did what. Entries are never changed and hold no person's data. */
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
}

/** In the transaction of the change. */
export async function insertAuditEntry(connection: Connection, entry: NewAuditEntry): Promise<void> {
  await connection.query(sql.type(nothing)`${auditEntry(entry)}`);
}

/** As a part of the statement that makes the object; who did it is known from the call. */
export function auditEntry({ workspaceId, action, objectId }: NewAuditEntry): FragmentSqlToken {
  const { keyId = null, command = null, requestId = null } = callContext();
  return sql.fragment`
    INSERT INTO audit_entry (workspace_id, key_id, command, action, object_id, request_id)
    VALUES (${workspaceId}, ${keyId}, ${command}, ${action}, ${objectId}, ${requestId})`;
}

/** As a part of a statement: an entry in the workspace of each key that `keys` selects as `key_id`, which is its object and, unless the call says who acts, acts itself. */
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
});
export type AuditEntry = t.TypeOf<typeof Entry>;

/** Newest first, behind `before`. */
export async function listAuditEntries(
  connection: Connection,
  workspaceId: number,
  { before, limit }: { readonly before: bigint | undefined; readonly limit: number },
): Promise<readonly AuditEntry[]> {
  return connection.any(sql.type(row(Entry))`
    SELECT id, at, key_id, command, action, object_id, request_id FROM audit_entry
    WHERE workspace_id = ${workspaceId} AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint)
    ORDER BY id DESC LIMIT ${limit}`);
}
