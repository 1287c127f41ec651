import { sql } from 'slonik';
import * as t from 'io-ts';
import { FilterMatch, SegmentCondition } from '../../codecs/segment.ts';
import { referencesOf } from '../../domain/contacts/segment-filter.ts';
import { Conflict, Invalid, notFound, NotFound } from '../../domain/error.ts';
import type { Connection, Transaction } from '../database/database.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { nothing, row, timestamp } from '../database/row.ts';
import { findFieldTypes } from './contact-fields.ts';
import type { Filter, FilterContext } from './segment-filter.ts';

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

/** Locks the segments of a workspace until the transaction ends, so that two changes at a time cannot exceed what is allowed. */
export async function lockSegments(transaction: Transaction, workspaceId: number): Promise<void> {
  await transaction.query(sql.type(nothing)`
    SELECT FROM workspace WHERE id = ${workspaceId} FOR NO KEY UPDATE`);
}

/** After `lockSegments`. Throws Invalid when the workspace has as many as it may have. */
export async function insertSegment(
  transaction: Transaction,
  workspaceId: number,
  { name, match, conditions }: SegmentFields,
): Promise<Segment> {
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

const Name = row(t.type({ name: t.string }));

/** After `lockSegments`. Throws NotFound, and Conflict if another segment names it: `not_in` would then mean everybody. */
export async function deleteSegment(
  transaction: Transaction,
  workspaceId: number,
  segmentId: string,
): Promise<string> {
  const user = await transaction.maybeOneFirst(sql.type(Name)`
    SELECT name FROM segment
    WHERE workspace_id = ${workspaceId} AND id <> ${segmentId} AND conditions @> '[{"field": "segment"}]'
      AND EXISTS (SELECT FROM jsonb_array_elements(conditions) AS condition
        WHERE condition ->> 'field' = 'segment' AND condition -> 'value' ? ${segmentId.toLowerCase()})
    ORDER BY name LIMIT 1`);
  if (user !== null)
    throw new Conflict(`The segment "${user}" has a condition on this segment: change that first`);
  const name = await transaction.maybeOneFirst(sql.type(Name)`
    DELETE FROM segment WHERE workspace_id = ${workspaceId} AND id = ${segmentId} RETURNING name`);
  if (name === null) throw new NotFound('Segment');
  return name;
}

// What conditions refer to.

const FoundFilter = row(
  t.type({ id: t.string, match: FilterMatch, conditions: t.readonlyArray(SegmentCondition) }),
);

/** Those of the segments that exist, in the order of their ids. */
export function listFilters(connection: Connection, workspaceId: number, segmentIds: readonly string[]) {
  return connection.any(sql.type(FoundFilter)`
    SELECT id, match, conditions FROM segment
    WHERE workspace_id = ${workspaceId} AND id = ANY(${sql.array(segmentIds, 'uuid')}) ORDER BY id`);
}

/** Reads the segments that conditions name, and those which these name, with the types of all custom fields among them. */
export async function loadFilterContext(
  connection: Connection,
  workspaceId: number,
  conditions: readonly Filter['conditions'][],
): Promise<FilterContext> {
  const segments = new Map<string, Filter>();
  const asked = new Set<string>();
  const customFields = new Set<string>();
  let next = conditions.flat();
  while (next.length > 0) {
    const references = referencesOf(next);
    for (const fieldId of references.customFields) customFields.add(fieldId);
    const wanted = references.segmentIds.filter((id) => !asked.has(id));
    if (wanted.length === 0) break;
    for (const id of wanted) asked.add(id);
    const found = await listFilters(connection, workspaceId, wanted);
    for (const { id, ...filter } of found) segments.set(id, filter);
    next = found.flatMap((filter) => [...filter.conditions]);
  }
  return { segments, types: await findFieldTypes(connection, workspaceId, [...customFields]) };
}
