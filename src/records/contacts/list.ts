/** The contact list and its search. A page reads an index in its order, so its cost does not grow with the workspace. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Contact } from '../../domain/contacts/contact.ts';
import { Invalid } from '../../domain/error.ts';
import { listCallingCodes, searchText, type ContactSearch } from '../../domain/contacts/search.ts';
import { ContactFields, contactsById, contactSelection } from './contacts.ts';
import type { Connection } from '../database/database.ts';
import { listCursorPage, type CursorPage } from '../database/page.ts';
import { row } from '../database/row.ts';
import { compileSegmentFilter, keyOf, sizeProblem } from './segment-filter.ts';
import { loadFilterContext, type Segment } from './segments.ts';

/** The last contact of the previous page and, in a search, the index of the way that found it. */
export interface ContactPosition {
  readonly id: string;
  readonly way?: number;
}

export interface ContactHit {
  readonly contact: Contact;
  readonly position: ContactPosition;
}

/** Conditions that a listed contact meets; an undefined one does not restrict the list. */
export interface ContactFilter {
  readonly tagId?: string | undefined;
  readonly segment?: Pick<Segment, 'match' | 'conditions'> | undefined;
  readonly subscribed?: boolean | undefined;
}

interface ContactPageRequest extends ContactFilter {
  readonly after?: ContactPosition | undefined;
  readonly limit: number;
}

/** Throws Invalid if the segment names more than a statement can hold. */
async function conditionOf(
  connection: Connection,
  workspaceId: number,
  { tagId, segment, subscribed }: ContactFilter,
): Promise<Fragment> {
  const context =
    segment === undefined
      ? undefined
      : await loadFilterContext(connection, workspaceId, [segment.conditions]);
  if (segment !== undefined && context !== undefined) {
    const problem = sizeProblem(segment.conditions, context);
    if (problem !== undefined) throw new Invalid(problem);
  }
  const conditions = [
    ...(tagId === undefined
      ? []
      : [
          sql.fragment`EXISTS (
            SELECT FROM contact_tag WHERE contact_tag.contact_id = contact.id AND contact_tag.tag_id = ${tagId})`,
        ]),
    ...(segment === undefined
      ? []
      : [
          compileSegmentFilter(segment.match, segment.conditions, {
            byIndex: true,
            ...(context && { context }),
          }),
        ]),
    ...(subscribed === undefined ? [] : [sql.fragment`contact.subscribed = ${subscribed}`]),
  ];
  return conditions.length === 0
    ? sql.fragment`TRUE`
    : sql.fragment`(${sql.join(conditions, sql.fragment` AND `)})`;
}

const Count = t.type({ count: t.number, subscribed: t.number });

/** How many contacts match, and how many of them are subscribed; reads every contact of the workspace. */
export async function countContacts(
  connection: Connection,
  workspaceId: number,
  filter: ContactFilter,
): Promise<t.TypeOf<typeof Count>> {
  const condition = await conditionOf(connection, workspaceId, filter);
  return connection.one(sql.type(row(Count))`
    SELECT count(*)::int4 AS count, count(*) FILTER (WHERE contact.subscribed)::int4 AS subscribed FROM contact
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND ${condition}`);
}

/** Newest first. */
export async function listContacts(
  connection: Connection,
  workspaceId: number,
  { after, limit, ...filter }: ContactPageRequest,
): Promise<CursorPage<ContactHit>> {
  const rest = after === undefined ? sql.fragment`TRUE` : sql.fragment`id < ${after.id}`;
  const condition = await conditionOf(connection, workspaceId, filter);
  const rows = sql.fragment`
    SELECT ${contactSelection} FROM contact
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND ${rest} AND ${condition}
    ORDER BY id DESC LIMIT ${limit + 1}`;
  const order = sql.fragment`id DESC`;
  const { items, hasNext } = await listCursorPage(connection, { ...contactColumns, rows, order, limit });
  return { items: items.map((contact) => ({ contact, position: { id: contact.id } })), hasNext };
}

const contactColumns = {
  props: ContactFields.props,
  // A field of a few bytes takes 32 more in an answer.
  size: sql.fragment`octet_length("customFields"::text) + 40 * cardinality("tagsId")
    + 32 * (SELECT count(*) FROM jsonb_object_keys("customFields"))`,
};

/**
 * Searches by number, first name, last name, chat name, e-mail address and the words of all names, one after the other (a "way");
 * the hits of a way are sorted by its column. A contact is listed once, under the first way that finds it.
 */
export async function searchContacts(
  connection: Connection,
  workspaceId: number,
  request: ContactPageRequest & { readonly search: ContactSearch },
): Promise<CursorPage<ContactHit>> {
  const positions = await findContacts(connection, workspaceId, request);
  return withContacts(connection, workspaceId, { positions, limit: request.limit });
}

