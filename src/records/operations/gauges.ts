/**
 * Figures of the whole installation for metrics, never shown to customers. Each is read through an index or from a table with
 * one row per channel; queues are counted up to `countLimit`.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { createWatermark } from '../../concurrency/watermark.ts';
import { openStatuses } from '../../domain/campaigns/campaign.ts';
import { findWaitingCallback, recentCallback } from '../callbacks/provider-callbacks.ts';
import { effectiveFactor, isSlow } from '../sending/channel-rate.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';
import { countImpairedWebhooks } from '../webhooks/configurations.ts';
import { findWaitingDelivery, ofWebhook, oldestFirst, waits } from '../webhooks/delivery-scheduler.ts';
import { findWaitingEvent, recentId } from '../webhooks/events.ts';
import { countImpairedChannels } from './impaired-channels.ts';
import { readCallbackSilence, readDatabaseState, type DatabaseState } from './database-state.ts';
import { countDaysAhead } from './retention.ts';
import { countStandstills } from './standstill.ts';

const countLimit = 10_000;
/** At least 100 deliveries are counted per endpoint, however many endpoints there are. */
const leastPerEndpoint = 100;

export interface Figures {
  readonly campaigns: readonly {
    readonly status: string;
    readonly pause_reason: string | null;
    readonly count: number;
  }[];
  readonly sending: Sending;
  readonly queues: readonly Queue[];
  readonly impairedWebhooks: Awaited<ReturnType<typeof countImpairedWebhooks>>;
  /** Stalled campaigns by kind; undefined while no worker watches. */
  readonly standstills: Awaited<ReturnType<typeof countStandstills>>;
  readonly daysAhead: Awaited<ReturnType<typeof countDaysAhead>>;
  readonly impairedChannels: Awaited<ReturnType<typeof countImpairedChannels>>;
  readonly databaseState: DatabaseState;
  /** Seconds by which the clock of this process is ahead of Postgres'. */
  readonly clockDifference: number;
  /** See `readCallbackSilence`. */
  readonly callbackSilence: number;
}

const Campaigns = row(t.type({ status: t.string, pause_reason: nullable(t.string), count: t.number }));

const Sending = t.type({
  /** Recipients of RUNNING campaigns. */
  pending: t.number,
  claimed: t.number,
  /** Messages per second over the channels of RUNNING campaigns: by their settings, and with the provider's throttling. */
  limit: t.number,
  allowed: t.number,
  /** Lowest share of its rate that a channel may send, given the provider's responses, 0 to 1; 1 if no channel is slowed down. */
  pace: t.number,
});
type Sending = t.TypeOf<typeof Sending>;

const Queue = t.type({
  queue: t.string,
  depth: t.number,
  /** Age of the oldest entry in seconds; 0 if there is none. */
  oldest: t.number,
});
type Queue = t.TypeOf<typeof Queue>;

// Reads that begin at the start of a table instead of at its watermark take at most 0.1 % of the time.
const fullShare = 0.001;
const createMarks = () => ({
  event: createWatermark<string>({ fullShare }),
  delivery: createWatermark<string>({ fullShare }),
  callback: createWatermark<bigint>({ fullShare }),
});
type Marks = ReturnType<typeof createMarks>;

/** Keeps the watermarks of the queues between scrapes. */
export function createGaugeReader(): (connection: Connection) => Promise<Figures> {
  const marks = createMarks();
  return (connection) => readGauges(connection, marks);
}

async function readGauges(connection: Connection, marks: Marks): Promise<Figures> {
  const campaigns = await connection.any(sql.type(Campaigns)`
    SELECT status, pause_reason, count(*)::int4 AS count FROM campaign
    WHERE status = ANY (${sql.array(openStatuses, 'text')}) GROUP BY status, pause_reason`);
  const sending = await connection.one(sql.type(row(Sending))`
    SELECT pending, claimed, "limit", allowed, pace
    FROM (
      SELECT COALESCE(sum(pending), 0)::float8 AS pending, COALESCE(sum(claimed), 0)::float8 AS claimed
      FROM campaign JOIN campaign_counter ON campaign_id = id WHERE status = 'RUNNING'
    ) AS recipients, (
      SELECT COALESCE(sum(messages_per_second), 0)::float8 AS "limit",
        COALESCE(sum(messages_per_second * factor), 0)::float8 AS allowed,
        COALESCE(min(pace), 1)::float8 AS pace
      FROM (
        SELECT messages_per_second, ${effectiveFactor} AS factor, CASE WHEN ${isSlow} THEN pace_share END AS pace
        FROM channel JOIN channel_rate ON channel_id = id
        WHERE id IN (SELECT channel_id FROM campaign WHERE status = 'RUNNING')
      ) AS sending
    ) AS channels`);
  const standstills = await countStandstills(connection);
  const daysAhead = await countDaysAhead(connection);
  const impairedWebhooks = await countImpairedWebhooks(connection);
  const askedAt = Date.now();
  const databaseState = await readDatabaseState(connection);
  const clockDifference = (askedAt + Date.now()) / 2_000 - databaseState.clock;
  return {
    campaigns,
    sending,
    queues: await readQueues(connection, marks),
    standstills,
    daysAhead,
    impairedWebhooks,
    impairedChannels: await countImpairedChannels(connection),
    databaseState,
    clockDifference,
    callbackSilence: (await readCallbackSilence(connection)).seconds,
  };
}

