/** The Temporal namespace, the Postgres server and the folder of files that this database works with: one row. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { callContext } from '../../concurrency/call-context.ts';
import type { AuditAction } from '../../domain/operations/audit.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

const Installation = t.type({
  /** Null before the first start. */
  namespaceId: nullable(t.string),
  namespace: nullable(t.string),
  postgresId: nullable(t.string),
  /** Null before the first start on a folder. */
  filesId: nullable(t.string),
  /** The id of the Postgres server and database that answers now. */
  presentPostgresId: t.string,
});
export type Installation = t.TypeOf<typeof Installation>;

const presentPostgres = sql.fragment`
  (SELECT system_identifier FROM pg_control_system()) || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`;

export function readInstallation(connection: Connection): Promise<Installation> {
  return connection.one(sql.type(row(Installation))`
    SELECT temporal_namespace_id AS "namespaceId", temporal_namespace AS namespace, postgres_id AS "postgresId",
      files_id AS "filesId", ${presentPostgres} AS "presentPostgresId"
    FROM installation`);
}

export interface Namespace {
  readonly id: string;
  readonly name: string;
}

/** Records the namespace and the Postgres server at the first start; does nothing at a later one. */
export async function bindInstallation(connection: Connection, { id, name }: Namespace): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE installation SET temporal_namespace_id = ${id}, temporal_namespace = ${name}, postgres_id = ${presentPostgres}
    WHERE temporal_namespace_id IS NULL`);
}

/** Records the folder of files at the first start; does nothing at a later one. */
export async function bindFiles(connection: Connection, filesId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE installation SET files_id = ${filesId} WHERE files_id IS NULL`);
}

/** Replaces what the row says; the next process that starts records its folder of files. */
export async function adoptInstallation(connection: Connection, { id, name }: Namespace): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE installation SET temporal_namespace_id = ${id}, temporal_namespace = ${name}, postgres_id = ${presentPostgres},
      files_id = NULL`);
}

/** Writes an audit entry in every workspace. */
export async function auditInstallation(connection: Connection, action: AuditAction): Promise<void> {
  const { command = null } = callContext();
  await connection.query(sql.type(nothing)`
    INSERT INTO audit_entry (workspace_id, command, action, object_id)
    SELECT id, ${command}, ${action}, 'database' FROM workspace`);
}

const Key = row(t.type({ pepper_id: t.string }));

/** The ids of the peppers under which API keys in force are stored. */
export function listPeppersInUse(connection: Connection): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(Key)`SELECT DISTINCT pepper_id FROM api_key WHERE revoked_at IS NULL`);
}
