/** Statements that change a campaign's status. The table in domain/campaigns/campaign.ts defines the allowed changes. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  isFinished,
  nextCampaignStatus,
  pauseReasons,
  preparationStatuses,
  sendTypes,
  type CampaignAction,
  type PauseReason,
} from '../../domain/campaigns/campaign.ts';
import type { PriceChange } from '../../domain/campaigns/reasons.ts';
import { notFound } from '../../domain/error.ts';
import type { PauseEvidence } from '../../domain/sending/failure-brake.ts';
import { campaignPaused } from '../../domain/operations/notice.ts';
import type { Connection } from '../database/database.ts';
import { cardOf, priceTermsOfTemplate } from '../wallet/wallets.ts';
import { countriesEvery } from './diagnosis.ts';
import { insertNotices } from '../operations/notices.ts';
import { Evidence, pauseEvidence } from '../sending/failure-brake.ts';
import { enqueueRefresh, enqueueRefreshes } from './workflow-outbox.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const LockedCampaign = t.type({
  id: t.string,
  workspace_id: t.number,
  name: t.string,
  channel_id: t.string,
  template_id: t.string,
  status: oneOf(campaignStatuses),
  pause_reason: nullable(oneOf(pauseReasons)),
  preparation_status: oneOf(preparationStatuses),
  send_type: oneOf(sendTypes),
  epoch: t.number,
  started_at: nullable(timestamp),
  total_contacts: t.number,
  pause_evidence: nullable(Evidence),
  /** Micro-units; null without a maximum. */
  max_cost: nullable(t.bigint),
  /** The maximum with which it was last paused with MAX_COST. */
  max_cost_reached: nullable(t.bigint),
  /** Time until `scheduled_at`; 0 when it has passed, or without one. */
  due_in_ms: t.number,
  quota_counted: t.boolean,
  template_status: t.string,
  template_vanished: t.boolean,
  channel_status: t.string,
  /** How long ago the provider said that the number may send nothing; null if it said otherwise, or nothing. */
  number_blocked_ms_ago: nullable(t.number),
});
export type LockedCampaign = t.TypeOf<typeof LockedCampaign>;

/**
 * Locks the campaign until the transaction ends, then reads it with its template and channel. One statement would return
 * template and channel as they were before it waited for the lock. `workspaceId` undefined: on the workflow's behalf. Throws
 * NotFound.
 */
export async function lockCampaign(
  transaction: Connection,
  campaignId: string,
  workspaceId?: number,
): Promise<LockedCampaign> {
  const owner =
    workspaceId === undefined ? sql.fragment`TRUE` : sql.fragment`campaign.workspace_id = ${workspaceId}`;
  const { rowCount } = await transaction.query(sql.type(nothing)`
    SELECT FROM campaign WHERE id = ${campaignId} AND ${owner} FOR NO KEY UPDATE`);
  if (rowCount === 0) return notFound('Campaign');
  return transaction.one(sql.type(row(LockedCampaign))`
    SELECT campaign.id, campaign.workspace_id, campaign.name, campaign.channel_id, campaign.template_id, campaign.status,
      campaign.pause_reason, campaign.preparation_status, campaign.send_type, campaign.epoch, campaign.started_at,
      campaign.total_contacts, ${pauseEvidence} AS pause_evidence, max_cost, max_cost_reached,
      greatest(0, coalesce(ceil(extract(epoch FROM scheduled_at - clock_timestamp()) * 1000), 0))::float8 AS due_in_ms,
      campaign.quota_month IS NOT NULL AS quota_counted,
      template.status AS template_status, template.vanished_at IS NOT NULL AS template_vanished,
      channel.status AS channel_status,
      CASE WHEN channel.can_send = 'BLOCKED'
        THEN (extract(epoch FROM clock_timestamp() - channel.health_read_at) * 1000)::float8 END AS number_blocked_ms_ago
    FROM campaign
    JOIN template ON template.id = campaign.template_id
    JOIN channel ON channel.id = campaign.channel_id
    WHERE campaign.id = ${campaignId}`);
}

/**
 * Makes the move on a locked campaign and raises its epoch. The caller has checked that it is possible; `pauseReason` goes
 * with `pause` alone, `evidence` with FAILURES and PRICE_RAISED. For the steps of the campaign's own workflow, which sees the new snapshot in their answer.
 */
