/** What `domain/campaigns/diagnosis.ts` judges a campaign by, in three statements whose cost does not grow with it. */
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
import { NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { effectiveFactor } from '../sending/channel-rate.ts';
import { waitingJoin } from '../sending/waiting.ts';
import { findPrices } from '../wallet/wallets.ts';
import { countColumns } from './standing.ts';

const Facts = row(
  t.type({
    status: oneOf(campaignStatuses),
    pauseReason: nullable(oneOf(pauseReasons)),
    preparationStatus: oneOf(preparationStatuses),
    preparationError: nullable(t.string),
    scheduledAt: nullable(timestamp),
    total: t.number,
    pending: t.number,
    underWay: t.number,
    failed: t.number,
    claimedPosition: t.number,
    template: t.type({ name: t.string, status: t.string, vanished: t.boolean }),
    category: t.string,
    channel: t.type({
      isActive: t.boolean,
      blockReason: nullable(t.string),
      messagesPerSecond: t.number,
      factor: t.number,
    }),
    waitingFor: nullable(oneOf(waitingReasons)),
    waitingUntil: nullable(timestamp),
    available: t.bigint,
    currency: t.string,
    broadcasts: t.type({ used: t.number, limit: nullable(t.number), counted: t.boolean }),
    orderedAt: nullable(timestamp),
    now: timestamp,
  }),
);

/** Throws NotFound, for a campaign of another workspace too. */
export async function getCampaignFacts(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<CampaignFacts> {
  const found = await connection.maybeOne(sql.type(Facts)`
    SELECT campaign.status, pause_reason AS "pauseReason", preparation_status AS "preparationStatus",
      preparation_error_message AS "preparationError", scheduled_at AS "scheduledAt", ${countColumns},
      claimed + unknown AS "underWay",
      template.category, jsonb_build_object('name', template.name, 'status', template.status,
        'vanished', template.vanished_at IS NOT NULL) AS template,
      jsonb_build_object('isActive', channel.status = 'active', 'blockReason', block_reason,
        'messagesPerSecond', messages_per_second, 'factor', ${effectiveFactor}) AS channel,
      waiting.reason AS "waitingFor", waiting.until AS "waitingUntil",
      wallet.balance - wallet.reserved AS available, wallet.currency,
      jsonb_build_object('counted', quota_month IS NOT NULL, 'limit', broadcasts_per_month, 'used',
        coalesce((SELECT used FROM broadcast_usage WHERE broadcast_usage.workspace_id = campaign.workspace_id
          AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)) AS broadcasts,
      (SELECT min(created_at) FROM workflow_command WHERE campaign_id = campaign.id) AS "orderedAt", now() AS now
    FROM campaign
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    JOIN channel ON channel.id = campaign.channel_id
    JOIN channel_rate ON channel_rate.channel_id = channel.id
    JOIN wallet ON wallet.channel_id = channel.id
    JOIN workspace_feature ON workspace_feature.workspace_id = campaign.workspace_id
    ${waitingJoin}
    WHERE campaign.workspace_id = ${workspaceId} AND campaign.id = ${campaignId}`);
  if (found === null) throw new NotFound('Campaign');
  const { available, currency, ...facts } = found;
  const cost = await remainingCost(connection, { workspaceId, campaignId, ...found });
  return { ...facts, wallet: { available, currency, ...cost } };
}

const Waiting = row(t.type({ country: t.string, count: t.number }));

/** So many recipients stand between two rows of `campaign_countries`. */
export const countriesEvery = 5_000;

interface WaitingPart {
  readonly workspaceId: number;
  readonly campaignId: string;
  readonly category: string;
  readonly pending: number;
  readonly claimedPosition: number;
}

/** Counts those that wait up to the next row of `campaign_countries`, and takes the others from there. */
async function remainingCost(
  connection: Connection,
  { workspaceId, campaignId, category, pending, claimedPosition }: WaitingPart,
): Promise<Pick<CampaignFacts['wallet'], 'nextPrice' | 'remainingCost' | 'isExact'>> {
  if (pending === 0) return { nextPrice: null, remainingCost: 0n, isExact: true };
  const prices = await findPrices(connection, workspaceId, category);
  const waiting = await connection.any(sql.type(Waiting)`
    WITH next AS (
      SELECT position, counts FROM campaign_countries
      WHERE campaign_id = ${campaignId} AND position > ${claimedPosition} ORDER BY position LIMIT 1
    ), waiting AS (
      SELECT country, position FROM recipient
      WHERE campaign_id = ${campaignId} AND state = 'PENDING' AND position > ${claimedPosition}
        AND position <= coalesce((SELECT position FROM next), ${claimedPosition + countriesEvery})
      UNION ALL
      SELECT country, retry.position FROM (
        SELECT position FROM recipient_retry WHERE campaign_id = ${campaignId} ORDER BY position LIMIT ${countriesEvery}
      ) AS retry JOIN recipient ON campaign_id = ${campaignId} AND recipient.position = retry.position AND state = 'PENDING'
    )
    SELECT country, sum(count)::int4 AS count FROM (
      SELECT country, count(*) AS count, min(position) AS first FROM waiting GROUP BY country
      UNION ALL
      SELECT country, up_to::int4 - coalesce((next.counts ->> country)::int4, 0), NULL FROM next, LATERAL (
        SELECT counts FROM campaign_countries WHERE campaign_id = ${campaignId} ORDER BY position DESC LIMIT 1
      ) AS last, jsonb_each_text(last.counts) AS whole (country, up_to)
    ) AS counted
    GROUP BY country ORDER BY min(first)`);
  const priceOf = (country: string) => prices.get(country) ?? prices.get('') ?? 0n;
  const looked = waiting.reduce((sum, { count }) => sum + count, 0);
  const cost = waiting.reduce((sum, { country, count }) => sum + priceOf(country) * BigInt(count), 0n);
  return {
    nextPrice: priceOf(waiting[0]?.country ?? ''),
    remainingCost: looked === 0 ? priceOf('') * BigInt(pending) : (cost * BigInt(pending)) / BigInt(looked),
    isExact: looked === pending,
  };
}
