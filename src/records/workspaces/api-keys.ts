/** API keys as they are stored: the hash of the secret, with the workspace, scope and channel of the key. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { keyScopes } from '../../domain/workspaces/api-key.ts';
import type { Connection } from '../database/database.ts';
import { bytes, nothing, nullable, row, timestamp } from '../database/row.ts';

const ApiKey = t.type({
  workspaceId: t.number,
  channelId: nullable(t.string),
  scope: oneOf(keyScopes),
  keyId: t.string,
  secretHash: bytes,
  pepperId: t.string,
  lastUsedAt: nullable(timestamp),
});
export type ApiKey = t.TypeOf<typeof ApiKey>;

/** Returns the keys among these ids that exist and are not revoked. */
export function findApiKeys(connection: Connection, keyIds: readonly string[]): Promise<readonly ApiKey[]> {
  return connection.any(sql.type(row(ApiKey))`
    SELECT workspace_id AS "workspaceId", channel_id AS "channelId", scope, key_id AS "keyId",
      secret_hash AS "secretHash", pepper_id AS "pepperId", last_used_at AS "lastUsedAt"
    FROM api_key WHERE key_id = ANY (${sql.array(keyIds, 'text')}) AND revoked_at IS NULL`);
}

/** `channelId` is given exactly when the scope is `channel`; a channel of another workspace is refused by the schema. */
export async function insertApiKey(
  connection: Connection,
  key: Omit<ApiKey, 'lastUsedAt'> & { readonly last4: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO api_key (workspace_id, channel_id, scope, key_id, secret_hash, pepper_id, last4)
    VALUES (${key.workspaceId}, ${key.channelId}, ${key.scope}, ${key.keyId}, ${sql.binary(key.secretHash)},
      ${key.pepperId}, ${key.last4})`);
}

/** Revokes a key; returns its workspace, or undefined when there is no such key. Idempotent. */
export async function revokeApiKey(connection: Connection, keyId: string): Promise<number | undefined> {
  const revoked = await connection.maybeOneFirst(sql.type(row(t.type({ workspace_id: t.number })))`
    UPDATE api_key SET revoked_at = coalesce(revoked_at, now()) WHERE key_id = ${keyId} RETURNING workspace_id`);
  return revoked ?? undefined;
}

/** Stores the hash of the secret under another pepper. A no-op when it is already stored, or the key is revoked. */
export async function replaceKeyHash(
  connection: Connection,
  { keyId, secretHash, pepperId }: Pick<ApiKey, 'keyId' | 'secretHash' | 'pepperId'>,
) {
  await connection.query(sql.type(nothing)`
    UPDATE api_key SET secret_hash = ${sql.binary(secretHash)}, pepper_id = ${pepperId}
    WHERE key_id = ${keyId} AND pepper_id <> ${pepperId} AND revoked_at IS NULL`);
}

const { channelId: _, secretHash: __, ...staleProps } = ApiKey.props;
const StaleKey = t.type(staleProps);
export type StaleKey = t.TypeOf<typeof StaleKey>;

/** Keys in force whose hash is under another pepper than this one, those used last first. */
export function listKeysUnderOtherPeppers(connection: Connection, pepperId: string) {
  return connection.any(sql.type(row(StaleKey))`
    SELECT key_id AS "keyId", workspace_id AS "workspaceId", scope, pepper_id AS "pepperId",
      last_used_at AS "lastUsedAt"
    FROM api_key WHERE pepper_id <> ${pepperId} AND revoked_at IS NULL
    ORDER BY last_used_at DESC NULLS LAST, key_id`);
}

/** Records a use of the key, at most once in five minutes over all processes. */
export async function touchApiKey(connection: Connection, keyId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE api_key SET last_used_at = now()
    WHERE key_id = ${keyId} AND (last_used_at IS NULL OR last_used_at < now() - interval '5 minutes')`);
}
