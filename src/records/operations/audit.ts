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
