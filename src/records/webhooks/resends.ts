/** Resends of what a webhook missed: new deliveries are made little by little, as fast as its receiver takes them. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { Conflict, notFound } from '../../domain/error.ts';
import { resendStates } from '../../domain/webhooks/delivery.ts';
import type { Connection, Database } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { longestMakingMs } from './deliveries.ts';
import { ofWebhook, waits } from './delivery-scheduler.ts';

const Resend = t.type({
  id: t.string,
  webhookId: t.string,
  since: timestamp,
  until: timestamp,
  state: oneOf(resendStates),
  total: nullable(t.number),
  seen: t.number,
  resent: t.number,
  createdAt: timestamp,
  endedAt: nullable(timestamp),
});
export type Resend = t.TypeOf<typeof Resend>;

const selection = sql.fragment`id, webhook_id AS "webhookId", since, until, state, total, seen, resent,
  created_at AS "createdAt", ended_at AS "endedAt"`;

/** More failed deliveries than this are not counted. */
const mostCounted = 100_000;

interface Span {
  readonly webhookId: string;
  readonly since: Date;
  readonly until: Date;
}

/** Failed deliveries of the span, by the partial index of their state. */
const failedIn = ({ webhookId, since, until }: Span) => sql.fragment`
  webhook_id BETWEEN ${webhookId} AND ${webhookId} AND state = 'failed'
  AND id >= ${firstIdAt(since)} AND id < ${firstIdAt(until, longestMakingMs)}
  AND created_at >= ${since.toISOString()} AND created_at < ${until.toISOString()}`;

/** Begins a resend. Throws NotFound, and Conflict if the webhook is not active or another resend of it is running. */
export async function insertResend(connection: Connection, workspaceId: number, span: Span): Promise<Resend> {
  const status = await connection.maybeOneFirst(sql.type(row(t.type({ status: t.string })))`
    SELECT status FROM webhook_configuration WHERE workspace_id = ${workspaceId} AND id = ${span.webhookId}`);
  if (status === null) return notFound('Webhook');
  if (status !== 'active') throw new Conflict(`The webhook is ${status}: set its status to active first`);
  const { since, until, webhookId } = span;
  const inserted = await connection.maybeOne(sql.type(row(Resend))`
    INSERT INTO webhook_resend (workspace_id, webhook_id, since, until, total)
    SELECT ${workspaceId}, ${webhookId}, ${since.toISOString()}, ${until.toISOString()},
      CASE WHEN failed.count <= ${mostCounted} THEN failed.count END
    FROM (SELECT count(*)::int4 AS count FROM (
      SELECT FROM webhook_delivery WHERE ${failedIn(span)} LIMIT ${mostCounted + 1}) AS counted) AS failed
    ON CONFLICT (webhook_id) WHERE state = 'running' DO NOTHING
    RETURNING ${selection}`);
  if (inserted === null) throw new Conflict('A resend of this webhook is running: wait for it, or cancel it');
  return inserted;
}

export async function getResend(
  connection: Connection,
  workspaceId: number,
  { webhookId, resendId }: { readonly webhookId: string; readonly resendId: string },
): Promise<Resend> {
  const found = await connection.maybeOne(sql.type(row(Resend))`
    SELECT ${selection} FROM webhook_resend
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId} AND id = ${resendId}`);
  return found ?? notFound('Resend');
}

/** Newest first. */
export const listResends = (
  connection: Connection,
  workspaceId: number,
  {
    webhookId,
    before,
    limit,
  }: { readonly webhookId: string; readonly before: string | undefined; readonly limit: number },
): Promise<readonly Resend[]> =>
  connection.any(sql.type(row(Resend))`
    SELECT ${selection} FROM webhook_resend
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId}
      AND (${before ?? null}::uuid IS NULL OR id < ${before ?? null}::uuid)
    ORDER BY id DESC LIMIT ${limit}`);

/** Makes no further deliveries; those that exist are sent. One that has ended stays as it is. */
export async function cancelResend(
  connection: Connection,
  workspaceId: number,
  { webhookId, resendId }: { readonly webhookId: string; readonly resendId: string },
): Promise<Resend> {
  await connection.query(sql.type(nothing)`
    UPDATE webhook_resend SET state = 'cancelled', ended_at = now()
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId} AND id = ${resendId} AND state = 'running'`);
  return getResend(connection, workspaceId, { webhookId, resendId });
}

const Id = row(t.type({ id: t.string }));

