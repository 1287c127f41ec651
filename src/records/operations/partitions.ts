/** Days of the tables that are kept by age: made ahead and dropped by the owner's functions, see sql/0068. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import type { Connection } from '../database/database.ts';
import { isLockHeld } from '../database/failure.ts';
import { nothing, nullable, row } from '../database/row.ts';

export const partitionedTables = ['webhook_delivery', 'event', 'provider_callback'] as const;
export type PartitionedTable = (typeof partitionedTables)[number];

const tries = 20;
const pauseMs = 500;

/** Each try holds others up for no longer than it waits for its lock itself; undefined when none could have it. */
async function patiently<T>(change: () => Promise<T>): Promise<T | undefined> {
  for (let left = tries; left > 0; left -= 1) {
    try {
      return await change();
    } catch (error) {
      if (!isLockHeld(error)) throw error;
      await sleep(pauseMs);
    }
  }
  return undefined;
}

const Made = row(t.type({ made: t.number }));

/** Today and the next seven days. False: somebody was in the way for long, and what is missing is left to the next call. */
export async function makePartitions(connection: Connection, of: PartitionedTable): Promise<boolean> {
  const made = await patiently(() =>
    connection.oneFirst(sql.type(Made)`SELECT make_partitions(${of}) AS made`),
  );
  if (made === undefined) return false;
  if (made > 0) await connection.query(sql.type(nothing)`SELECT analyze_partitions(${of})`);
  return true;
}

const Dropped = row(t.type({ name: nullable(t.string) }));

/** Drops the days that are older as a whole and in which nothing is open; how many, or undefined when somebody reads them for long. */
export async function dropPartitions(
  connection: Connection,
  of: PartitionedTable,
  olderThanDays: number,
): Promise<number | undefined> {
  for (let dropped = 0; ; dropped += 1) {
    const name = await patiently(() =>
      connection.oneFirst(sql.type(Dropped)`SELECT drop_partition(${of}, ${olderThanDays}) AS name`),
    );
    if (name === undefined) return undefined;
    if (name === null) return dropped;
  }
}

const Ahead = row(t.type({ table: oneOf(partitionedTables), days: t.number }));

/** How many of the days after today have been made, by table; without the tables that are not partitioned yet. */
export const countDaysAhead = (connection: Connection) =>
  connection.any(sql.type(Ahead)`
    SELECT parent.relname::text AS "table", max(to_date(substring(child.relname FROM '[0-9]{8}$'), 'YYYYMMDD')
      - (child.relname ~ '_before_')::int4) - (now() AT TIME ZONE 'UTC')::date AS days
    FROM pg_class AS parent JOIN pg_inherits ON inhparent = parent.oid JOIN pg_class AS child ON child.oid = inhrelid
    WHERE parent.relkind = 'p' AND parent.relname = ANY (${sql.array([...partitionedTables], 'text')})
    GROUP BY parent.relname`);
