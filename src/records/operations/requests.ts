/** The log of API requests: what each key asked for and how it was answered. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';

const props = {
  at: timestamp,
  key_id: t.string,
  method: t.string,
  path: t.string,
  status: t.number,
  error_code: nullable(t.string),
  request_id: t.string,
  duration_ms: t.number,
};
const Request = t.type({ id: t.string, ...props });
export type LoggedRequest = t.TypeOf<typeof Request>;
export type NewRequest = Omit<LoggedRequest, 'id'> & { readonly workspaceId: number };

export async function insertRequests(connection: Connection, requests: readonly NewRequest[]): Promise<void> {
  const rows = requests.map((one) => [
    one.workspaceId,
    one.key_id,
    one.at.toISOString(),
    one.method,
    one.path,
    one.status,
    one.error_code,
    one.request_id,
    one.duration_ms,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO request_log (workspace_id, key_id, at, method, path, status, error_code, request_id, duration_ms)
    SELECT * FROM ${sql.unnest(rows, ['int4', 'text', 'timestamptz', 'text', 'text', 'int2', 'text', 'text', 'int4'])}`);
}

interface RequestQuery {
  readonly keyId: string | undefined;
  /** True: only those answered with an error. */
  readonly failed: boolean;
  /** Start of the period, included, and its end, excluded. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Continues after this request. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** 1 min: the longest time from the end of a request until its row is written. */
const longestDelayMs = 60_000;

/** Newest first, in the order in which they were written. */
export function listRequests(
  connection: Connection,
  workspaceId: number,
  { keyId, failed, from, to, before, limit }: RequestQuery,
): Promise<readonly LoggedRequest[]> {
  const conditions = [
    sql.fragment`workspace_id = ${workspaceId}`,
    ...(keyId === undefined ? [] : [sql.fragment`key_id = ${keyId}`]),
    ...(failed ? [sql.fragment`status >= 400`] : []),
    ...(from === undefined ? [] : [sql.fragment`id >= ${firstIdAt(from)} AND at >= ${from.toISOString()}`]),
    ...(to === undefined
      ? []
      : [sql.fragment`id < ${firstIdAt(to, longestDelayMs)} AND at < ${to.toISOString()}`]),
    ...(before === undefined ? [] : [sql.fragment`id < ${before}`]),
  ];
  return connection.any(sql.type(row(Request))`
    SELECT id, at, key_id, method, path, status, error_code, request_id, duration_ms FROM request_log
    WHERE ${sql.join(conditions, sql.fragment` AND `)} ORDER BY id DESC LIMIT ${limit}`);
}

const keptDays = 7;
const dayMs = 24 * 60 * 60 * 1_000;

/** Deletes requests older than seven days; returns how many. */
export async function deleteOldRequests(connection: Connection, limit: number): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM request_log WHERE id = ANY (ARRAY(
      SELECT id FROM request_log WHERE id < ${firstIdAt(new Date(Date.now() - keptDays * dayMs))}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED))`);
  return rowCount;
}