// An endpoint that keeps timing out waits behind the healthy ones by design: its deliveries are counted apart.
const slowAfter = 2;

async function readQueues(connection: Connection, marks: Marks): Promise<readonly Queue[]> {
  const recent = () => recentId(connection);
  // Null when the queue is empty, which saves a further read.
  const event = (await marks.event.find((from) => findWaitingEvent(connection, from), recent)) ?? null;
  const delivery =
    (await marks.delivery.find((from) => findWaitingDelivery(connection, from), recent)) ?? null;
  const callback =
    (await marks.callback.find(
      (from) => findWaitingCallback(connection, from),
      () => recentCallback(connection),
    )) ?? null;
  return connection.any(sql.type(row(Queue))`
    WITH waiting AS (
      SELECT webhook.consecutive_timeouts >= ${slowAfter} AS slow, depth.count, oldest.created_at
      FROM webhook_configuration AS webhook
      JOIN LATERAL (
        SELECT created_at FROM webhook_delivery
        WHERE ${ofWebhook(sql.fragment`webhook.id`)} AND ${waits(undefined)} AND id >= ${delivery}::uuid
        ORDER BY ${oldestFirst} LIMIT 1
      ) AS oldest ON true
      JOIN LATERAL (
        SELECT count(*) FROM (
          SELECT 1 FROM webhook_delivery
          WHERE ${ofWebhook(sql.fragment`webhook.id`)} AND ${waits(undefined)} AND id >= ${delivery}::uuid
          LIMIT (SELECT greatest(${leastPerEndpoint}, ${countLimit} / greatest(1, count(*))) FROM webhook_configuration)
        ) AS earliest
      ) AS depth ON true
      WHERE webhook.status <> 'inactive'
    ), queue (queue, depth, since) AS (
      SELECT 'events', count(*), min(occurred_at) FROM (
        SELECT occurred_at FROM event WHERE fanned_out_at IS NULL AND id >= ${event}::uuid
        ORDER BY id LIMIT ${countLimit}) AS earliest
      UNION ALL
      SELECT 'deliveries', COALESCE(sum(count), 0), min(created_at) FROM waiting WHERE NOT slow
      UNION ALL
      SELECT 'deliveries_of_slow_endpoints', COALESCE(sum(count), 0), min(created_at) FROM waiting WHERE slow
      UNION ALL
      SELECT 'deliveries_under_way', count(*), min(dispatched_at) FROM (
        SELECT dispatched_at FROM webhook_delivery
        WHERE state IN ('pending', 'sending') AND dispatched_at IS NOT NULL LIMIT ${countLimit}) AS earliest
      UNION ALL
      SELECT 'callbacks', count(*), min(received_at) FROM (
        SELECT received_at FROM waiting_callback WHERE id >= ${callback}::int8 ORDER BY id LIMIT ${countLimit}) AS earliest
      UNION ALL
      SELECT 'unmatched_statuses', count(*), min(received_at) FROM (
        SELECT received_at FROM unmatched_status WHERE emitted_at IS NULL ORDER BY received_at LIMIT ${countLimit}) AS earliest
      UNION ALL
      SELECT 'workflow_outbox', count(*), min(created_at) FROM (
        SELECT created_at FROM workflow_outbox WHERE workspace_id IS NULL ORDER BY id LIMIT ${countLimit}) AS earliest
      UNION ALL
      SELECT 'campaign_starts', count(*), min(created_at) FROM (
        SELECT created_at FROM workflow_outbox WHERE kind = 'start' AND workspace_id IS NOT NULL LIMIT ${countLimit}) AS waiting
      UNION ALL
      SELECT 'claims', count(*), min(claimed_at) FROM (
        SELECT claimed_at FROM campaign_claim LIMIT ${countLimit}) AS earliest
    )
    SELECT queue, depth::int4 AS depth, greatest(0, COALESCE(extract(epoch FROM now() - since), 0))::float8 AS oldest
    FROM queue`);
}
