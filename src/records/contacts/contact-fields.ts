/** The custom fields of a workspace's contacts and their types. The values stand in `contact.custom_fields`, as text. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { type FieldType, type FieldTypes, fieldTypes } from '../../domain/contacts/field-type.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

const FieldId = row(t.type({ id: t.string }));

/** The known custom fields whose ids are these, whatever the case of their letters. */
export async function findFieldsAlike(
  connection: Connection,
  workspaceId: number,
  fieldIds: readonly string[],
): Promise<readonly string[]> {
  if (fieldIds.length === 0) return [];
  return connection.anyFirst(sql.type(FieldId)`
    SELECT id FROM contact_field WHERE workspace_id = ${workspaceId}
      AND lower(id) IN (SELECT lower(given) FROM unnest(${sql.array(fieldIds, 'text')}) AS given)`);
}

const FoundType = row(t.type({ id: t.string, type: oneOf(fieldTypes) }));

export async function findFieldTypes(
  connection: Connection,
  workspaceId: number,
  fieldIds: readonly string[],
): Promise<FieldTypes> {
  if (fieldIds.length === 0) return new Map();
  const found = await connection.any(sql.type(FoundType)`
    SELECT id, type FROM contact_field
    WHERE workspace_id = ${workspaceId} AND id = ANY(${sql.array(fieldIds, 'text')})`);
  return new Map(found.map(({ id, type }) => [id, type]));
}

/** Keeps the types of fields that are not known yet; the others stay as they are. */
export async function insertFields(
  connection: Connection,
  workspaceId: number,
  guessed: FieldTypes,
): Promise<void> {
  if (guessed.size === 0) return;
  // In one order, so that two writers do not deadlock.
  const rows = [...guessed].toSorted(([one], [other]) => (one < other ? -1 : 1));
  await connection.query(sql.type(nothing)`
    INSERT INTO contact_field (workspace_id, id, type)
    SELECT ${workspaceId}, given.id, given.type FROM ${sql.unnest(rows, ['text', 'text'])} AS given (id, type)
    ON CONFLICT DO NOTHING`);
}

const ContactField = t.type({ id: t.string, type: oneOf(fieldTypes), count: t.number });
export type ContactField = t.TypeOf<typeof ContactField>;

export function listFields(connection: Connection, workspaceId: number): Promise<readonly ContactField[]> {
  return connection.any(sql.type(row(ContactField))`
    SELECT id, type, count FROM contact_field WHERE workspace_id = ${workspaceId} ORDER BY lower(id), id`);
}

/** Throws NotFound. */
export async function setFieldType(
  connection: Connection,
  workspaceId: number,
  { id, type }: { readonly id: string; readonly type: FieldType },
): Promise<ContactField> {
  const changed = await connection.maybeOne(sql.type(row(ContactField))`
    UPDATE contact_field SET type = ${type} WHERE workspace_id = ${workspaceId} AND id = ${id}
    RETURNING id, type, count`);
  return changed ?? notFound('Contact field');
}

const longestExample = 100;
const Sample = row(t.type({ id: t.string, values: t.array(t.string) }));

/** Up to a hundred different values of each field, out of this many of the newest contacts. */
export async function sampleFields(
  connection: Connection,
  workspaceId: number,
  contacts = 2_000,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await connection.any(sql.type(Sample)`
    SELECT key AS id, (array_agg(DISTINCT left(value, ${longestExample})))[1:100] AS values
    FROM (
      SELECT custom_fields FROM contact WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL
      ORDER BY workspace_id DESC, id DESC LIMIT ${contacts}
    ) AS newest CROSS JOIN LATERAL jsonb_each_text(custom_fields)
    WHERE value <> '' GROUP BY key`);
  return new Map(found.map(({ id, values }) => [id, values]));
}

/** A workspace with more contacts is counted at most once an hour. */
const mostCountedAlways = 20_000;
const Due = row(t.type({ due: t.boolean }));

/** Whether the counts are to be renewed: at once for few contacts, after an hour for many, after a minute if a field was never counted. */
export function isCountDue(connection: Connection, workspaceId: number): Promise<boolean> {
  return connection.oneFirst(sql.type(Due)`
    SELECT (SELECT count(*) FROM (
        SELECT FROM contact WHERE workspace_id = ${workspaceId} LIMIT ${mostCountedAlways + 1}) AS counted) <= ${mostCountedAlways}
      OR COALESCE((SELECT max(counted_at) FROM contact_field WHERE workspace_id = ${workspaceId})
        < now() - CASE WHEN EXISTS (SELECT FROM contact_field WHERE workspace_id = ${workspaceId} AND counted_at IS NULL)
          THEN interval '1 minute' ELSE interval '1 hour' END, true) AS due`);
}

const Counted = t.type({ id: t.string, count: t.number });
type Counted = t.TypeOf<typeof Counted>;

/** Reads every contact of the workspace. */
export function countFields(connection: Connection, workspaceId: number): Promise<readonly Counted[]> {
  return connection.any(sql.type(row(Counted))`
    SELECT field.key AS id, count(*)::int4 AS count
    FROM contact CROSS JOIN LATERAL jsonb_object_keys(custom_fields) AS field (key)
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND custom_fields <> '{}'
    GROUP BY field.key`);
}

/** A field that no contact has any more keeps its type, and 0 is its count. Those of `types` that are new are added. */
export async function saveCounts(
  connection: Connection,
  workspaceId: number,
  counted: readonly (Counted & { readonly type: FieldType })[],
): Promise<void> {
  const rows = counted
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ id, type, count }) => [id, type, count]);
  await connection.query(sql.type(nothing)`
    WITH given AS (
      SELECT * FROM ${sql.unnest(rows, ['text', 'text', 'int4'])} AS given (id, type, count)
    ), emptied AS (
      UPDATE contact_field SET count = 0, counted_at = now()
      WHERE workspace_id = ${workspaceId} AND id NOT IN (SELECT id FROM given)
    )
    INSERT INTO contact_field (workspace_id, id, type, count, counted_at)
    SELECT ${workspaceId}, id, type, count, now() FROM given
    ON CONFLICT (workspace_id, id) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`);
}
