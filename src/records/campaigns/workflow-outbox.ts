/** Outbox of messages to campaign workflows: written in the transaction of their cause, deleted once delivered. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { callContext } from '../../concurrency/call-context.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

type OutboxMessageKind = 'start' | 'refresh';

export async function enqueueRefresh(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`${outboxMessage('refresh', campaignId)}`);
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

/** INSERT of a message, also usable within the statement that creates the campaign. */
export const outboxMessage = (
  kind: OutboxMessageKind,
  campaignId: string | FragmentSqlToken,
): FragmentSqlToken =>
  sql.fragment`
    INSERT INTO workflow_outbox (campaign_id, kind, request_id)
    VALUES (${campaignId}, ${kind}, ${callContext().requestId ?? null})`;

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
 * dated more than a minute ahead predates a clock rollback of Postgres and counts as old.
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
    WHERE ${condition}
    ORDER BY workflow_outbox.id
    LIMIT 500`);
}

export async function deleteOutboxMessages(connection: Connection, ids: readonly bigint[]): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM workflow_outbox WHERE id = ANY (${sql.array(ids, 'int8')})`);
}
