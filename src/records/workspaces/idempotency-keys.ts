/** Idempotency keys: the key's request and its response, kept 24 hours. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { bytes, nothing, nullable, row } from '../database/row.ts';

export interface IdempotencyScope {
  readonly workspaceId: number;
  /** The API key's channel; null for a key of the workspace. */
  readonly channelId: string | null;
  /** Method and path. */
  readonly route: string;
  readonly key: string;
}

export interface StoredResponse {
  readonly status: number;
  /** The exact JSON text. */
  readonly body: string;
}

const keyLifetime = sql.fragment`interval '24 hours'`;

const StoredKey = t.type({
  request_sha256: nullable(bytes),
  response_status: nullable(t.number),
  response_body: nullable(t.string),
  resource_id: nullable(t.string),
  age_ms: nullable(t.number),
});
const LockedKey = row(t.type({ ...StoredKey.props, locked: t.boolean }));

export interface IdempotencyRecord {
  readonly requestSha256: Buffer;
  /** Undefined while the request runs, or when its process died. */
  readonly response: StoredResponse | undefined;
  /** The resource that the request was creating. */
  readonly resourceId: string | null;
  readonly ageMs: number;
}

function present(columnsOfKey: t.TypeOf<typeof StoredKey>): IdempotencyRecord | undefined {
  const { request_sha256: requestSha256, response_status: status, response_body: body } = columnsOfKey;
  if (requestSha256 === null) return undefined;
  return {
    requestSha256,
    response: status === null || body === null ? undefined : { status, body },
    resourceId: columnsOfKey.resource_id,
    ageMs: columnsOfKey.age_ms ?? 0,
  };
}

const selected = sql.fragment`
  request_sha256, response_status, response_body, resource_id,
  (extract(epoch FROM clock_timestamp() - created_at) * 1000)::float8 AS age_ms`;

const storedRoute = ({ route, channelId }: IdempotencyScope): string => `${route} ${channelId ?? '-'}`;

const rowOf = (scope: IdempotencyScope) => sql.fragment`
  workspace_id = ${scope.workspaceId} AND route = ${storedRoute(scope)} AND key = ${scope.key}`;

const alive = (scope: IdempotencyScope) => sql.fragment`
  SELECT ${selected} FROM idempotency_key WHERE ${rowOf(scope)} AND created_at > now() - ${keyLifetime}`;

export async function findIdempotencyKey(
  connection: Connection,
  scope: IdempotencyScope,
): Promise<IdempotencyRecord | undefined> {
  const found = await connection.maybeOne(sql.type(row(StoredKey))`${alive(scope)}`);
  return found === null ? undefined : present(found);
}

/**
 * Takes the key for the rest of the transaction without waiting: `locked` is false while another transaction has it.
 * A row that is committed at that very instant can be missed; `insertIdempotencyKey` then refuses.
 */
export async function lockIdempotencyKey(
  connection: Connection,
  scope: IdempotencyScope,
): Promise<{ readonly locked: boolean; readonly record: IdempotencyRecord | undefined }> {
  const found = await connection.one(sql.type(LockedKey)`
    SELECT locked, found.*
    FROM pg_try_advisory_xact_lock(hashtextextended(
      ${`${scope.workspaceId} ${scope.route} ${scope.key}`}, 0)) AS locked
    LEFT JOIN (${alive(scope)}) AS found ON TRUE`);
  return { locked: found.locked, record: present(found) };
}

const Inserted = row(t.type({ key: t.string }));

/** Inserts the key, with `resourceId` while there is no response yet. False if the key exists; an expired row is replaced. */
export async function insertIdempotencyKey(
  connection: Connection,
  entry: IdempotencyScope & { readonly requestSha256: Buffer } & (
      | { readonly resourceId: string; readonly response?: undefined }
      | { readonly resourceId?: undefined; readonly response: StoredResponse }
    ),
): Promise<boolean> {
  const { response } = entry;
  const inserted = await connection.maybeOne(sql.type(Inserted)`
    INSERT INTO idempotency_key
      (workspace_id, route, key, request_sha256, resource_id, response_status, response_body)
    VALUES (${entry.workspaceId}, ${storedRoute(entry)}, ${entry.key}, ${sql.binary(entry.requestSha256)},
      ${entry.resourceId ?? null}, ${response?.status ?? null}, ${response?.body ?? null})
    ON CONFLICT (workspace_id, route, key) DO UPDATE SET
      request_sha256 = excluded.request_sha256, response_status = excluded.response_status,
      response_body = excluded.response_body, resource_id = excluded.resource_id, created_at = now()
    WHERE idempotency_key.created_at <= now() - ${keyLifetime}
    RETURNING key`);
  return inserted !== null;
}

/** Stores the response of a reserved key; an existing response stays. */
export async function completeIdempotencyKey(
  connection: Connection,
  { response, ...scope }: IdempotencyScope & { readonly response: StoredResponse },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE idempotency_key SET response_status = ${response.status}, response_body = ${response.body}
    WHERE ${rowOf(scope)} AND response_status IS NULL`);
}

/** Deletes a reserved key whose request failed without any effect. */
export async function deleteReservedIdempotencyKey(
  connection: Connection,
  scope: IdempotencyScope,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM idempotency_key WHERE ${rowOf(scope)} AND response_status IS NULL`);
}

/** Deletes at most `limit` expired rows. Returns their number. */
export async function deleteExpiredIdempotencyKeys(connection: Connection, limit: number): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_key WHERE created_at <= now() - ${keyLifetime} LIMIT ${limit}))`);
  return rowCount;
}
