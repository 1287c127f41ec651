/**
 * Outbox of messages to campaign workflows: written in the transaction of their cause. A refresh is deleted once delivered, a
 * start once a worker begins with the campaign.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { callContext } from '../../concurrency/call-context.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

/**
 * Campaigns of a workspace that wait in Temporal or for a slot of a worker; the others wait here. Temporal's own fairness ends
 * where a worker takes the task: there each of them would occupy one of the worker's activities, or be turned away and tried
 * again seconds later.
 */
export const maxStarting = 8;
/** The same limit for all workspaces together; starts of campaigns right after their creation may exceed it. */
const maxStartingInAll = 64;
/** A start that no worker has begun with by then is repeated, which does nothing to a workflow that runs. */
const startAgainSeconds = 5;

export async function enqueueRefresh(connection: Connection, campaignId: string): Promise<void> {
  await enqueueRefreshes(connection, [campaignId]);
}

export async function enqueueRefreshes(
  connection: Connection,
  campaignIds: readonly string[],
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO workflow_outbox (campaign_id, kind, request_id)
    SELECT id, 'refresh', ${callContext().requestId ?? null}
    FROM unnest(${sql.array([...campaignIds], 'uuid')}) AS id`);
}

/** INSERT of a start, for the statement that creates the campaign. `isStarted`: the caller starts the workflow itself. */
export const outboxStart = (
  campaignId: FragmentSqlToken,
  workspaceId: number,
  isStarted: boolean,
): FragmentSqlToken =>
  sql.fragment`
    INSERT INTO workflow_outbox (campaign_id, kind, workspace_id, started_at, request_id)
    VALUES (${campaignId}, 'start', ${workspaceId}, CASE WHEN ${isStarted} THEN now() END,
      ${callContext().requestId ?? null})`;

const OutboxRow = t.type({
  id: t.bigint,
  kind: t.union([t.literal('start'), t.literal('refresh')]),
  campaign_id: t.string,
  workspace_id: t.number,
  name: t.string,
  /** Id of the API request that caused the message. */
  request_id: nullable(t.string),
});
export type OutboxMessage = t.TypeOf<typeof OutboxRow>;

/**
 * Lists messages, oldest first: those of one campaign, or those after `afterId` that are older than `olderThanMs`. A message
 * dated more than a minute ahead predates a clock rollback of Postgres and counts as old. Starts are not listed: workspaces
 * make them in turns.
 */
export async function listOutboxMessages(
  connection: Connection,
  filter: { readonly campaignId: string } | { readonly olderThanMs: number; readonly afterId: bigint },
): Promise<readonly OutboxMessage[]> {
  const condition =
    'campaignId' in filter
      ? sql.fragment`workflow_outbox.campaign_id = ${filter.campaignId}`
      : sql.fragment`workflow_outbox.id > ${filter.afterId}
          AND (workflow_outbox.created_at < now() - make_interval(secs => ${filter.olderThanMs / 1000})
            OR workflow_outbox.created_at > now() + interval '1 minute')`;
  return connection.any(sql.type(row(OutboxRow))`
    SELECT workflow_outbox.id, workflow_outbox.kind, campaign.id AS campaign_id, campaign.workspace_id, campaign.name,
      workflow_outbox.request_id
    FROM workflow_outbox JOIN campaign ON campaign.id = workflow_outbox.campaign_id
    WHERE ${condition} AND workflow_outbox.workspace_id IS NULL
    ORDER BY workflow_outbox.id
    LIMIT 500`);
}

const StartRow = t.type({
  id: t.bigint,
  campaign_id: t.string,
  workspace_id: t.number,
  name: t.string,
  request_id: nullable(t.string),
  /** True if the campaign no longer needs a worker to prepare it, so its start is finished. */
  is_prepared: t.boolean,
});
export type StartInTurn = t.TypeOf<typeof StartRow>;

/**
 * Takes the starts whose turn it is and marks them as started. The oldest `maxStarting` of each workspace may be with Temporal;
 * all first ones come before all second ones.
 */
export async function takeStarts(connection: Connection): Promise<readonly StartInTurn[]> {
  const isStart = sql.fragment`kind = 'start' AND workspace_id IS NOT NULL`;
  const next = (more: FragmentSqlToken) => sql.fragment`
    SELECT workspace_id FROM workflow_outbox WHERE ${isStart} ${more} ORDER BY workspace_id LIMIT 1`;
  return connection.any(sql.type(row(StartRow))`
    WITH RECURSIVE party (workspace_id) AS (
      (${next(sql.fragment``)})
      UNION ALL
      SELECT (${next(sql.fragment`AND workspace_id > party.workspace_id`)}) FROM party WHERE party.workspace_id IS NOT NULL
    ), turn AS MATERIALIZED (
      SELECT queued.id, place FROM party CROSS JOIN LATERAL (
        SELECT id, started_at, row_number() OVER (ORDER BY created_at, id) AS place FROM (
          SELECT id, started_at, created_at FROM workflow_outbox
          WHERE ${isStart} AND workspace_id = party.workspace_id
          ORDER BY created_at, id LIMIT ${maxStarting}) AS first) AS queued
      WHERE party.workspace_id IS NOT NULL
        AND (started_at IS NULL OR started_at < now() - make_interval(secs => ${startAgainSeconds})
          OR started_at > now() + interval '1 minute')
      ORDER BY place, queued.id
      LIMIT greatest(1, ${maxStartingInAll} - (SELECT count(*) FROM (
        SELECT FROM workflow_outbox WHERE started_at > now() - make_interval(secs => ${startAgainSeconds})
        ORDER BY started_at LIMIT ${maxStartingInAll}) AS recent))
    ), taken AS MATERIALIZED (
      SELECT id FROM workflow_outbox WHERE id = ANY (ARRAY(SELECT id FROM turn)) FOR NO KEY UPDATE SKIP LOCKED
    ), started AS (
      UPDATE workflow_outbox SET started_at = now() WHERE id = ANY (ARRAY(SELECT id FROM taken))
      RETURNING id, campaign_id, request_id
    )
    SELECT started.id, campaign_id, campaign.workspace_id, campaign.name, request_id,
      campaign.preparation_status <> 'PREPARING' AS is_prepared
    FROM started JOIN turn ON turn.id = started.id JOIN campaign ON campaign.id = campaign_id
    ORDER BY place, started.id`);
}

/** True when the campaign's workflow is still to be started, in its workspace's turn. */
export async function hasStart(connection: Connection, campaignId: string): Promise<boolean> {
  return connection.exists(sql.type(nothing)`
    SELECT FROM workflow_outbox WHERE campaign_id = ${campaignId} AND workspace_id IS NOT NULL`);
}

/** True when starts wait for their turn. */
export async function hasWaitingStarts(connection: Connection): Promise<boolean> {
  return connection.exists(sql.type(nothing)`
    SELECT FROM workflow_outbox WHERE workspace_id IS NOT NULL AND started_at IS NULL`);
}

/** A worker has a slot for the campaign: the next start of the workspace has its turn. */
export async function deleteStart(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM workflow_outbox WHERE campaign_id = ${campaignId} AND kind = 'start'`);
}

export async function deleteOutboxMessages(connection: Connection, ids: readonly bigint[]): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM workflow_outbox WHERE id = ANY (${sql.array(ids, 'int8')})`);
}
