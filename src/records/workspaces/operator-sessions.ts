/** Sessions of the dashboard and the links that begin them. Values of cookies and links are here as hashes only. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { keyScopes } from '../../domain/workspaces/api-key.ts';
import type { Connection } from '../database/database.ts';
import { auditEntryOfKey } from '../operations/audit.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const lifetime = '8 hours';
const idleTime = '30 minutes';
const linkLifetime = '10 minutes';
/** How long an operator's key that was added to a session counts. */
const operatorTime = '15 minutes';
/** Most sessions per key: more than the people of a team need, fewer than a script creates. */
const mostSessionsOfKey = 50;

const OperatorSession = t.type({
  workspaceId: t.number,
  workspaceName: t.string,
  keyId: t.string,
  scope: oneOf(keyScopes),
  channelId: nullable(t.string),
  /** A key that may recharge, added to the session; null without one, and when its time is over or it is revoked. */
  operatorKeyId: nullable(t.string),
  expiresAt: timestamp,
});
export type OperatorSession = t.TypeOf<typeof OperatorSession>;

/** Also removes expired sessions, and the key's least recently used one if the key would have more than it may. */
export async function insertSession(
  connection: Connection,
  { idHash, keyId }: { readonly idHash: Buffer; readonly keyId: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH surplus AS (
      DELETE FROM operator_session WHERE expires_at < now() OR id_hash IN (
        SELECT id_hash FROM operator_session WHERE key_id = ${keyId}
        ORDER BY seen_at DESC, id_hash OFFSET ${mostSessionsOfKey - 1})
    ), noted AS (${auditEntryOfKey('session.create', sql.fragment`SELECT ${keyId}::text AS key_id`)})
    INSERT INTO operator_session (id_hash, key_id, expires_at)
    VALUES (${sql.binary(idHash)}, ${keyId}, now() + ${lifetime}::interval)`);
}

/**
 * Returns undefined when there is no such session, it has expired, or its key is revoked. Records a use once a minute,
 * unless the request must not extend the session.
 */
export async function findSession(
  connection: Connection,
  { idHash, keepsAlive }: { readonly idHash: Buffer; readonly keepsAlive: boolean },
): Promise<OperatorSession | undefined> {
  const found = await connection.maybeOne(sql.type(row(OperatorSession))`
    WITH session AS (
      SELECT operator_session.*, api_key.workspace_id, api_key.scope, api_key.channel_id
      FROM operator_session JOIN api_key USING (key_id)
      WHERE id_hash = ${sql.binary(idHash)} AND revoked_at IS NULL
        AND expires_at > now() AND seen_at > now() - ${idleTime}::interval
    ), seen AS (
      UPDATE operator_session SET seen_at = now() FROM session
      WHERE ${keepsAlive} AND operator_session.id_hash = session.id_hash
        AND session.seen_at < now() - interval '1 minute'
    )
    SELECT session.workspace_id AS "workspaceId", workspace.name AS "workspaceName", session.key_id AS "keyId", session.scope,
      session.channel_id AS "channelId", operator.key_id AS "operatorKeyId", expires_at AS "expiresAt"
    FROM session
    JOIN workspace ON workspace.id = session.workspace_id
    LEFT JOIN api_key AS operator ON operator.key_id = session.operator_key_id AND operator.revoked_at IS NULL
      AND session.operator_until > now()`);
  return found ?? undefined;
}

export async function setOperatorKey(
  connection: Connection,
  { idHash, keyId }: { readonly idHash: Buffer; readonly keyId: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH changed AS (
      UPDATE operator_session SET operator_key_id = ${keyId}, operator_until = now() + ${operatorTime}::interval
      WHERE id_hash = ${sql.binary(idHash)}
      RETURNING operator_key_id AS key_id
    )
    ${auditEntryOfKey('session.add-operator', sql.fragment`SELECT key_id FROM changed`)}`);
}

