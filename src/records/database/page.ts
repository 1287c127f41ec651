/** One page of a list, and how many rows the whole list has, in one statement: of the rows before the page, ids alone are read. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { Invalid } from '../../domain/error.ts';
import type { Connection } from './database.ts';
import { row, type RowParser } from './row.ts';

type Fragment = ReturnType<typeof sql.fragment>;

export interface Place {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

export interface Page<A> {
  readonly items: readonly A[];
  readonly total: number;
}

const Counted = t.type({ total: t.number });

interface PageQuery<P extends t.Props> extends Place {
  readonly codec: t.TypeC<P>;
  readonly columns: Fragment;
  readonly table: Fragment;
  /** Tables that hold exactly one row to each. */
  readonly joins?: Fragment;
  /** All must hold; of the table's own columns. */
  readonly conditions: readonly Fragment[];
  /** No two rows stand equal. */
  readonly order: Fragment;
  /** Names the filters that the error about a too deep page recommends. */
  readonly narrowedBy: string;
  /** Counted up to `mostCounted` without it. */
  readonly isCountedWhole?: true;
}

/** Rows that a page may lie behind, its own included: they are all read. */
const deepest = 100_000;
const mostCounted = 10_000;

const mostBytes = 4 * 1024 * 1024;

/** One part of a list by cursor. */
export interface Part<A> {
  readonly items: readonly A[];
  readonly hasNext: boolean;
}

interface PartQuery<P extends t.Props> {
  readonly props: P;
  /** Have an `id`; one more than the limit, if there are as many. */
  readonly rows: Fragment;
  /** ORDER BY list over the columns of `rows`. */
  readonly order: Fragment;
  /** Bytes of what of a row may be large. */
  readonly size: Fragment;
  readonly limit: number;
}

/** The first of `rows`: up to `limit`, or until they hold 4 MiB. */
export async function listPart<P extends t.Props>(
  connection: Connection,
  { props, rows, order, size, limit }: PartQuery<P>,
): Promise<Part<t.TypeOf<t.TypeC<P>>>> {
  const parser = row(t.type({ ...props, hasNext: t.boolean })) as RowParser<
    t.TypeOf<t.TypeC<P>> & { readonly hasNext: boolean }
  >;
  const items = await connection.any(sql.type(parser)`
    SELECT * FROM (
      SELECT *, lead(id) OVER placed IS NOT NULL AS "hasNext", row_number() OVER placed AS nth,
        sum(${size}) OVER placed - ${size} AS before
      FROM (${rows}) AS listed
      WINDOW placed AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    ) AS part
    WHERE nth <= ${limit} AND before < ${mostBytes} ORDER BY nth`);
  return { items, hasNext: items.at(-1)?.hasNext ?? false };
}

/** Throws Invalid for a page that lies too deep. */
export async function listPage<P extends t.Props>(
  connection: Connection,
  query: PageQuery<P>,
): Promise<Page<t.TypeOf<t.TypeC<P>>>> {
  // One codec: an intersection would read every row twice.
  const parser = row(t.type({ ...query.codec.props, ...Counted.props })) as RowParser<
    t.TypeOf<t.TypeC<P>> & t.TypeOf<typeof Counted>
  >;
  const { columns, table, joins = sql.fragment``, conditions, order, page, limit } = query;
  if (page * limit > deepest)
    throw Invalid.at(
      'page',
      `page × limit must be at most ${deepest}: narrow the list by ${query.narrowedBy}`,
    );
  const where = sql.join([...conditions], sql.fragment` AND `);
  const most = query.isCountedWhole === true ? sql.fragment`` : sql.fragment`LIMIT ${mostCounted}`;
  const counted = sql.fragment`
    SELECT count(*)::int4 AS total FROM (SELECT FROM ${table} WHERE ${where} ${most}) AS found`;
  const items = await connection.any(sql.type(parser)`
    SELECT ${columns}, (${counted})
    FROM ${table} ${joins}
    -- An array is taken for a few, a list with a limit for a tenth of the table: with that, it would be planned anew each time.
    WHERE ${table}.id = ANY (ARRAY(
      SELECT id FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT ${limit} OFFSET ${(page - 1) * limit}))
    ORDER BY ${order}`);
  const [first] = items;
  if (first !== undefined || page === 1) return { items, total: first?.total ?? 0 };
  // Beyond the last page no row carries the number.
  return { items, total: await connection.oneFirst(sql.type(row(Counted))`${counted}`) };
}
