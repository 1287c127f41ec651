/** Every encrypted column, for the rotation of the key they are encrypted under. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { bytes, nothing, row } from '../database/row.ts';

const webhook = { table: sql.fragment`webhook_configuration`, row: sql.fragment`'webhook ' || id` };
const columns = {
  channel: {
    table: sql.fragment`channel`,
    row: sql.fragment`'channel ' || id`,
    column: sql.fragment`access_token_encrypted`,
  },
  webhook: { ...webhook, column: sql.fragment`secret_encrypted` },
  previous_webhook: { ...webhook, column: sql.fragment`previous_secret_encrypted` },
  notice: {
    table: sql.fragment`notice_target`,
    row: sql.fragment`'notice ' || id`,
    column: sql.fragment`secret_encrypted`,
  },
  erasure: {
    table: sql.fragment`erasure_key`,
    row: sql.fragment`'erasure ' || workspace_id`,
    column: sql.fragment`key_encrypted`,
  },
};

export type SecretColumn = keyof typeof columns;
export const secretColumns = Object.keys(columns) as readonly SecretColumn[];

const StoredSecret = t.type({
  id: t.string,
  row: t.string,
  encrypted: bytes,
});
export type StoredSecret = t.TypeOf<typeof StoredSecret>;

/** Returns the next secrets by id, after `afterId`. */
export async function listStoredSecrets(
  connection: Connection,
  {
    secret,
    afterId,
    limit,
  }: { readonly secret: SecretColumn; readonly afterId: string; readonly limit: number },
): Promise<readonly StoredSecret[]> {
  const { table, column, row: owner } = columns[secret];
  return connection.any(sql.type(row(StoredSecret))`
    SELECT id, ${owner} AS row, ${column} AS encrypted FROM ${table}
    WHERE id > ${afterId} AND ${column} IS NOT NULL ORDER BY id LIMIT ${limit}`);
}

/** Returns one secret of the column for each key that encrypts some: bytes 2 to 9 are the key's id. */
export function listSecretSamples(
  connection: Connection,
  secret: SecretColumn,
): Promise<readonly StoredSecret[]> {
  const { table, column, row: owner } = columns[secret];
  return connection.any(sql.type(row(StoredSecret))`
    SELECT DISTINCT ON (substring(${column} FROM 2 FOR 8)) id, ${owner} AS row, ${column} AS encrypted
    FROM ${table} WHERE ${column} IS NOT NULL`);
}

/** Returns false when the secret was changed meanwhile: it is then encrypted under the present key already. */
export async function replaceStoredSecret(
  connection: Connection,
  {
    secret,
    before,
    after,
  }: { readonly secret: SecretColumn; readonly before: StoredSecret; readonly after: Buffer },
): Promise<boolean> {
  const { table, column } = columns[secret];
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE ${table} SET ${column} = ${sql.binary(after)}
    WHERE id = ${before.id} AND ${column} = ${sql.binary(before.encrypted)}`);
  return rowCount > 0;
}