/** Returns the ids of the running resends, and cancels those of deleted webhooks. */
export const listRunningResends = (connection: Connection): Promise<readonly string[]> =>
  connection.anyFirst(sql.type(Id)`
    WITH orphan AS (
      UPDATE webhook_resend SET state = 'cancelled', ended_at = now()
      WHERE state = 'running' AND NOT EXISTS (SELECT FROM webhook_configuration WHERE webhook_configuration.id = webhook_id)
    )
    SELECT id FROM webhook_resend
    WHERE state = 'running' AND EXISTS (SELECT FROM webhook_configuration WHERE webhook_configuration.id = webhook_id)
    ORDER BY id LIMIT 1000`);

/** Deliveries of a webhook that wait or are under way at a time, so that new events do not queue behind the resend. */
const mostOpen = 100;

const Step = row(
  t.type({
    workspaceId: t.number,
    webhookId: t.string,
    since: timestamp,
    until: timestamp,
    afterId: nullable(t.string),
    failing: t.boolean,
    open: t.number,
  }),
);
const Failed = row(t.type({ id: t.string, eventId: t.string }));
const Count = row(t.type({ count: t.number }));

/**
 * Makes the next deliveries of a resend, as many as its webhook has room for: `mostOpen` at a time, one if the last attempt
 * failed, none while the webhook is not active. The place is stored in the same transaction, so that no event is resent
 * twice. Returns true if more can be made at once.
 */
export function continueResend(database: Database, resendId: string): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const step = await transaction.maybeOne(sql.type(Step)`
      SELECT webhook_resend.workspace_id AS "workspaceId", webhook_id AS "webhookId", since, until, after_id AS "afterId",
        webhook.consecutive_failures > 0 AS failing, (
          SELECT count(*)::int4 FROM (
            (SELECT FROM webhook_delivery WHERE ${ofWebhook(sql.fragment`webhook.id`)} AND ${waits(undefined)} LIMIT ${mostOpen})
            UNION ALL
            (SELECT FROM webhook_delivery WHERE ${ofWebhook(sql.fragment`webhook.id`)}
               AND state IN ('pending', 'sending') AND dispatched_at IS NOT NULL LIMIT ${mostOpen})) AS earliest) AS open
      FROM webhook_resend JOIN webhook_configuration AS webhook ON webhook.id = webhook_id AND webhook.status = 'active'
      WHERE webhook_resend.id = ${resendId} AND state = 'running'
      FOR NO KEY UPDATE OF webhook_resend SKIP LOCKED`);
    const room = step === null ? 0 : (step.failing ? 1 : mostOpen) - step.open;
    if (step === null || room <= 0) return false;
    const { workspaceId, webhookId, afterId } = step;
    const failed = await transaction.any(sql.type(Failed)`
      SELECT id, event_id AS "eventId" FROM webhook_delivery
      WHERE ${failedIn(step)} AND (${afterId}::uuid IS NULL OR id > ${afterId}::uuid)
      ORDER BY webhook_id DESC, id LIMIT ${room}`);
    const last = failed.at(-1);
    const events = [...new Set(failed.map(({ eventId }) => eventId))].toSorted();
    const resent =
      last === undefined
        ? 0
        : await transaction.oneFirst(sql.type(Count)`
      WITH made AS (
        INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause)
        SELECT ${workspaceId}, ${webhookId}, event.id, event.key, 'resend' FROM event
        WHERE event.id = ANY (${sql.array(events, 'uuid')}) AND event.id BETWEEN ${events[0] ?? null}::uuid AND ${events.at(-1) ?? null}::uuid
          AND NOT EXISTS (
            SELECT FROM webhook_delivery AS other
            WHERE other.event_id = event.id AND (other.webhook_id = ${webhookId}) IS TRUE
              AND (other.state <> 'failed' OR other.id > ${resendId}) OFFSET 0)
        ORDER BY event.id
        RETURNING id
      )
      SELECT count(*)::int4 AS count FROM made`);
    const isOver = failed.length < room;
    await transaction.query(sql.type(nothing)`
      UPDATE webhook_resend SET after_id = COALESCE(${last?.id ?? null}::uuid, after_id), seen = seen + ${failed.length},
        resent = resent + ${resent}, state = ${isOver ? 'completed' : 'running'}, ended_at = ${isOver ? sql.fragment`now()` : null}
      WHERE id = ${resendId}`);
    return !isOver && resent < room;
  });
}

/** Removes up to `limit` resends that ended before the given time; returns how many. */
export async function removeResends(connection: Connection, before: Date, limit: number): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM webhook_resend WHERE id = ANY (ARRAY(
      SELECT id FROM webhook_resend WHERE id < ${firstIdAt(before)} AND state <> 'running' ORDER BY id LIMIT ${limit}))`);
  return rowCount;
}
