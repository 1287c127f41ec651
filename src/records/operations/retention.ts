/**
 * Deletes old rows in batches: short statements block no other transaction, and vacuum keeps up. Daily partitions of events,
 * deliveries and callbacks are dropped whole; rows are deleted only from partitions that stay.
 */
import * as t from 'io-ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FragmentSqlToken, sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { callbackIsOver } from '../callbacks/provider-callbacks.ts';
import type { Connection } from '../database/database.ts';
import { isLockHeld } from '../database/failure.ts';
import { startOfDay } from '../database/id-bounds.ts';
import { nothing, nullable, row } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { forgetReached } from '../sending/messaging-limit.ts';
import { removeFeedBatches } from '../webhooks/event-feed.ts';
import { removeResends } from '../webhooks/resends.ts';
import { removeImportRows } from '../contacts/imports.ts';
import { deleteExpiredIdempotencyKeys } from '../workspaces/idempotency-keys.ts';
import { deleteOldProviderMedia } from '../templates/provider-media.ts';
import { deleteOldNotices } from './notices.ts';
import { deleteOldRequests } from './requests.ts';

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

/** Deletes deliveries before their events. Notices are kept for 90 days, requests for seven and idempotency keys for one, whatever `olderThanDays` is. */
export const removals: Readonly<Record<string, Removal>> = {
  deliveries: removalFrom('deliveries'),
  events: removalFrom('events'),
  feedBatches: (connection, { olderThanDays, limit }) =>
    removeFeedBatches(connection, daysAgo(olderThanDays), limit),
  resends: (connection, { olderThanDays, limit }) => removeResends(connection, daysAgo(olderThanDays), limit),
  importRows: (connection, { olderThanDays, limit }) =>
    removeImportRows(connection, daysAgo(olderThanDays), limit),
  callbacks: removalFrom('callbacks'),
  statuses: removalFrom('statuses'),
  providerMessages: removeProviderMessages,
  reach: (connection, { limit }) => forgetReached(connection, limit),
  notices: (connection, { limit }) => deleteOldNotices(connection, limit),
  requests: (connection, { limit }) => deleteOldRequests(connection, limit),
  media: (connection, { limit }) => deleteOldProviderMedia(connection, limit),
  idempotencyKeys: (connection, { limit }) => deleteExpiredIdempotencyKeys(connection, limit),
};

/*
 * Deletes recipients of campaigns that ended long ago, and messages as old. Counters, ledger and opt-outs stay. `archived_at`
 * is set before the first row of a campaign is deleted: from then on nothing reads its recipients.
 */

/** At least 31 days: the provider reports on a message for up to a month. */
const cutoff = (months: number) =>
  sql.fragment`least(now() - make_interval(months => ${months}), now() - interval '31 days')`;

const Id = row(t.type({ id: t.string }));

/**
 * Lists campaigns whose deletion was interrupted, then campaigns that ended long enough ago, each oldest first. A campaign with
 * CLAIMED recipients waits until their outcome is known. `except`: ids to leave out.
 */
export async function listCampaignsToDelete(
  connection: Connection,
  {
    olderThanMonths,
    limit,
    except,
  }: { readonly olderThanMonths: number; readonly limit: number; readonly except: readonly string[] },
): Promise<readonly string[]> {
  const others = sql.fragment`id <> ALL (${sql.array(except, 'uuid')})`;
  const interrupted = await connection.anyFirst(sql.type(Id)`
    SELECT id FROM campaign
    WHERE archived_at IS NOT NULL AND ${others} AND EXISTS (SELECT FROM recipient WHERE campaign_id = campaign.id)
    ORDER BY archived_at LIMIT ${limit}`);
  if (interrupted.length > 0) return interrupted;
  return connection.anyFirst(sql.type(Id)`
    SELECT id FROM campaign JOIN campaign_counter ON campaign_id = id AND claimed = 0
    WHERE archived_at IS NULL AND status IN ('COMPLETED', 'FAILED', 'CANCELLED') AND created_at < ${cutoff(olderThanMonths)}
      -- What was not delivered is given back first.
      AND NOT EXISTS (SELECT FROM campaign_expiry WHERE campaign_expiry.campaign_id = id)
      AND COALESCE(completed_at, updated_at) < ${cutoff(olderThanMonths)} AND ${others}
    ORDER BY created_at LIMIT ${limit}`);
}

