/**
 * Deletes old rows in batches: short statements block no other transaction, and vacuum keeps up. Daily partitions of events,
 * deliveries and callbacks are dropped whole (`partitions.ts`); this file deletes rows of partitions that are not dropped.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import { callbackIsOver } from '../callbacks/provider-callbacks.ts';
import { deleteExpiredIdempotencyKeys } from '../workspaces/idempotency-keys.ts';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';
import { startOfDay } from '../database/id-bounds.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { deleteOldNotices } from './notices.ts';
import { forgetReached } from '../sending/messaging-limit.ts';

export interface Batch {
  readonly olderThanDays: number;
  readonly limit: number;
}

/** Deletes one batch; returns the number of rows. */
export type Removal = (connection: Connection, batch: Batch) => Promise<number>;

const daysAgo = (days: number): Date => startOfDay(Date.now(), -days);

const by = (column: FragmentSqlToken) => ({
  isOld: (days: number) => sql.fragment`${column} < ${daysAgo(days).toISOString()}`,
  order: column,
});
/** True for old rows by their id: a UUIDv7 begins with the time of its creation. */
const byId = {
  isOld: (days: number) => sql.fragment`id < ${firstIdAt(daysAgo(days))}`,
  order: sql.fragment`id`,
};

const tables = {
  deliveries: {
    table: sql.fragment`webhook_delivery`,
    isOver: sql.fragment`state IN ('delivered', 'failed')`,
    ...byId,
  },
  events: {
    table: sql.fragment`event`,
    isOver: sql.fragment`fanned_out_at IS NOT NULL`,
    ...byId,
  },
  callbacks: {
    table: sql.fragment`provider_callback`,
    isOver: callbackIsOver,
    ...by(sql.fragment`received_at`),
  },
  statuses: {
    table: sql.fragment`unmatched_status`,
    isOver: sql.fragment`emitted_at IS NOT NULL`,
    ...by(sql.fragment`received_at`),
  },
};

function removalFrom(name: keyof typeof tables): Removal {
  const { table, isOver, isOld, order } = tables[name];
  return async (connection, { olderThanDays, limit }) => {
    const { rowCount } = await connection.query(sql.type(nothing)`
      DELETE FROM ${table} WHERE id = ANY (ARRAY(
        SELECT id FROM ${table} WHERE ${isOld(olderThanDays)} AND ${isOver}
        ORDER BY ${order} LIMIT ${limit}
        FOR UPDATE SKIP LOCKED)) AND ${isOld(olderThanDays)}`);
    return rowCount;
  };
}

/** Keeps at least 31 days: the provider reports on a message for up to a month. Duplicate rows are deleted together. */
const removeProviderMessages: Removal = async (connection, { olderThanDays, limit }) => {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM provider_message USING (
      SELECT day, hash, recipient_id FROM provider_message
      WHERE day < current_date - greatest(${olderThanDays}, 31)
      ORDER BY day, hash LIMIT ${limit}
      FOR UPDATE SKIP LOCKED) AS old
    WHERE provider_message.day = old.day AND provider_message.hash = old.hash
      AND provider_message.recipient_id = old.recipient_id`);
  return rowCount;
};

/** Deletes deliveries before their events. Notices are kept for 90 days and idempotency keys for one, whatever `olderThanDays` is. */
export const removals: Readonly<Record<string, Removal>> = {
  deliveries: removalFrom('deliveries'),
  events: removalFrom('events'),
  callbacks: removalFrom('callbacks'),
  statuses: removalFrom('statuses'),
  providerMessages: removeProviderMessages,
  reach: (connection, { limit }) => forgetReached(connection, limit),
  notices: (connection, { limit }) => deleteOldNotices(connection, limit),
  idempotencyKeys: (connection, { limit }) => deleteExpiredIdempotencyKeys(connection, limit),
};
