/** Erasures that archives have to follow: the people of several erasures are removed from an archive in one rewriting. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row, timestamp } from '../database/row.ts';

const DueErasures = t.type({
  workspaceId: t.number,
  names: t.readonlyArray(t.string),
  /** When the latest of them was handed to the archives. */
  until: timestamp,
});
export type DueErasures = t.TypeOf<typeof DueErasures>;

/**
 * By workspace, once the oldest is a day old, so that archives are rewritten at most daily. An erasure younger than two hours
 * waits: an archive whose rows were read before the erasure may not be recorded yet.
 */
export function listDueErasures(connection: Connection): Promise<readonly DueErasures[]> {
  return connection.any(sql.type(row(DueErasures))`
    SELECT workspace_id AS "workspaceId", array_agg(name) AS names, max(created_at) AS until
    FROM archive_erasure CROSS JOIN LATERAL unnest(names) AS name
    WHERE created_at < now() - interval '2 hours'
    GROUP BY workspace_id HAVING min(created_at) < now() - interval '1 day'
    ORDER BY workspace_id`);
}

const isBehind = ({ workspaceId, until }: DueErasures) => sql.fragment`
  workspace_id = ${workspaceId} AND (erased_until IS NULL OR erased_until < ${until.toISOString()})`;

const Key = row(t.type({ key: t.string }));

/** Archives that still may name one of the people. */
export function listArchivesToErase(
  connection: Connection,
  due: DueErasures,
  limit: number,
): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(Key)`
    SELECT key FROM archive WHERE ${isBehind(due)} ORDER BY key LIMIT ${limit}`);
}

export async function isErasedFrom(connection: Connection, key: string, due: DueErasures): Promise<boolean> {
  const behind = await connection.maybeOneFirst(sql.type(Key)`
    SELECT key FROM archive WHERE key = ${key} AND ${isBehind(due)}`);
  return behind === null;
}

/** `size`: bytes of the rewritten object. */
export async function noteErasedFrom(
  connection: Connection,
  { key, size }: { readonly key: string; readonly size: number | undefined },
  due: DueErasures,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE archive SET erased_until = ${due.until.toISOString()}, size = COALESCE(${size ?? null}::int8, size)
    WHERE key = ${key} AND ${isBehind(due)}`);
}

/** Deletes the erasures that all archives of the workspace have followed. */
export async function endArchiveErasures(
  connection: Connection,
  { workspaceId, until }: DueErasures,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM archive_erasure WHERE workspace_id = ${workspaceId} AND created_at <= ${until.toISOString()}`);
}