export async function moveCampaign(
  transaction: Connection,
  campaign: LockedCampaign,
  action: CampaignAction,
  pauseReason: PauseReason | null = null,
  evidence: PauseEvidence | PriceChange | null = null,
): Promise<void> {
  const next = nextCampaignStatus(campaign.status, action);
  if (next === undefined) throw new Error(`A ${campaign.status} campaign cannot ${action}`);
  await transaction.query(sql.type(nothing)`
    WITH dequeued AS (
      -- Only running campaigns share a channel: a row left behind would count against the others. A step that asked for a slot
      -- beside the pause may have left one: with its old virtual time the resumed campaign would get every slot.
      DELETE FROM slot_queue WHERE campaign_id = ${campaign.id}
    )
    UPDATE campaign SET status = ${next}, pause_reason = ${pauseReason}, epoch = epoch + 1, updated_at = now(),
      pause_evidence = ${evidence === null ? null : JSON.stringify(evidence)}::jsonb,
      max_cost_reached = CASE WHEN ${pauseReason === 'MAX_COST'} THEN max_cost ELSE max_cost_reached END,
      started_at = CASE WHEN ${action === 'begin'} THEN COALESCE(started_at, now()) ELSE started_at END,
      completed_at = CASE WHEN ${action === 'complete'} THEN now() ELSE completed_at END
    WHERE id = ${campaign.id}`);
  if (pauseReason !== null)
    await insertNotices(transaction, [campaignPaused(campaign, pauseReason, evidence)]);
}

/**
 * The campaign goes on at the prices that the template's present category has, which the estimate of its cost is made of. Counts
 * the recipients of a campaign that is too small for rows of `campaign_countries`. The caller holds the campaign.
 */
export async function acceptCategory(transaction: Connection, campaignId: string): Promise<void> {
  await transaction.query(sql.type(nothing)`
    WITH present AS MATERIALIZED (
      SELECT campaign.channel_id, template.category, template.upcoming_category, template.upcoming_category_at,
        template.message_send_ttl_seconds
      FROM campaign JOIN template ON template.id = campaign.template_id WHERE campaign.id = ${campaignId}
    ), whole AS MATERIALIZED (
      SELECT counts FROM campaign_countries WHERE campaign_id = ${campaignId} ORDER BY position DESC LIMIT 1
    ), counted AS (
      SELECT country, count::int8 AS count FROM whole, jsonb_each_text(whole.counts) AS each (country, count)
      UNION ALL
      -- Bounds and order keep Postgres to the index of positions, whatever its statistics are.
      SELECT country, count(*) FROM (
        SELECT country, sendable FROM recipient
        WHERE campaign_id = ${campaignId} AND position > 0 AND position <= ${countriesEvery}
        ORDER BY position LIMIT ${countriesEvery}
      ) AS first WHERE sendable AND NOT EXISTS (SELECT FROM whole)
      GROUP BY country
    ), estimated AS (
      INSERT INTO campaign_money (campaign_id, estimate)
      SELECT ${campaignId}, (
        WITH card AS MATERIALIZED (
          SELECT * FROM (${cardOf(sql.fragment`template.channel_id`, sql.fragment`template.category`, priceTermsOfTemplate)}) AS price
        )
        SELECT sum(count * COALESCE(own.price, (SELECT price FROM card WHERE country = '')))
        FROM counted LEFT JOIN card AS own ON own.country = counted.country
      )::bigint FROM present AS template
      ON CONFLICT (campaign_id) DO UPDATE SET estimate = excluded.estimate
    )
    UPDATE campaign SET priced_category = template.category
    FROM template WHERE campaign.id = ${campaignId} AND template.id = campaign.template_id`);
}

/** `moveCampaign` for callers outside the campaign's workflow: enqueues a refresh, so that the workflow reads its record. */
export async function moveCampaignAndNotify(...move: Parameters<typeof moveCampaign>): Promise<void> {
  const [transaction, campaign] = move;
  await moveCampaign(...move);
  await enqueueRefresh(transaction, campaign.id);
}

const unfinishedStatuses = campaignStatuses.filter((status) => !isFinished(status));
// Campaigns that have not begun are not paused: their start checks the template and the channel.
const startedStatuses = campaignStatuses.filter(
  (status) =>
    nextCampaignStatus(status, 'pause') !== undefined && nextCampaignStatus(status, 'complete') !== undefined,
);

/**
 * Pauses every started campaign of a template or of channels. Returns their ids. First locks every unfinished one: one that begins
 * or is started meanwhile is either seen here as started, or reads what this transaction has written. All channels at once, because
 * two transactions that take them one after the other, in different orders, wait for one another.
 */
