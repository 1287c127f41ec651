/** Daily partitions of the tables that are kept by age: created ahead and dropped by the owner's functions (sql/0012). */
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

/** Tries again while another session holds the lock (each try waits at most 200 ms); undefined when every try failed. */
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

/**
 * Creates the partitions of today and the next seven days. Returns false if locks prevented it; the next call creates the
 * rest.
 */
export async function makePartitions(connection: Connection, of: PartitionedTable): Promise<boolean> {
  const made = await patiently(() =>
    connection.oneFirst(sql.type(Made)`SELECT make_partitions(${of}) AS made`),
  );
  if (made === undefined) return false;
  if (made > 0) await connection.query(sql.type(nothing)`SELECT analyze_partitions(${of})`);
  return true;
}

const Dropped = row(t.type({ name: nullable(t.string) }));

/** Drops the partitions that are older as a whole and have nothing open. Returns how many, or undefined when locks prevented it. */
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

/** How many days after today have a partition, by table. */
export const countDaysAhead = (connection: Connection) =>
  connection.any(sql.type(Ahead)`
    SELECT parent.relname::text AS "table", max(to_date(substring(child.relname FROM '[0-9]{8}$'), 'YYYYMMDD'))
      - (now() AT TIME ZONE 'UTC')::date AS days
    FROM pg_class AS parent JOIN pg_inherits ON inhparent = parent.oid JOIN pg_class AS child ON child.oid = inhrelid
    WHERE parent.relkind = 'p' AND parent.relname = ANY (${sql.array([...partitionedTables], 'text')})
    GROUP BY parent.relname`);
