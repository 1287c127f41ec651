/** What `domain/campaigns/diagnosis.ts` judges a campaign by, in two statements whose cost does not grow with it. */
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
    lastPosition: t.number,
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
      preparation_error_message AS "preparationError", scheduled_at AS "scheduledAt", total_contacts AS total,
      pending, claimed + unknown AS "underWay", failed, claimed_position AS "claimedPosition",
      pending + claimed + accepted + sent + delivered + read + failed + unknown + cancelled + skipped AS "lastPosition",
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

const Waiting = row(t.type({ country: t.string, count: t.number, first: t.number }));

/** So many of those that wait are all looked at; of more, a thousand that are evenly spread. */
const exactUpTo = 2_000;
const sampleSize = 1_000;

interface WaitingPart {
  readonly workspaceId: number;
  readonly campaignId: string;
  readonly category: string;
  readonly pending: number;
  readonly claimedPosition: number;
  readonly lastPosition: number;
}

async function remainingCost(
  connection: Connection,
  { workspaceId, campaignId, category, pending, claimedPosition, lastPosition }: WaitingPart,
): Promise<Pick<CampaignFacts['wallet'], 'nextPrice' | 'remainingCost' | 'isExact'>> {
  if (pending === 0) return { nextPrice: null, remainingCost: 0n, isExact: true };
  const unclaimed = lastPosition - claimedPosition;
  const step = unclaimed <= exactUpTo ? 1 : Math.ceil(unclaimed / sampleSize);
  const prices = await findPrices(connection, workspaceId, category);
  // Retries stand behind the claimed position and are few.
  const waiting = await connection.any(sql.type(Waiting)`
    SELECT country, count(*)::int4 AS count, min(position) AS first FROM (
      SELECT position FROM generate_series(${claimedPosition + 1}::int4, ${lastPosition}::int4, ${step}::int4)
        AS position
      UNION
      (SELECT position FROM recipient_retry WHERE campaign_id = ${campaignId} ORDER BY position LIMIT ${exactUpTo})
    ) AS looked CROSS JOIN LATERAL (
      SELECT country FROM recipient
      WHERE campaign_id = ${campaignId} AND recipient.position = looked.position AND state = 'PENDING' OFFSET 0
    ) AS recipient
    GROUP BY country ORDER BY first`);
  const priceOf = (country: string) => prices.get(country) ?? prices.get('') ?? 0n;
  const looked = waiting.reduce((sum, { count }) => sum + count, 0);
  const cost = waiting.reduce((sum, { country, count }) => sum + priceOf(country) * BigInt(count), 0n);
  return {
    nextPrice: priceOf(waiting[0]?.country ?? ''),
    remainingCost: looked === 0 ? priceOf('') * BigInt(pending) : (cost * BigInt(pending)) / BigInt(looked),
    isExact: looked === pending,
  };
}
