/**
 * Campaigns that should make progress and do not. A campaign that is due, running or being prepared without progress becomes a
 * suspect, at a cost that grows with running and due campaigns, not with all. Temporal is asked about suspects only.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { isAtLimit } from '../sending/messaging-limit.ts';
import { isWindowClosed, waitingJoin } from '../campaigns/campaign-snapshot.ts';

/** Kinds that are reported. A preparation may take long, and so may a wait whose reason is recorded. */
export const standstillKinds = ['due', 'running', 'without_workflow', 'stuck', 'failing'] as const;

/** Kinds that Temporal's answers show. */
export type Standstill = 'without_workflow' | 'stuck' | 'queued' | 'failing';

const Watch = row(t.type({ looked_at: nullable(timestamp), started_at: timestamp }));

/**
 * Assigns the next check to one process; returns when it and the last completed check began, by Postgres' clock. Undefined when
 * none is due yet. A `next_at` more than a minute ahead was set before the clock went back.
 */
export async function takeWatch(
  connection: Connection,
): Promise<{ readonly lookedAt: Date | null; readonly startedAt: Date } | undefined> {
  const watch = await connection.maybeOne(sql.type(Watch)`
    UPDATE campaign_watch SET next_at = now() + interval '15 seconds'
    WHERE next_at <= now() OR next_at > now() + interval '1 minute'
    RETURNING looked_at, now() AS started_at`);
  return watch === null ? undefined : { lookedAt: watch.looked_at, startedAt: watch.started_at };
}

export async function endWatch(connection: Connection, startedAt: Date): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE campaign_watch SET looked_at = ${startedAt.toISOString()}::timestamptz`);
}

/** False while the campaign waits for its turn to start: it has no workflow yet. */
const isStarted = sql.fragment`
  NOT EXISTS (SELECT FROM workflow_outbox WHERE workflow_outbox.campaign_id = campaign.id)`;

/**
 * Records campaigns without progress as suspects, and deletes suspects that move again. A running campaign moves when its last
 * batch is claimed or recorded; one that has claimed every recipient may wait for retries and outcomes. A scheduled campaign is
 * a suspect until it is prepared, and again when it is nearly due: its workflow may be lost.
 */
export async function suspectCampaigns(connection: Connection): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH still AS MATERIALIZED (
      SELECT campaign.id, channel_id, status, preparation_status, scheduled_at, window_opens_at, campaign.updated_at
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      WHERE status = 'RUNNING' AND campaign.updated_at < now() - interval '20 seconds' AND NOT coalesce(${isWindowClosed}, false)
        AND (SELECT true FROM recipient WHERE recipient.campaign_id = campaign.id
          AND position = claimed_position AND recipient.updated_at > now() - interval '20 seconds') IS NULL
        AND NOT EXISTS (SELECT FROM channel WHERE channel.id = campaign.channel_id AND ${isAtLimit})
        AND ((SELECT true FROM recipient WHERE recipient.campaign_id = campaign.id AND position = claimed_position + 1)
          OR NOT EXISTS (SELECT FROM campaign_claim WHERE campaign_claim.campaign_id = campaign.id)
            AND NOT EXISTS (SELECT FROM recipient_retry WHERE recipient_retry.campaign_id = campaign.id))
    ), suspect (campaign_id, kind) AS (
      SELECT id, 'due' FROM campaign WHERE status = 'SCHEDULED' AND scheduled_at < now() - interval '15 seconds'
      UNION ALL
      SELECT id, CASE preparation_status WHEN 'READY' THEN 'due' ELSE 'preparing' END FROM campaign
      WHERE status = 'DRAFT' AND updated_at < now() - interval '30 seconds'
        AND (preparation_status = 'READY' OR ${isStarted})
      UNION ALL
      SELECT id, 'preparing' FROM campaign
      WHERE status = 'SCHEDULED' AND preparation_status = 'PREPARING' AND updated_at < now() - interval '30 seconds'
        AND scheduled_at >= now() - interval '15 seconds' AND ${isStarted}
      UNION ALL
      SELECT id, 'waiting' FROM campaign WHERE status = 'SCHEDULED' AND preparation_status = 'READY'
        AND scheduled_at BETWEEN now() - interval '15 seconds' AND now() + interval '2 minutes'
      UNION ALL
      SELECT id, CASE WHEN waiting.reason IS NULL THEN 'running' ELSE 'waiting' END FROM still AS campaign ${waitingJoin}
    ), moving AS (
      DELETE FROM campaign_standstill
      WHERE kind <> 'without_workflow' AND campaign_id NOT IN (SELECT campaign_id FROM suspect)
    )
    INSERT INTO campaign_standstill (campaign_id, kind) SELECT campaign_id, suspect.kind
    FROM suspect LEFT JOIN campaign_standstill AS known USING (campaign_id)
    WHERE known.kind IS NULL OR known.kind NOT IN ('without_workflow', 'stuck', 'queued', 'failing') AND known.kind <> suspect.kind
    -- The sort reads every suspect before the first row is written, because waitingJoin reads this table as well.
    ORDER BY campaign_id
    ON CONFLICT (campaign_id) DO UPDATE SET kind = excluded.kind, since = now()`);
}

const CampaignId = row(t.type({ campaign_id: t.string }));

/** Takes the suspects to ask Temporal about: those last asked about longest ago come first, each at most every 20 s. */
export function takeSuspects(connection: Connection, limit: number): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(CampaignId)`
    UPDATE campaign_standstill SET looked_at = now()
    WHERE campaign_id IN (
      SELECT campaign_id FROM campaign_standstill
      WHERE looked_at IS NULL OR looked_at < now() - interval '20 seconds' OR looked_at > now()
      ORDER BY looked_at NULLS FIRST LIMIT ${limit})
    RETURNING campaign_id`);
}

/** Records a standstill. True when it was not recorded with this kind before. */
export async function markStandstill(
  connection: Connection,
  campaignId: string,
  kind: Standstill,
): Promise<boolean> {
  const changed = await connection.query(sql.type(nothing)`
    INSERT INTO campaign_standstill (campaign_id, kind, looked_at) VALUES (${campaignId}, ${kind}, now())
    ON CONFLICT (campaign_id) DO UPDATE SET kind = excluded.kind, since = now() WHERE campaign_standstill.kind <> excluded.kind`);
  return changed.rowCount === 1;
}

/** Deletes what Temporal's answers showed about these campaigns; one that still does not move becomes a suspect again. */
export async function clearStandstills(connection: Connection, ids: readonly string[]): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM campaign_standstill
    WHERE kind IN ('without_workflow', 'stuck', 'queued', 'failing') AND campaign_id = ANY (${sql.array([...ids], 'uuid')})`);
}

const Standstills = t.type({ kind: t.string, count: t.number });

/** Counts by kind. Undefined when no check completed in the last two minutes: an old figure would pass for a current one. */
export async function countStandstills(
  connection: Connection,
): Promise<readonly t.TypeOf<typeof Standstills>[] | undefined> {
  const isWatched = await connection.oneFirst(sql.type(row(t.type({ isWatched: t.boolean })))`
    SELECT COALESCE(looked_at > now() - interval '2 minutes', false) AS "isWatched" FROM campaign_watch`);
  if (!isWatched) return undefined;
  return connection.any(sql.type(row(Standstills))`
    SELECT kind, count(*)::int4 AS count FROM campaign_standstill
    WHERE kind IN ('without_workflow', 'stuck', 'failing') OR kind NOT IN ('preparing', 'waiting', 'queued') AND since < now() - interval '1 minute'
    GROUP BY kind`);
}