/** The positions of the hits: of one more than `limit`, if there are more. */
export async function findContacts(
  connection: Connection,
  workspaceId: number,
  { search, after, limit, ...filter }: ContactPageRequest & { readonly search: ContactSearch },
): Promise<readonly ContactPosition[]> {
  const ways = waysOf(workspaceId, search);
  const hits: ContactPosition[] = [];
  const condition = await conditionOf(connection, workspaceId, filter);
  for (let index = after?.way ?? 0; index < ways.length && hits.length <= limit; index += 1) {
    const way = ways[index];
    if (way === undefined) break;
    const ids = await connection.anyFirst(
      way.find({
        workspaceId,
        afterId: index === after?.way ? after.id : undefined,
        limit: limit + 1 - hits.length,
        earlier: ways.slice(0, index).map(({ matches }) => matches),
        condition,
      }),
    );
    hits.push(...ids.map((id) => ({ way: index, id })));
  }
  return hits;
}

async function withContacts(
  connection: Connection,
  workspaceId: number,
  { positions, limit }: { readonly positions: readonly ContactPosition[]; readonly limit: number },
): Promise<CursorPage<ContactHit>> {
  if (positions.length === 0) return { items: [], hasNext: false };
  const ids = sql.array(
    positions.map(({ id }) => id),
    'uuid',
  );
  const rows = sql.fragment`
    SELECT ${contactSelection} FROM ${contactsById(workspaceId, ids)}`;
  const order = sql.fragment`array_position(${ids}, id)`;
  const { items, hasNext } = await listCursorPage(connection, { ...contactColumns, rows, order, limit });
  const byId = new Map(positions.map((position) => [position.id, position]));
  return {
    items: items.map((contact) => ({ contact, position: byId.get(contact.id) ?? { id: contact.id } })),
    hasNext,
  };
}

type Fragment = ReturnType<typeof sql.fragment>;

interface Find {
  readonly workspaceId: number;
  readonly afterId: string | undefined;
  readonly limit: number;
  /** The conditions of the ways before this one, whose contacts are left out. */
  readonly earlier: readonly Fragment[];
  /** The filter, on the table alias `contact`. */
  readonly condition: Fragment;
}

const Found = row(t.type({ id: t.string }));

interface Way {
  readonly matches: Fragment;
  readonly find: (find: Find) => ReturnType<typeof findByKey>;
}

function waysOf(workspaceId: number, { words, numbers, forms }: ContactSearch): readonly Way[] {
  const byNumber = [...numbers.map(numberWay), ...(forms.length === 0 ? [] : [formsWay(forms)])];
  // The longest word is the most selective: an index finds its matches, and the other words filter them.
  const [first, ...others] = words.toSorted((one, other) => other.length - one.length);
  if (first === undefined) return byNumber;
  const rest = others.map((word) => {
    const anywhere = [
      ...nameColumns.map((column) => beginsPlainly(column, word)),
      hasWord(workspaceId, word),
    ];
    return sql.fragment`(${sql.join(anywhere, sql.fragment` OR `)})`;
  });
  const withRest = (condition: Fragment) =>
    sql.fragment`${sql.join([condition, ...rest], sql.fragment` AND `)}`;
  const byColumn = nameColumns.map((column): Way => {
    const matches = withRest(beginsPlainly(column, first));
    return { matches, find: (find) => findByKey(keyOf(column), matches, find) };
  });
  const matches = withRest(hasWord(workspaceId, first));
  return [...byNumber, ...byColumn, { matches, find: (find) => findByWords(matches, find) }];
}

/**
 * The column is a plain word that begins with `word`; other names are found by `hasWord`. A range, because of a LIKE Postgres uses
 * an index only while it knows the text.
 */
function beginsPlainly(column: Fragment, word: string): Fragment {
  const [key, least] = [keyOf(column), searchText(word)];
  return sql.fragment`(${column} <> '' AND ${key} >= ${least} AND ${key} < ${least} || chr(1114111))`;
}

/** Names that are more than a plain word each, and have a word that begins with `word`. The index `contact_words` serves it. */
function hasWord(workspaceId: number, word: string): Fragment {
  // An e-mail address is no name.
  if (word.includes('@')) return sql.fragment`FALSE`;
  return sql.fragment`(
    contact.first_name || contact.last_name || contact.chat_name ~ '[^A-Za-z0-9]'
    AND contact_search_words(contact.workspace_id,
        contact.first_name || ' ' || contact.last_name || ' ' || contact.chat_name)
      @@ contact_search_query(${workspaceId}::int, ${word}))`;
}