export async function pauseRunning(
  transaction: Connection,
  cause: { readonly templateId: string } | { readonly channelIds: readonly string[] },
): Promise<readonly string[]> {
  const [condition, reason]: readonly [FragmentSqlToken, PauseReason] =
    'templateId' in cause
      ? [sql.fragment`template_id = ${cause.templateId}`, 'TEMPLATE_UNAVAILABLE']
      : [sql.fragment`channel_id = ANY (${sql.array([...cause.channelIds], 'uuid')})`, 'CHANNEL_BLOCKED'];
  await transaction.query(sql.type(nothing)`
    SELECT FROM campaign WHERE ${condition} AND status = ANY (${sql.array(unfinishedStatuses, 'text')})
    ORDER BY id FOR NO KEY UPDATE`);
  const paused = await transaction.any(sql.type(PausedCampaign)`
    WITH running AS MATERIALIZED (
      SELECT id FROM campaign WHERE ${condition} AND status = ANY (${sql.array(startedStatuses, 'text')})
      ORDER BY id FOR NO KEY UPDATE
    ), dequeued AS (
      DELETE FROM slot_queue WHERE campaign_id IN (SELECT id FROM running)
    )
    UPDATE campaign SET status = 'PAUSED', pause_reason = ${reason}, epoch = epoch + 1, updated_at = now()
    WHERE id IN (SELECT id FROM running)
    RETURNING id, workspace_id, name`);
  await enqueueRefreshes(
    transaction,
    paused.map(({ id }) => id),
  );
  await insertNotices(
    transaction,
    paused.map((campaign) => campaignPaused(campaign, reason)),
  );
  return paused.map(({ id }) => id);
}

const PausedCampaign = row(t.type({ id: t.string, workspace_id: t.number, name: t.string }));

/** Counts the campaign against this UTC month's broadcast quota, once. Returns false if the quota is used up. */
export async function countBroadcast(transaction: Connection, campaign: LockedCampaign): Promise<boolean> {
  if (campaign.quota_counted) return true;
  const counted = await transaction.query(sql.type(nothing)`
    WITH counted AS (
      INSERT INTO broadcast_usage AS usage (workspace_id, month, used)
      SELECT ${campaign.workspace_id}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 1
      FROM workspace_feature
      WHERE workspace_id = ${campaign.workspace_id} AND COALESCE(broadcasts_per_month, 1) >= 1
      ON CONFLICT (workspace_id, month) DO UPDATE SET used = usage.used + 1
        WHERE usage.used < COALESCE(
          (SELECT broadcasts_per_month FROM workspace_feature WHERE workspace_id = excluded.workspace_id), 2147483647)
      RETURNING month
    )
    UPDATE campaign SET quota_month = counted.month FROM counted WHERE id = ${campaign.id}`);
  return counted.rowCount > 0;
}

const Cancelled = row(t.type({ cancelled: t.number, looked_at: t.number }));

/**
 * Moves the next PENDING recipients of a cancelled campaign to CANCELLED: those after `claimed_position`, which advances, and
 * those that returned to PENDING. Returns their number; null when none is left for now.
 */
export async function cancelPending(
  database: Connection,
  { campaignId, limit }: { readonly campaignId: string; readonly limit: number },
): Promise<number | null> {
  return database.transaction(async (transaction) => {
    // Locks the counter row as a claim does, so that no recipient is claimed and cancelled at the same time.
    const { claimed_position: after } = await transaction.one(sql.type(Reached)`
      SELECT claimed_position FROM campaign_counter WHERE campaign_id = ${campaignId} FOR UPDATE`);
    const { cancelled, looked_at: lookedAt } = await transaction.one(sql.type(Cancelled)`
      WITH fresh AS (
        SELECT position FROM recipient WHERE campaign_id = ${campaignId} AND position > ${after}
        ORDER BY position LIMIT ${limit}
      ), back AS (
        -- An array is read once; IN may read the retries once for each of them.
        DELETE FROM recipient_retry WHERE campaign_id = ${campaignId} AND position = ANY (ARRAY(
          SELECT position FROM recipient_retry WHERE campaign_id = ${campaignId} LIMIT ${limit} FOR UPDATE SKIP LOCKED))
        RETURNING position
      ), updated AS (
        UPDATE recipient SET state = 'CANCELLED', updated_at = now()
        WHERE campaign_id = ${campaignId} AND state = 'PENDING'
          AND position = ANY(ARRAY(SELECT position FROM fresh UNION ALL SELECT position FROM back))
        RETURNING position
      ), counted AS (
        UPDATE campaign_counter SET claimed_position = greatest(claimed_position, (SELECT max(position) FROM fresh)),
          pending = pending - total.size, cancelled = cancelled + total.size
        FROM (SELECT count(*)::int AS size FROM updated) AS total WHERE campaign_id = ${campaignId}
      )
      SELECT (SELECT count(*) FROM updated)::int AS cancelled,
        ((SELECT count(*) FROM fresh) + (SELECT count(*) FROM back))::int AS looked_at`);
    return lookedAt === 0 ? null : cancelled;
  });
}

const Reached = row(t.type({ claimed_position: t.number }));
