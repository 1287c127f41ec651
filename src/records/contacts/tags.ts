import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound, NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { row } from '../database/row.ts';

const Tag = t.type({
  tagId: t.string,
  name: t.string,
  text_color: t.string,
  background_color: t.string,
});
export type Tag = t.TypeOf<typeof Tag>;

const selection = sql.fragment`id AS "tagId", name, text_color, background_color`;

export interface TagFilter {
  /** Words that must all be in the name, the last one as the beginning of a word; all tags when blank. */
  readonly search: string;
  /** Undefined: tags of every creator. */
  readonly createdBy: string | undefined;
}

/** Sorted by name, then by id. */
export function listTags(
  connection: Connection,
  workspaceId: number,
  { search, createdBy, ...page }: TagFilter & PageRequest,
): Promise<Page<Tag>> {
  const conditions = [
    sql.fragment`workspace_id = ${workspaceId}`,
    ...(createdBy === undefined ? [] : [sql.fragment`created_by = ${createdBy}`]),
    ...(search.trim() === '' ? [] : [nameMatches(search.trim())]),
  ];
  return listPage(connection, {
    ...page,
    narrowedBy: 'search',
    isCountedWhole: true,
    codec: Tag,
    columns: selection,
    table: sql.fragment`tag`,
    conditions,
    order: sql.fragment`name, id`,
  });
}

/** Full-text search; also looks for the whole text in the name, for scripts without spaces, signs and emoji. */
function nameMatches(search: string) {
  const words = search.split(/\s+/);
  const last = words.pop() ?? '';
  // to_tsquery parses a quoted word like text; `:*` makes each resulting word a prefix.
  const prefix = `'${last.replaceAll('\\', '\\\\').replaceAll("'", "''")}':*`;
  return sql.fragment`(
    to_tsvector('simple', search_text(name))
      @@ (plainto_tsquery('simple', search_text(${words.join(' ')})) && to_tsquery('simple', search_text(${prefix})))
    OR strpos(search_text(name), search_text(${search})) > 0)`;
}

/** Throws NotFound, also for a tag of another workspace. */
export async function getTag(connection: Connection, workspaceId: number, tagId: string): Promise<Tag> {
  const found = await connection.maybeOne(sql.type(row(Tag))`
    SELECT ${selection} FROM tag WHERE workspace_id = ${workspaceId} AND id = ${tagId}`);
  return found ?? notFound('Tag');
}

export type TagFields = Omit<Tag, 'tagId'>;

export const defaultTagColours = { text_color: '#1f2937', background_color: '#e5e7eb' };

/** The tags with these names, which are in small letters; the oldest last. */
export const findTagsNamed = (
  connection: Connection,
  workspaceId: number,
  names: readonly string[],
): Promise<readonly Tag[]> =>
  connection.any(sql.type(row(Tag))`
    SELECT ${selection} FROM tag
    WHERE workspace_id = ${workspaceId} AND lower(name) = ANY (${sql.array(names, 'text')}) ORDER BY id DESC`);

export async function insertTag(
  connection: Connection,
  workspaceId: number,
  tag: TagFields & { readonly createdBy: string },
): Promise<Tag> {
  return connection.one(sql.type(row(Tag))`
    INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
    VALUES (${workspaceId}, ${tag.name}, ${tag.text_color}, ${tag.background_color}, ${tag.createdBy})
    RETURNING ${selection}`);
}

/** Changes the fields that are given. Throws NotFound. */
export async function updateTag(
  connection: Connection,
  workspaceId: number,
  {
    tagId,
    name,
    text_color: text,
    background_color: background,
  }: { readonly tagId: string } & Partial<TagFields>,
): Promise<Tag> {
  const updated = await connection.maybeOne(sql.type(row(Tag))`
    UPDATE tag SET name = coalesce(${name ?? null}, name), text_color = coalesce(${text ?? null}, text_color),
      background_color = coalesce(${background ?? null}, background_color), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${tagId}
    RETURNING ${selection}`);
  return updated ?? notFound('Tag');
}

/** Deletes the tag, also from its contacts. Throws NotFound. */
export async function deleteTag(connection: Connection, workspaceId: number, tagId: string): Promise<string> {
  const name = await connection.maybeOneFirst(sql.type(row(t.type({ name: t.string })))`
    DELETE FROM tag WHERE workspace_id = ${workspaceId} AND id = ${tagId} RETURNING name`);
  if (name === null) throw new NotFound('Tag');
  return name;
}

const TagId = row(t.type({ id: t.string }));

/** Returns the ids among these that are tags of the workspace. */
export async function findTags(
  connection: Connection,
  workspaceId: number,
  tagIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (tagIds.length === 0) return new Set();
  const found = await connection.anyFirst(sql.type(TagId)`
    SELECT id FROM tag WHERE workspace_id = ${workspaceId} AND id = ANY(${sql.array(tagIds, 'uuid')})`);
  return new Set(found);
}
