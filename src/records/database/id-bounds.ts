/** Days of UTC, and conditions on ids with which Postgres reads only the daily partitions that may hold them. */
import { sql, type FragmentSqlToken } from 'slonik';
import { firstIdAt } from './uuid-v7.ts';

/** 1 h: more than the clocks of two servers differ. */
export const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;

/** Start of the UTC day that contains `ms`, plus `days`. */
export const startOfDay = (ms: number, days = 0): Date => new Date((Math.floor(ms / dayMs) + days) * dayMs);

/** Bounds from the given id up to now; without it, every day. */
export const sinceId = (from: string | undefined, column = sql.fragment`id`): FragmentSqlToken =>
  from === undefined
    ? sql.fragment`TRUE`
    : sql.fragment`${column} >= ${from} AND ${column} < ${firstIdAt(new Date(), hourMs)}`;

/**
 * Bounds the ids by their smallest and largest, so that Postgres prunes partitions; a condition per id would take longer to
 * plan than the statement runs.
 */
export function amongIds(ids: readonly string[], column = sql.fragment`id`): FragmentSqlToken {
  const sorted = ids.toSorted();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return sql.fragment`FALSE`;
  return sql.fragment`${column} = ANY (ARRAY(SELECT unnest(${sql.array(sorted, 'uuid')}))) AND ${column} BETWEEN ${first} AND ${last}`;
}
