/** Reads one page of a list and the list's total in one statement. Of the rows before the page only ids are read. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { Invalid } from '../../domain/error.ts';
import type { Connection } from './database.ts';
import { row, type RowParser } from './row.ts';

type Fragment = ReturnType<typeof sql.fragment>;

export interface PageRequest {
  /** Number of the page, from 1. */
  readonly page: number;
  readonly limit: number;
}

export interface Page<A> {
  readonly items: readonly A[];
  readonly total: number;
}

const Counted = t.type({ total: t.number });

interface PageQuery<P extends t.Props> extends PageRequest {
  readonly codec: t.TypeC<P>;
  readonly columns: Fragment;
  readonly table: Fragment;
  /** Joins that match exactly one row per row of the table. */
  readonly joins?: Fragment;
  /** Conditions on the table's own columns; all must hold. */
  readonly conditions: readonly Fragment[];
  /** A total order: no two rows are equal. */
  readonly order: Fragment;
  /** Names the filters that the error about a too deep page recommends. */
  readonly narrowedBy: string;
  /** Counted up to `mostCounted` without it. */
  readonly isCountedWhole?: true;
  /** Size in bytes of a row's large columns. Such a list is counted whole. */
  readonly size?: Fragment;
}

/** Deepest row of a page; all rows before it are read. */
const deepest = 100_000;
const mostCounted = 10_000;

/** Reading and encoding a page of this size keeps the process from nothing else for longer than 50 ms. */
const mostBytes = 1024 * 1024;

/** One page of a list by cursor. */
export interface CursorPage<A> {
  readonly items: readonly A[];
  readonly hasNext: boolean;
}

interface CursorPageQuery<P extends t.Props> {
  readonly props: P;
  /** Query with an `id` column that returns up to one row more than the limit. */
  readonly rows: Fragment;
  /** ORDER BY list over the columns of `rows`. */
  readonly order: Fragment;
  /** Size in bytes of a row's large columns. */
  readonly size: Fragment;
  readonly limit: number;
}

/** Returns the first rows, up to `limit` or 1 MiB. */
export async function listCursorPage<P extends t.Props>(
  connection: Connection,
  { props, rows, order, size, limit }: CursorPageQuery<P>,
): Promise<CursorPage<t.TypeOf<t.TypeC<P>>>> {
  const parser = row(t.type({ ...props, hasNext: t.boolean })) as RowParser<
    t.TypeOf<t.TypeC<P>> & { readonly hasNext: boolean }
  >;
  const items = await connection.any(sql.type(parser)`
    SELECT * FROM (
      SELECT *, lead(id) OVER placed IS NOT NULL AS "hasNext", row_number() OVER placed AS nth,
        sum(${size}) OVER placed - ${size} AS before
      FROM (${rows}) AS listed
      WINDOW placed AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    ) AS page
    WHERE nth <= ${limit} AND before < ${mostBytes} ORDER BY nth`);
  return { items, hasNext: items.at(-1)?.hasNext ?? false };
}

/** Throws Invalid for a page beyond `deepest`. Large rows are read about 1 MiB at a time. */
export async function listPage<P extends t.Props>(
  connection: Connection,
  query: PageQuery<P>,
): Promise<Page<t.TypeOf<t.TypeC<P>>>> {
  const { page, limit, size } = query;
  if (page * limit > deepest)
    throw Invalid.at(
      'page',
      `page × limit must be at most ${deepest}: narrow the list by ${query.narrowedBy}`,
    );
  const offset = (page - 1) * limit;
  const { items, total } = await readRows(connection, query, { offset, limit });
  const read = [...items];
  const whole = size === undefined ? read.length : Math.min(limit, total - offset);
  while (read.length < whole) {
    const next = { offset: offset + read.length, limit: limit - read.length };
    const more = (await readRows(connection, query, next)).items;
    if (more.length === 0) break;
    for (const item of more) read.push(item);
  }
  return { items: read, total };
}

/** The first rows behind `offset`, up to `limit` or 1 MiB. */
async function readRows<P extends t.Props>(
  connection: Connection,
  query: PageQuery<P>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Page<t.TypeOf<t.TypeC<P>>>> {
  // One codec: an intersection would read every row twice.
  const parser = row(t.type({ ...query.codec.props, ...Counted.props })) as RowParser<
    t.TypeOf<t.TypeC<P>> & t.TypeOf<typeof Counted>
  >;
  const { columns, table, joins = sql.fragment``, conditions, order, size } = query;
  const where = sql.join([...conditions], sql.fragment` AND `);
  const most = query.isCountedWhole === true ? sql.fragment`` : sql.fragment`LIMIT ${mostCounted}`;
  const counted = sql.fragment`
    SELECT count(*)::int4 AS total FROM (SELECT FROM ${table} WHERE ${where} ${most}) AS found`;
  // An array is estimated at ten rows, a subquery with LIMIT at a tenth of the table, which would make Postgres plan the
  // statement anew each time.
  const rows = sql.fragment`
    FROM ${table} ${joins}
    WHERE ${table}.id = ANY (ARRAY(
      SELECT id FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}))`;
  const items = await connection.any(
    size === undefined
      ? sql.type(parser)`SELECT ${columns}, (${counted}) ${rows} ORDER BY ${order}`
      : sql.type(parser)`
          SELECT * FROM (
            SELECT ${columns}, (${counted}), row_number() OVER placed AS nth, sum(${size}) OVER placed - ${size} AS before
            ${rows} WINDOW placed AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
          ) AS page
          WHERE before < ${mostBytes} ORDER BY nth`,
  );
  const [first] = items;
  if (first !== undefined || offset === 0) return { items, total: first?.total ?? 0 };
  // A page beyond the last has no row that carries the total.
  return { items, total: await connection.oneFirst(sql.type(row(Counted))`${counted}`) };
}