/** The words name the workspace: without `workspace_id` in the query, no other index than that of the words can serve it. */
function findByWords(matches: Fragment, { afterId, limit, earlier, condition }: Find) {
  const rest = afterId === undefined ? sql.fragment`TRUE` : sql.fragment`id > ${afterId}`;
  return sql.type(Found)`
    WITH found AS MATERIALIZED (
      SELECT contact.id FROM contact
      WHERE ${matches} AND contact.deleted_at IS NULL AND ${noneOf(earlier)} AND ${condition}
    )
    SELECT id FROM found WHERE ${rest} ORDER BY id LIMIT ${limit}`;
}

const nameColumns = [
  sql.fragment`contact.first_name`,
  sql.fragment`contact.last_name`,
  sql.fragment`contact.chat_name`,
  sql.fragment`contact.email`,
];

function findByKey(key: Fragment, matches: Fragment, find: Find) {
  const { workspaceId, afterId, limit, earlier, condition } = find;
  return sql.type(Found)`
    SELECT contact.id FROM contact
    WHERE contact.workspace_id = ${workspaceId} AND contact.deleted_at IS NULL
      AND ${matches} AND ${noneOf(earlier)} AND ${condition} AND ${afterKey(key, workspaceId, afterId)}
    ORDER BY ${key}, contact.id LIMIT ${limit}`;
}

const noneOf = (conditions: readonly Fragment[]): Fragment =>
  conditions.length === 0
    ? sql.fragment`TRUE`
    : sql.fragment`(${sql.join(conditions, sql.fragment`) IS NOT TRUE AND (`)}) IS NOT TRUE`;

// The key is looked up by id: a cursor that held it would carry names and numbers through logs.
const afterKey = (key: Fragment, workspaceId: number, afterId: string | undefined): Fragment =>
  afterId === undefined
    ? sql.fragment`TRUE`
    : sql.fragment`(${key}, contact.id) > (
        (SELECT ${key} FROM contact WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${afterId}), ${afterId}::uuid)`;

/** Fewer national digits would match behind too many calling codes to be useful. */
const shortestNationalSearch = 4;

/** Finds numbers that begin with one of these digits. */
function formsWay(forms: readonly string[]): Way {
  const key = sql.fragment`contact.phone_number`;
  const prefixes = sql.array([...forms], 'text');
  return {
    matches: sql.fragment`EXISTS (
      SELECT FROM unnest(${prefixes}) AS form WHERE starts_with(contact.phone_number, form))`,
    find: ({ workspaceId, afterId, limit, earlier, condition }) => sql.type(Found)`
      SELECT id FROM (
        SELECT DISTINCT found.id, found.phone_number
        FROM unnest(${prefixes}) AS form
        CROSS JOIN LATERAL (
          SELECT contact.id, contact.phone_number FROM contact
          WHERE contact.workspace_id = (SELECT ${workspaceId}::int) AND contact.deleted_at IS NULL
            AND contact.phone_number >= form COLLATE "C" AND contact.phone_number < (form || ':') COLLATE "C"
            AND ${noneOf(earlier)} AND ${condition} AND ${afterKey(key, workspaceId, afterId)}
          ORDER BY contact.phone_number, contact.id LIMIT ${limit}
        ) AS found
      ) AS numbers
      ORDER BY phone_number LIMIT ${limit}`,
  };
}

/** Finds numbers that begin with `digits`, and numbers that have `digits` after any calling code. */
function numberWay(digits: string): Way {
  const codes = digits.length < shortestNationalSearch ? [''] : ['', ...listCallingCodes()];
  const key = sql.fragment`contact.phone_number`;
  return {
    matches: sql.fragment`(contact.phone_number LIKE ${`${digits}%`}
      OR (${digits.length >= shortestNationalSearch}
        AND substr(contact.phone_number, length(contact.country_code) + 1) LIKE ${`${digits}%`}))`,
    // ':' follows '9' in the collation "C": it bounds the numbers that begin with the digits.
    find: ({ workspaceId, afterId, limit, earlier, condition }) => sql.type(Found)`
      SELECT id FROM (
        SELECT DISTINCT found.id, found.phone_number
        FROM unnest(${sql.array(codes, 'text')}) AS code
        CROSS JOIN LATERAL (
          SELECT contact.id, contact.phone_number FROM contact
          WHERE contact.workspace_id = (SELECT ${workspaceId}::int) AND contact.deleted_at IS NULL
            AND contact.phone_number >= (code || ${digits}) COLLATE "C"
            AND contact.phone_number < (code || ${digits} || ':') COLLATE "C"
            AND code IN ('', contact.country_code)
            AND ${noneOf(earlier)} AND ${condition} AND ${afterKey(key, workspaceId, afterId)}
          ORDER BY contact.phone_number, contact.id LIMIT ${limit}
        ) AS found
      ) AS numbers
      ORDER BY phone_number LIMIT ${limit}`,
  };
}
