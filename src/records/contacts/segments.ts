import { sql } from 'slonik';
import * as t from 'io-ts';
import { FilterMatch, SegmentCondition } from '../../codecs/segment.ts';
import { Invalid, notFound, NotFound } from '../../domain/error.ts';
import type { Connection, Transaction } from '../database/database.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { nothing, row, timestamp } from '../database/row.ts';

const Segment = t.type({
  id: t.string,
  name: t.string,
  match: FilterMatch,
  conditions: t.readonlyArray(SegmentCondition),
  created_at: timestamp,
  updated_at: timestamp,
});
export type Segment = t.TypeOf<typeof Segment>;

const selection = sql.fragment`id, name, match, conditions, created_at, updated_at`;

/** Sorted by name, then by id. */
export function listSegments(
  connection: Connection,
  workspaceId: number,
  page: PageRequest,
): Promise<Page<Segment>> {
  return listPage(connection, {
    ...page,
    narrowedBy: 'nothing: it is short',
    isCountedWhole: true,
    codec: Segment,
    columns: selection,
    table: sql.fragment`segment`,
    conditions: [sql.fragment`workspace_id = ${workspaceId}`],
    order: sql.fragment`name, id`,
    size: sql.fragment`octet_length(conditions::text)`,
  });
}

/** Throws NotFound, also for a segment of another workspace. */
export async function getSegment(
  connection: Connection,
  workspaceId: number,
  segmentId: string,
): Promise<Segment> {
  const found = await connection.maybeOne(sql.type(row(Segment))`
    SELECT ${selection} FROM segment WHERE workspace_id = ${workspaceId} AND id = ${segmentId}`);
  return found ?? notFound('Segment');
}

/** The conditions are checked before (`conditionProblems`). */
export type SegmentFields = Pick<Segment, 'name' | 'match' | 'conditions'>;

const json = (conditions: Segment['conditions']) => sql.jsonb(conditions as never);

const mostSegments = 1_000;
const Count = row(t.type({ count: t.number }));

/** Throws Invalid when the workspace has as many as it may have. */
export async function insertSegment(
  transaction: Transaction,
  workspaceId: number,
  { name, match, conditions }: SegmentFields,
): Promise<Segment> {
  // Locks the workspace: two concurrent creations must not both fit under the limit.
  await transaction.query(sql.type(nothing)`
    SELECT FROM workspace WHERE id = ${workspaceId} FOR NO KEY UPDATE`);
  const count = await transaction.oneFirst(sql.type(Count)`
    SELECT count(*)::int4 AS count FROM segment WHERE workspace_id = ${workspaceId}`);
  if (count >= mostSegments)
    throw new Invalid(`A workspace has at most ${mostSegments} segments: delete one`);
  return transaction.one(sql.type(row(Segment))`
    INSERT INTO segment (workspace_id, name, match, conditions)
    VALUES (${workspaceId}, ${name}, ${match}, ${json(conditions)})
    RETURNING ${selection}`);
}

/** Changes the fields that are given. Throws NotFound. */
export async function updateSegment(
  connection: Connection,
  workspaceId: number,
  { id, name, match, conditions }: { readonly id: string } & Partial<SegmentFields>,
): Promise<Segment> {
  const updated = await connection.maybeOne(sql.type(row(Segment))`
    UPDATE segment SET name = coalesce(${name ?? null}, name), match = coalesce(${match ?? null}, match),
      conditions = ${conditions === undefined ? sql.fragment`conditions` : json(conditions)}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id}
    RETURNING ${selection}`);
  return updated ?? notFound('Segment');
}

/** Throws NotFound. */
export async function deleteSegment(
  connection: Connection,
  workspaceId: number,
  segmentId: string,
): Promise<void> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM segment WHERE workspace_id = ${workspaceId} AND id = ${segmentId}`);
  if (rowCount === 0) throw new NotFound('Segment');
}
