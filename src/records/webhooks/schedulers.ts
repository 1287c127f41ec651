/** Heartbeats of the processes that schedule deliveries. Each takes its share of the shards and of the limits. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

const Count = row(t.type({ count: t.number }));

/** A process without a heartbeat for 15 s (three beats) is dead. */
const aliveSeconds = 15;

/** Writes the heartbeat of one scheduler and counts those that are alive, itself included. */
export const countSchedulers = (connection: Connection, id: string): Promise<number> =>
  connection.oneFirst(sql.type(Count)`
    WITH dead AS (
      DELETE FROM webhook_scheduler WHERE seen_at < now() - make_interval(secs => ${2 * aliveSeconds})
    ), beat AS (
      INSERT INTO webhook_scheduler (id, seen_at) VALUES (${id}, now())
      ON CONFLICT (id) DO UPDATE SET seen_at = now()
    )
    SELECT 1 + count(*)::int4 AS count FROM webhook_scheduler
    WHERE id <> ${id} AND seen_at > now() - make_interval(secs => ${aliveSeconds})`);

export async function forgetScheduler(connection: Connection, id: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM webhook_scheduler WHERE id = ${id}`);
}
