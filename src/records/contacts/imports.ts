/** Imports of contacts and what became of their rows. `import-batch.ts` writes both with the contacts. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { ImportMapping } from '../../codecs/campaign-audience.ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  importModes,
  importReasons,
  importResults,
  importStates,
  type ImportMapping as Mapping,
  type ImportMode,
  type ImportReason,
  type ImportResult,
} from '../../domain/contacts/import.ts';
import { Conflict, notFound } from '../../domain/error.ts';
import type { Connection, Transaction } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';

const ImportRow = t.type({
  id: t.string,
  workspaceId: t.number,
  fileKey: t.string,
  size: t.number,
  mapping: ImportMapping,
  mode: oneOf(importModes),
  defaultCountry: nullable(t.string),
  dryRun: t.boolean,
  state: oneOf(importStates),
  errorCode: nullable(t.string),
  errorMessage: nullable(t.string),
  createdBy: nullable(t.string),
  lastLine: t.number,
  bytesRead: t.number,
  rows: t.number,
  created: t.number,
  updated: t.number,
  unchanged: t.number,
  skipped: t.number,
  optedOut: t.number,
  optedIn: t.number,
  reasons: t.record(t.string, t.number),
  attempts: t.number,
  createdAt: timestamp,
  startedAt: nullable(timestamp),
  updatedAt: timestamp,
  endedAt: nullable(timestamp),
});
export type ContactImport = t.TypeOf<typeof ImportRow>;

const selection = sql.fragment`
  id, workspace_id AS "workspaceId", csv_file_key AS "fileKey", size::float8, mapping, mode, default_country AS "defaultCountry",
  dry_run AS "dryRun", state, error_code AS "errorCode", error_message AS "errorMessage", created_by AS "createdBy",
  last_line AS "lastLine", bytes_read::float8 AS "bytesRead", rows, created, updated, unchanged, skipped,
  opted_out AS "optedOut", opted_in AS "optedIn", reasons, attempts, created_at AS "createdAt", started_at AS "startedAt",
  updated_at AS "updatedAt", ended_at AS "endedAt"`;

const isOpen = sql.fragment`state IN ('PENDING', 'RUNNING')`;

export interface NewImport {
  readonly workspaceId: number;
  readonly fileKey: string;
  readonly mapping: Mapping;
  readonly mode: ImportMode;
  readonly defaultCountry: string | null;
  readonly dryRun: boolean;
  readonly createdBy: string | null;
}

/** Imports of a workspace that wait or run at a time. */
const maxOpen = 10;
const Count = row(t.type({ count: t.number }));

/** Throws NotFound for an unknown file, Conflict if too many imports of the workspace have not ended. */
export async function insertImport(
  transaction: Transaction,
  { workspaceId, fileKey, mapping, mode, defaultCountry, dryRun, createdBy }: NewImport,
): Promise<ContactImport> {
  await transaction.query(sql.type(nothing)`
    UPDATE campaign_file SET used_at = now() WHERE workspace_id = ${workspaceId} AND key = ${fileKey}`);
  const open = await transaction.oneFirst(sql.type(Count)`
    SELECT count(*)::int4 AS count FROM contact_import WHERE workspace_id = ${workspaceId} AND ${isOpen}`);
  if (open >= maxOpen)
    throw new Conflict(`${open} imports of the workspace have not ended: wait for one, or cancel it`);
  const inserted = await transaction.maybeOne(sql.type(row(ImportRow))`
    INSERT INTO contact_import (workspace_id, csv_file_key, size, mapping, mode, default_country, dry_run, created_by,
      workflow_asked_at)
    SELECT ${workspaceId}, key, size, ${JSON.stringify(ImportMapping.encode(mapping as ContactImport['mapping']))}::jsonb, ${mode}, ${defaultCountry}, ${dryRun}, ${createdBy}, now()
    FROM campaign_file WHERE workspace_id = ${workspaceId} AND key = ${fileKey}
    RETURNING ${selection}`);
  return inserted ?? notFound('Campaign file');
}

export async function getImport(
  connection: Connection,
  workspaceId: number,
  importId: string,
): Promise<ContactImport> {
  const found = await connection.maybeOne(sql.type(row(ImportRow))`
    SELECT ${selection} FROM contact_import WHERE workspace_id = ${workspaceId} AND id = ${importId}`);
  return found ?? notFound('Import');
}

