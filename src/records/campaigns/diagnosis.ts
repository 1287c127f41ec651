/** Reads the facts for a campaign's diagnosis in one statement whose cost does not grow with the campaign. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  pauseReasons,
  preparationStatuses,
  waitingReasons,
} from '../../domain/campaigns/campaign.ts';
import type { CampaignFacts } from '../../domain/campaigns/diagnosis-facts.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { effectiveFactor } from '../sending/channel-rate.ts';
import { countColumns, waitingJoin } from './campaign-snapshot.ts';
import { cardOf, priceTermsOfTemplate } from '../wallet/wallets.ts';
import { Windows, windowsColumn } from './sending-hours.ts';

const Facts = row(
  t.type({
    status: oneOf(campaignStatuses),
    pauseReason: nullable(oneOf(pauseReasons)),
    preparationStatus: oneOf(preparationStatuses),
    preparationError: nullable(t.string),
    createdAt: timestamp,
    scheduledAt: nullable(timestamp),
    windows: Windows,
    total: t.number,
    pending: t.number,
    underWay: t.number,
    failed: t.number,
    template: t.type({ name: t.string, status: t.string, vanished: t.boolean }),
    channel: t.type({
      isActive: t.boolean,
      blockReason: nullable(t.string),
      refusalCode: nullable(t.number),
      messagesPerSecond: t.number,
      factor: t.number,
    }),
    waitingFor: nullable(oneOf(waitingReasons)),
    waitingUntil: nullable(timestamp),
    available: t.bigint,
    currency: t.string,
    nextPrice: t.bigint,
    counted: t.number,
    cost: t.string,
    broadcasts: t.type({ used: t.number, limit: nullable(t.number), counted: t.boolean }),
    outboxSince: nullable(timestamp),
    now: timestamp,
  }),
);

/** Every 5,000 recipients, `campaign_countries` gets a row with the running totals by country. */
export const countriesEvery = 5_000;

/** Counts pending recipients one by one up to the next row of `campaign_countries`, the others by its running totals. */
const costOfWaiting = sql.fragment`
  WITH card AS (
    ${cardOf(sql.fragment`campaign.channel_id`, sql.fragment`template.category`, priceTermsOfTemplate)}
  ), next AS (
    SELECT position, counts FROM campaign_countries
    WHERE campaign_id = campaign.id AND position > claimed_position ORDER BY position LIMIT 1
  ), waiting AS (
    SELECT country, position FROM recipient
    WHERE campaign_id = campaign.id AND state = 'PENDING' AND position > claimed_position
      AND position <= coalesce((SELECT position FROM next), claimed_position + ${countriesEvery})
    UNION ALL
    SELECT country, retry.position FROM (
      SELECT position FROM recipient_retry WHERE campaign_id = campaign.id ORDER BY position LIMIT ${countriesEvery}
    ) AS retry JOIN recipient ON campaign_id = campaign.id AND recipient.position = retry.position AND state = 'PENDING'
  ), counted AS (
    SELECT country, count(*) AS count, min(position) AS first FROM waiting GROUP BY country
    UNION ALL
    SELECT country, up_to::int8 - coalesce((next.counts ->> country)::int8, 0), NULL FROM next, LATERAL (
      SELECT counts FROM campaign_countries WHERE campaign_id = campaign.id ORDER BY position DESC LIMIT 1
    ) AS last, jsonb_each_text(last.counts) AS whole (country, up_to)
  )
  SELECT coalesce(sum(count), 0)::int4 AS counted, coalesce(sum(count * price), 0)::text AS cost,
    coalesce((array_agg(price ORDER BY first))[1], (SELECT price FROM card WHERE country = '')) AS "nextPrice"
  FROM counted LEFT JOIN LATERAL (
    SELECT price FROM card WHERE card.country IN (counted.country, '') ORDER BY card.country DESC LIMIT 1
  ) AS priced ON true`;

/** Throws NotFound, also for a campaign of another workspace. */
export async function getCampaignFacts(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<CampaignFacts> {
  const found = await connection.maybeOne(sql.type(Facts)`
    SELECT campaign.status, pause_reason AS "pauseReason", preparation_status AS "preparationStatus",
      preparation_error_message AS "preparationError", campaign.created_at AS "createdAt", scheduled_at AS "scheduledAt",
      ${windowsColumn} AS windows, ${countColumns},
      claimed + unknown AS "underWay",
      jsonb_build_object('name', template.name, 'status', template.status,
        'vanished', template.vanished_at IS NOT NULL) AS template,
      jsonb_build_object('isActive', channel.status = 'active', 'blockReason', block_reason,
        'refusalCode', CASE WHEN pause_reason = 'CHANNEL_BLOCKED' THEN refusal_code END,
        'messagesPerSecond', messages_per_second, 'factor', ${effectiveFactor}) AS channel,
      waiting.reason AS "waitingFor", waiting.until AS "waitingUntil",
      wallet.balance - wallet.reserved AS available, wallet.currency, "nextPrice", counted, cost,
      jsonb_build_object('counted', quota_month IS NOT NULL, 'limit', broadcasts_per_month, 'used',
        coalesce((SELECT used FROM broadcast_usage WHERE broadcast_usage.workspace_id = campaign.workspace_id
          AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)) AS broadcasts,
      (SELECT min(created_at) FROM workflow_outbox WHERE campaign_id = campaign.id) AS "outboxSince", now() AS now
    FROM campaign
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    JOIN channel ON channel.id = campaign.channel_id
    JOIN channel_rate ON channel_rate.channel_id = channel.id
    JOIN wallet ON wallet.channel_id = channel.id
    JOIN workspace_feature ON workspace_feature.workspace_id = campaign.workspace_id
    ${waitingJoin}
    CROSS JOIN LATERAL (${costOfWaiting}) AS waiting_cost
    WHERE campaign.workspace_id = ${workspaceId} AND campaign.id = ${campaignId}`);
  const { available, currency, nextPrice, counted, cost, ...facts } = found ?? notFound('Campaign');
  const [pending, countedPending] = [BigInt(facts.pending), BigInt(counted)];
  const remainingCost =
    countedPending === 0n ? nextPrice * pending : (BigInt(cost) * pending) / countedPending;
  return {
    ...facts,
    wallet: {
      available,
      currency,
      nextPrice: pending === 0n ? null : nextPrice,
      remainingCost,
      isExact: countedPending === pending,
    },
  };
}
