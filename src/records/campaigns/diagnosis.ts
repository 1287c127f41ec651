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
import { contactTotals } from './standing.ts';

const Facts = row(
  t.type({
    status: oneOf(campaignStatuses),
    pauseReason: nullable(oneOf(pauseReasons)),
    preparationStatus: oneOf(preparationStatuses),
    preparationError: nullable(t.string),
    scheduledAt: nullable(timestamp),
    total_contacts: t.number,
    pending: t.number,
    underWay: t.number,
    failed: t.number,
    claimedPosition: t.number,
    templateName: t.string,
    templateStatus: t.string,
    templateVanished: t.boolean,
    category: t.string,
    channelIsActive: t.boolean,
    blockReason: nullable(t.string),
    messagesPerSecond: t.number,
    factor: t.number,
    waitingFor: nullable(oneOf(waitingReasons)),
    waitingUntil: nullable(timestamp),
    available: t.bigint,
    currency: t.string,
    quotaCounted: t.boolean,
    broadcastsUsed: t.number,
    broadcastLimit: nullable(t.number),
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
      preparation_error_message AS "preparationError", scheduled_at AS "scheduledAt", ${contactTotals},
      pending, claimed + unknown AS "underWay", failed, claimed_position AS "claimedPosition",
      template.name AS "templateName", template.status AS "templateStatus",
      template.vanished_at IS NOT NULL AS "templateVanished", template.category,
      channel.status = 'active' AS "channelIsActive", block_reason AS "blockReason",
      messages_per_second AS "messagesPerSecond", ${effectiveFactor} AS factor,
      waiting.reason AS "waitingFor", waiting.until AS "waitingUntil",
      wallet.balance - wallet.reserved AS available, wallet.currency,
      quota_month IS NOT NULL AS "quotaCounted", broadcasts_per_month AS "broadcastLimit",
      coalesce((SELECT used FROM broadcast_usage WHERE broadcast_usage.workspace_id = campaign.workspace_id
        AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0) AS "broadcastsUsed",
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
  return {
    ...facts,
    total: found.total_contacts,
    template: { name: found.templateName, status: found.templateStatus, vanished: found.templateVanished },
    channel: {
      isActive: found.channelIsActive,
      blockReason: found.blockReason,
      messagesPerSecond: found.messagesPerSecond,
      factor: found.factor,
    },
    wallet: { available, currency, ...cost },
    broadcasts: {
      used: found.broadcastsUsed,
      limit: found.broadcastLimit,
      counted: found.quotaCounted,
    },
  };
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