interface PageRequest {
  /** The last row of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Newest first; one more than `limit`, if there are as many. */
export const listImports = (
  connection: Connection,
  workspaceId: number,
  { after, limit }: PageRequest,
): Promise<readonly ContactImport[]> =>
  connection.any(sql.type(row(ImportRow))`
    SELECT ${selection} FROM contact_import
    WHERE workspace_id = ${workspaceId} AND (${after ?? null}::uuid IS NULL OR id < ${after ?? null}::uuid)
    ORDER BY id DESC LIMIT ${limit + 1}`);

/** What is committed stays; one that has ended stays as it is. Returns whether it was cancelled now. */
export async function cancelImport(
  connection: Connection,
  workspaceId: number,
  importId: string,
): Promise<boolean> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE contact_import SET state = 'CANCELLED', ended_at = now(), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${importId} AND ${isOpen}`);
  return rowCount > 0;
}

const ImportLoad = t.type({ workspaceId: t.number, size: t.bigint });

/** The workspace, and the size of the file in bytes. Throws NotFound. */
export async function findImportLoad(
  connection: Connection,
  importId: string,
): Promise<t.TypeOf<typeof ImportLoad>> {
  const found = await connection.maybeOne(sql.type(row(ImportLoad))`
    SELECT workspace_id AS "workspaceId", size FROM contact_import WHERE id = ${importId}`);
  return found ?? notFound('Import');
}

/** Cancels the import of any workspace. */
export async function cancelAnyImport(connection: Connection, importId: string): Promise<void> {
  const { workspaceId } = await findImportLoad(connection, importId);
  await cancelImport(connection, workspaceId, importId);
}

/** Counts an attempt, and makes a waiting import RUNNING. Undefined if it has ended or does not exist. */
export async function beginImport(
  connection: Connection,
  importId: string,
): Promise<ContactImport | undefined> {
  const begun = await connection.maybeOne(sql.type(row(ImportRow))`
    UPDATE contact_import SET state = 'RUNNING', attempts = attempts + 1, started_at = COALESCE(started_at, now()), updated_at = now()
    WHERE id = ${importId} AND ${isOpen}
    RETURNING ${selection}`);
  return begun ?? undefined;
}

/** The attempt ended by itself: its worker did not die of a row. */
export async function releaseImport(connection: Connection, importId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE contact_import SET attempts = 0 WHERE id = ${importId} AND ${isOpen}`);
}

/** Changes nothing if it has ended. */
export async function endImport(
  connection: Connection,
  importId: string,
  failure?: { readonly code: string; readonly message: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE contact_import SET state = ${failure === undefined ? 'COMPLETED' : 'FAILED'},
      error_code = ${failure?.code ?? null}, error_message = ${failure?.message.slice(0, 1_000) ?? null},
      bytes_read = CASE WHEN ${failure === undefined} THEN size ELSE bytes_read END, ended_at = now(), updated_at = now()
    WHERE id = ${importId} AND ${isOpen}`);
}

const Start = t.type({ id: t.string, workspaceId: t.number });

/** An open import that made no progress for as long may have no workflow; to start one that runs changes nothing. */
const askAgainSeconds = 30;

/** Takes imports that may have no workflow, and notes that one is asked for. */
export const takeImportsToStart = (connection: Connection): Promise<readonly t.TypeOf<typeof Start>[]> =>
  connection.any(sql.type(row(Start))`
    UPDATE contact_import SET workflow_asked_at = now() WHERE id = ANY (ARRAY(
      SELECT id FROM contact_import
      WHERE ${isOpen} AND greatest(workflow_asked_at, updated_at) < now() - make_interval(secs => ${askAgainSeconds})
      ORDER BY id LIMIT 20 FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING id, workspace_id AS "workspaceId"`);

// What became of the rows.

const RowOfImport = t.type({
  line: t.number,
  result: oneOf(importResults),
  reason: nullable(oneOf(importReasons)),
  detail: nullable(t.string),
  contactId: nullable(t.string),
  /** Digits with country calling code; null without a contact and after an erasure. */
  phoneNumber: nullable(t.string),
});
export type ImportedRow = t.TypeOf<typeof RowOfImport>;

interface RowQuery {
  readonly workspaceId: number;
  readonly importId: string;
  readonly results: readonly ImportResult[] | undefined;
  readonly reasons: readonly ImportReason[] | undefined;
}

/** In the order of the file; one more than `limit`, if there are as many. */
export function listImportRows(
  connection: Connection,
  { workspaceId, importId, results, reasons }: RowQuery,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly ImportedRow[]> {
  const ofResults =
    results === undefined
      ? sql.fragment`TRUE`
      : sql.fragment`result = ANY (${sql.array([...results], 'text')})`;
  const ofReasons =
    reasons === undefined
      ? sql.fragment`TRUE`
      : sql.fragment`reason = ANY (${sql.array([...reasons], 'text')})`;
  return connection.any(sql.type(row(RowOfImport))`
    SELECT line, result, reason, detail, contact_id AS "contactId", (
      SELECT phone_number FROM contact WHERE workspace_id = (SELECT ${workspaceId}::int) AND contact.id = contact_id
    ) AS "phoneNumber"
    FROM contact_import_row
    WHERE import_id = ${importId} AND line > ${after} AND ${ofResults} AND ${ofReasons}
    ORDER BY line LIMIT ${limit + 1}`);
}

/** Deletes rows of imports that ended before the given time; returns how many. The imports with their counts stay. */
export async function removeImportRows(connection: Connection, before: Date, limit: number): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM contact_import_row USING (
      SELECT contact_import.id, old.line FROM contact_import CROSS JOIN LATERAL (
        SELECT line FROM contact_import_row WHERE import_id = contact_import.id ORDER BY line LIMIT ${limit}) AS old
      WHERE contact_import.id < ${firstIdAt(before)} AND NOT (${isOpen}) AND ended_at < ${before.toISOString()}
      ORDER BY contact_import.id, old.line LIMIT ${limit}) AS expired
    WHERE import_id = expired.id AND contact_import_row.line = expired.line`);
  return rowCount;
}
