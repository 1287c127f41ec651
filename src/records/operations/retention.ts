/** Removal by age, a batch at a time: short statements, so that nobody waits and vacuum keeps up. */
import { sql } from 'slonik';
import { deleteExpiredIdempotencyKeys } from '../workspaces/idempotency-keys.ts';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

export interface Batch {
  readonly olderThanDays: number;
  readonly limit: number;
}

/** Removes one batch; returns how many rows went. */
export type Removal = (connection: Connection, batch: Batch) => Promise<number>;

const tables = {
  deliveries: {
    table: sql.fragment`webhook_delivery`,
    isOver: sql.fragment`state IN ('delivered', 'failed')`,
    age: sql.fragment`created_at`,
  },
  events: {
    table: sql.fragment`event`,
    isOver: sql.fragment`fanned_out_at IS NOT NULL`,
    age: sql.fragment`occurred_at`,
  },
  callbacks: {
    table: sql.fragment`provider_callback`,
    isOver: sql.fragment`applied_at IS NOT NULL`,
    age: sql.fragment`received_at`,
  },
  statuses: {
    table: sql.fragment`parked_status`,
    isOver: sql.fragment`emitted_at IS NOT NULL`,
    age: sql.fragment`parked_at`,
  },
};

function removalFrom(name: keyof typeof tables): Removal {
  const { table, isOver, age } = tables[name];
  return async (connection, { olderThanDays, limit }) => {
    const { rowCount } = await connection.query(sql.type(nothing)`
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table}
        WHERE ${age} < now() - make_interval(days => ${olderThanDays}) AND ${isOver}
        ORDER BY ${age}
        LIMIT ${limit}
        FOR UPDATE SKIP LOCKED))`);
    return rowCount;
  };
}

/** Deliveries before their events. Idempotency keys live for a day, whatever the age asked for. */
export const removals: Readonly<Record<string, Removal>> = {
  deliveries: removalFrom('deliveries'),
  events: removalFrom('events'),
  callbacks: removalFrom('callbacks'),
  statuses: removalFrom('statuses'),
  idempotencyKeys: (connection, { limit }) => deleteExpiredIdempotencyKeys(connection, limit),
};