/** Takes the operator's key off the session. */
export async function clearOperatorKey(connection: Connection, idHash: Buffer): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH changed AS (
      UPDATE operator_session SET operator_key_id = NULL, operator_until = NULL
      WHERE id_hash = ${sql.binary(idHash)} AND operator_key_id IS NOT NULL
      RETURNING old.operator_key_id AS key_id
    )
    ${auditEntryOfKey('session.remove-operator', sql.fragment`SELECT key_id FROM changed`)}`);
}

/** Ends the session and returns its key; undefined when there was none. */
export async function endSession(connection: Connection, idHash: Buffer): Promise<string | undefined> {
  const keyId = await connection.maybeOneFirst(sql.type(KeyId)`
    WITH ended AS (DELETE FROM operator_session WHERE id_hash = ${sql.binary(idHash)} RETURNING key_id),
      noted AS (${auditEntryOfKey('session.end', sql.fragment`SELECT key_id FROM ended`)})
    SELECT key_id FROM ended`);
  return keyId ?? undefined;
}

const KeyId = row(t.type({ key_id: t.string }));

const Link = row(t.type({ expires_at: timestamp }));

/** Returns when the link expires; undefined when there is no valid key. */
export async function insertSignInLink(
  connection: Connection,
  { tokenHash, keyId }: { readonly tokenHash: Buffer; readonly keyId: string },
): Promise<Date | undefined> {
  const expiresAt = await connection.maybeOneFirst(sql.type(Link)`
    WITH expired AS (DELETE FROM sign_in_link WHERE expires_at < now()),
    inserted AS (
      INSERT INTO sign_in_link (token_hash, key_id, expires_at)
      SELECT ${sql.binary(tokenHash)}, key_id, now() + ${linkLifetime}::interval
      FROM api_key WHERE key_id = ${keyId} AND revoked_at IS NULL
      RETURNING expires_at, key_id
    ), noted AS (${auditEntryOfKey('sign-in-link.create', sql.fragment`SELECT key_id FROM inserted`)})
    SELECT expires_at FROM inserted`);
  return expiresAt ?? undefined;
}

/** Consumes the link and returns its key; undefined when it was used, has expired or its key is revoked. */
export async function takeSignInLink(connection: Connection, tokenHash: Buffer): Promise<string | undefined> {
  const keyId = await connection.maybeOneFirst(sql.type(KeyId)`
    DELETE FROM sign_in_link USING api_key
    WHERE token_hash = ${sql.binary(tokenHash)} AND expires_at > now()
      AND api_key.key_id = sign_in_link.key_id AND revoked_at IS NULL
    RETURNING sign_in_link.key_id`);
  return keyId ?? undefined;
}

const Replaced = t.type({ from: t.string, to: t.string });

/** The names of both workspaces if the link leads to another workspace than that of the session. Consumes nothing. */
export async function findReplaced(
  connection: Connection,
  { tokenHash, idHash }: { readonly tokenHash: Buffer; readonly idHash: Buffer },
): Promise<t.TypeOf<typeof Replaced> | undefined> {
  const found = await connection.maybeOne(sql.type(row(Replaced))`
    WITH named AS (
      SELECT key_id, workspace.id, workspace.name FROM api_key JOIN workspace ON workspace.id = workspace_id
      WHERE revoked_at IS NULL
    )
    SELECT present.name AS "from", wanted.name AS "to"
    FROM operator_session JOIN named AS present USING (key_id)
    CROSS JOIN sign_in_link JOIN named AS wanted ON wanted.key_id = sign_in_link.key_id
    WHERE id_hash = ${sql.binary(idHash)} AND operator_session.expires_at > now()
      AND seen_at > now() - ${idleTime}::interval
      AND token_hash = ${sql.binary(tokenHash)} AND sign_in_link.expires_at > now() AND wanted.id <> present.id`);
  return found ?? undefined;
}