const Position = row(t.type({ position: t.number }));

/** Marks the campaign. Returns its last position; 0 without recipients. */
export async function beginDeletingRecipients(connection: Connection, campaignId: string): Promise<number> {
  await connection.query(sql.type(nothing)`
    UPDATE campaign SET archived_at = now() WHERE id = ${campaignId} AND archived_at IS NULL`);
  const last = await connection.maybeOneFirst(sql.type(Position)`
    SELECT position FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position DESC LIMIT 1`);
  return last ?? 0;
}

// A message whose outcome is unknown may still have its price reserved: deleting it releases the money.
const released = sql.fragment`
  UPDATE wallet SET reserved = reserved - total.amount, updated_at = now()
  FROM (
    SELECT channel_id, sum(price)::bigint AS amount FROM removed WHERE settlement = 'reserved' GROUP BY channel_id
  ) AS total
  WHERE wallet.channel_id = total.channel_id`;

const Removed = row(t.type({ count: t.number }));

/**
 * Deletes the recipients after a position, as many positions as `limit`. Both bounds keep Postgres to the index of positions,
 * whatever its statistics are. Returns the number of rows.
 */
export function deleteRecipients(
  connection: Connection,
  {
    campaignId,
    after,
    limit,
  }: { readonly campaignId: string; readonly after: number; readonly limit: number },
): Promise<number> {
  return connection.oneFirst(sql.type(Removed)`
    WITH batch AS (
      SELECT position FROM recipient
      WHERE campaign_id = ${campaignId} AND position > ${after} AND position <= ${after + limit}
      ORDER BY position FOR UPDATE
    ), removed AS (
      DELETE FROM recipient WHERE campaign_id = ${campaignId} AND position = ANY (ARRAY(SELECT position FROM batch))
      RETURNING price, settlement, (SELECT channel_id FROM campaign WHERE campaign.id = ${campaignId}) AS channel_id
    ), marks AS (
      DELETE FROM recipient_answer WHERE campaign_id = ${campaignId} AND position = ANY (ARRAY(SELECT position FROM batch))
    ), released AS (${released})
    SELECT count(*)::int4 AS count FROM removed`);
}

export async function endDeletingRecipients(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_countries WHERE campaign_id = ${campaignId}`);
}

const Workspace = row(t.type({ id: t.number }));

/** Workspaces with a message that is old enough. */
export function listWorkspacesWithOldMessages(
  connection: Connection,
  olderThanMonths: number,
): Promise<readonly number[]> {
  return connection.anyFirst(sql.type(Workspace)`
    SELECT workspace.id FROM workspace
    CROSS JOIN LATERAL (
      SELECT created_at FROM message WHERE message.workspace_id = workspace.id ORDER BY created_at, id LIMIT 1
    ) AS oldest
    WHERE oldest.created_at < ${cutoff(olderThanMonths)}
    ORDER BY workspace.id`);
}

/** Deletes one batch, oldest first; both bounds keep Postgres to the index of creation. Returns the number of rows. */
export function deleteOldMessages(
  connection: Connection,
  {
    workspaceId,
    olderThanMonths,
    limit,
  }: { readonly workspaceId: number; readonly olderThanMonths: number; readonly limit: number },
): Promise<number> {
  return connection.oneFirst(sql.type(Removed)`
    WITH batch AS (
      SELECT id FROM message
      WHERE workspace_id = ${workspaceId} AND created_at >= '-infinity' AND created_at < ${cutoff(olderThanMonths)}
        -- What was not delivered is given back first.
        AND (expires_at IS NOT NULL AND settlement = 'charged' AND state IN ('ACCEPTED', 'SENT')) IS NOT TRUE
      ORDER BY created_at, id LIMIT ${limit} FOR UPDATE
    ), removed AS (
      DELETE FROM message WHERE id = ANY (ARRAY(SELECT id FROM batch)) RETURNING channel_id, price, settlement
    ), released AS (${released})
    SELECT count(*)::int4 AS count FROM removed`);
}

// Daily partitions of the tables that are kept by age: created ahead and dropped by the owner's functions (sql/0012).

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
