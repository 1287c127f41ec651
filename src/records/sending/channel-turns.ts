/**
 * Turns of a channel. One step sends on the first place of a channel; three more are for campaigns that a quarter of a second
 * sends to their end. A place is a lease that its step renews, so that a dead process loses it. Who has had its turn calls the
 * campaign that has taken least, counting what it would take in one turn, and sends until that one takes the place.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

const places = 4;
const leaseMs = 5_000;
export const renewEveryMs = 1_500;
/** Who was called and has not come by then lets anybody take the place who asks. */
const calledForMs = 3_000;
/** What a turn sends beyond so many seconds it sent because nobody came, and nobody is owed for that. */
const owedSeconds = 2;

/** All that wait ask again so often a second together, and nobody more often than every four seconds: ten events of history each. */
const askingPerSecond = 2;
const shortestAskMs = 4_000;

const after = (ms: number) => sql.fragment`clock_timestamp() + make_interval(secs => ${ms / 1_000}::float8)`;

/** When a waiting campaign asks again if no signal reaches it; grows with the waiters of its channel. */
const askAgainMs = (channelId: FragmentSqlToken) => sql.fragment`greatest(${shortestAskMs}::float8,
  (SELECT count(*) FROM channel_queue AS waiter WHERE waiter.channel_id = ${channelId} AND waiter.waiting)
    * 1000.0 / ${askingPerSecond})::float8`;

/** What is left to one of these is over in a quarter of a second. Of campaign_counter and channel. */
const isSmall = sql.fragment`(pending <= greatest(2, messages_per_second / 4))`;

/** No lease is longer: a later end was written before the server's clock was set back. */
const longestLeaseMs = 5 * 60_000;

/** The lease has not expired. */
const isLeased = (turn: FragmentSqlToken) =>
  sql.fragment`(${turn}.until > clock_timestamp() AND ${turn}.until <= ${after(longestLeaseMs)})`;

/** The place may be taken by the campaign. */
const isFree = (turn: FragmentSqlToken, campaignId: string) => sql.fragment`(
  NOT ${isLeased(turn)}
  OR ${turn}.called = ${campaignId} OR ${callIsOver(sql.fragment`${turn}.called_at`)}
  OR (${turn}.step_id IS NULL AND ${turn}.campaign_id = ${campaignId}))`;

/** The called campaign did not come in time, or was called before the server's clock was set back. */
const callIsOver = (calledAt: FragmentSqlToken) =>
  sql.fragment`(${calledAt} <= ${after(-calledForMs)} OR ${calledAt} > ${after(calledForMs)})`;

/** Another step of the campaign sends, and has not called this one. */
const sends = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`EXISTS (
  SELECT FROM channel_turn WHERE channel_turn.channel_id = ${channelId} AND channel_turn.campaign_id = ${campaignId}
    AND step_id IS NOT NULL AND ${isLeased(sql.fragment`channel_turn`)} AND called IS DISTINCT FROM ${campaignId}::uuid)`;

export interface TurnRequest {
  readonly campaignId: string;
  /** Of the step. */
  readonly stepId: string;
}

const Turn = t.type({
  /** Null: no place is free. */
  place: nullable(t.number),
  ask_again_ms: t.number,
  /** A place was free: with `place` null another step was quicker. */
  free: t.boolean,
});
export type Turn = t.TypeOf<typeof Turn>;

/** Null for a campaign that does not run. Without a place it is queued, unless it only `tries`. */
export async function takeTurn(
  connection: Connection,
  request: TurnRequest,
  tries = false,
): Promise<Turn | null> {
  for (;;) {
    const turn = await tryTakeTurn(connection, request, tries);
    if (turn === null || turn.place !== null || !turn.free) return turn;
  }
}

function tryTakeTurn(
  connection: Connection,
  { campaignId, stepId }: TurnRequest,
  tries: boolean,
): Promise<Turn | null> {
  return connection.maybeOne(sql.type(row(Turn))`
    WITH me AS (
      SELECT campaign.id, channel_id, ${isSmall} AS small,
        ${sends(sql.fragment`campaign.channel_id`, campaignId)} AS sends
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id JOIN channel ON channel.id = channel_id
      WHERE campaign.id = ${campaignId} AND campaign.status = 'RUNNING'
    ), free AS (
      SELECT place FROM me CROSS JOIN generate_series(1, CASE WHEN small THEN ${places} ELSE 1 END) AS place
      LEFT JOIN channel_turn USING (channel_id, place)
      WHERE NOT sends AND (until IS NULL OR ${isFree(sql.fragment`channel_turn`, campaignId)})
      -- The one that it was called to.
      ORDER BY COALESCE(called, CASE WHEN step_id IS NULL THEN campaign_id END) = id DESC NULLS LAST, place DESC LIMIT 1
    ), taken AS (
      INSERT INTO channel_turn AS present (channel_id, place, campaign_id, step_id, until)
      SELECT channel_id, place, id, ${stepId}::uuid, ${after(leaseMs)} FROM me CROSS JOIN free
      ON CONFLICT (channel_id, place) DO UPDATE SET campaign_id = excluded.campaign_id, step_id = excluded.step_id,
        until = excluded.until, called = NULL, called_at = NULL
        WHERE ${isFree(sql.fragment`present`, campaignId)}
      RETURNING place
    ), queued AS (
      INSERT INTO channel_queue (campaign_id, channel_id, used, waiting)
      SELECT id, channel_id, ${joinsAt(sql.fragment`me.channel_id`, campaignId)}, true
      FROM me WHERE NOT ${tries} AND NOT EXISTS (SELECT FROM taken)
      ON CONFLICT (campaign_id) DO UPDATE SET waiting = true, asked_at = now(), used = greatest(channel_queue.used, excluded.used)
        WHERE NOT channel_queue.waiting
    ), called AS (
      UPDATE channel_queue SET waiting = false FROM taken WHERE campaign_id = ${campaignId} AND waiting
    )
    SELECT (SELECT place FROM taken) AS place, EXISTS (SELECT FROM free) AS free,
      ${askAgainMs(sql.fragment`me.channel_id`)} AS ask_again_ms FROM me`);
}

/**
 * Virtual time at which a campaign joins the wait queue: that of the campaign furthest behind among the others that wait or
 * hold a slot. A campaign that has nothing to send collects no credit, and holds nobody's virtual time back.
 */
const joinsAt = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`COALESCE((
  SELECT min(other.used) FROM channel_queue AS other
  JOIN campaign AS running ON running.id = other.campaign_id AND running.status = 'RUNNING'
  WHERE other.channel_id = ${channelId} AND other.campaign_id <> ${campaignId} AND (other.waiting OR EXISTS (
    SELECT FROM channel_turn AS turn WHERE turn.channel_id = other.channel_id
      AND (turn.campaign_id = other.campaign_id OR turn.called = other.campaign_id) AND ${isLeased(sql.fragment`turn`)}))), 0)`;

/** Puts a campaign back whose signal failed, so that it is called again. */
export async function requeue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel_queue SET waiting = true WHERE campaign_id = ${campaignId}`);
}

/** The place of a step. */
export interface HeldTurn extends TurnRequest {
  readonly channelId: string;
  readonly place: number;
}

const mine = ({ channelId, place, stepId }: HeldTurn) => sql.fragment`
  channel_turn.channel_id = ${channelId} AND channel_turn.place = ${place} AND channel_turn.step_id = ${stepId}`;

/** False when the turn was lost: another step sends in this place. */
export async function renewTurn(connection: Connection, turn: HeldTurn): Promise<boolean> {
  const renewed = await connection.maybeOne(sql.type(row(t.type({ place: t.number })))`
    UPDATE channel_turn SET until = ${after(leaseMs)} WHERE ${mine(turn)} RETURNING place`);
  return renewed !== null;
}

const Next = row(t.type({ next: nullable(t.string) }));

/** Who comes next, and is called no more; nobody while one who was called may still come. `but`: not this campaign. */
const next = (turn: HeldTurn, but: string | null = null) => sql.fragment`
  next AS (
    SELECT channel_queue.campaign_id FROM channel_turn
    JOIN channel_queue USING (channel_id)
    JOIN channel ON channel.id = channel_queue.channel_id
    JOIN campaign_counter ON campaign_counter.campaign_id = channel_queue.campaign_id
    JOIN campaign ON campaign.id = channel_queue.campaign_id AND campaign.status = 'RUNNING'
    WHERE ${mine(turn)} AND COALESCE(${callIsOver(sql.fragment`called_at`)}, true)
      AND waiting AND campaign.id IS DISTINCT FROM ${but}::uuid AND ${isSmall} = (${turn.place} > 1)
    ORDER BY used + least(pending, messages_per_second), asked_at, campaign.id LIMIT 1
    FOR UPDATE OF channel_queue SKIP LOCKED
  ), told AS (
    UPDATE channel_queue SET waiting = false FROM next WHERE channel_queue.campaign_id = next.campaign_id
  )`;

/** Calls a campaign to the place, on which the step sends until then: the next one, or with `again` its own. Returns whom to tell. */
export async function callNext(
  connection: Connection,
  turn: HeldTurn,
  again: boolean,
): Promise<string | null> {
  return connection.maybeOneFirst(sql.type(Next)`
    WITH ${next(turn, turn.campaignId)}
    UPDATE channel_turn SET called_at = clock_timestamp(),
      called = COALESCE((SELECT campaign_id FROM next), ${again ? turn.campaignId : null}::uuid)
    WHERE ${mine(turn)} AND COALESCE(${callIsOver(sql.fragment`called_at`)}, true) AND (${again} OR EXISTS (SELECT FROM next))
    RETURNING called AS next`);
}

/**
 * Leaves the place: to whoever is called, or for `keepMs` to nobody else, because the channel lets nobody send. Returns whom
 * to tell.
 */
export async function leaveTurn(
  connection: Connection,
  turn: HeldTurn,
  keepMs: number,
): Promise<string | null> {
  return connection.maybeOneFirst(sql.type(Next)`
    WITH ${next(turn)}, left_to AS (
      SELECT CASE WHEN ${keepMs}::float8 = 0 THEN COALESCE((SELECT campaign_id FROM next), NULLIF(called, campaign_id)) END AS id
      FROM channel_turn WHERE ${mine(turn)}
    )
    UPDATE channel_turn SET step_id = NULL, called = NULL, called_at = NULL, campaign_id = COALESCE(left_to.id, campaign_id),
      until = CASE WHEN left_to.id IS NULL AND ${keepMs}::float8 = 0 THEN clock_timestamp() ELSE ${after(leaseMs + keepMs)} END
    FROM left_to WHERE ${mine(turn)}
    RETURNING (SELECT campaign_id FROM next WHERE campaign_id = left_to.id) AS next`);
}

export interface EndedTurn {
  readonly tokensUsed: number;
  /** The median time of an answer. */
  readonly answerMs: number;
  /** The campaign has nobody left. */
  readonly drained: boolean;
  /** It has somebody to send to at once, and waits for its next turn. */
  readonly waits: boolean;
}

/** Returns when the campaign asks again, if nobody calls it. */
export async function noteTurn(
  connection: Connection,
  { campaignId, channelId }: HeldTurn,
  { tokensUsed, answerMs, drained, waits }: EndedTurn,
): Promise<number> {
  const asked = await connection.one(sql.type(row(t.type({ ask_again_ms: t.number })))`
    WITH gone AS (
      DELETE FROM channel_queue WHERE campaign_id = ${campaignId} AND ${drained}
    ), turn AS (
      SELECT id, least(${tokensUsed}::int, messages_per_second * ${owedSeconds}::int) AS used FROM channel WHERE id = ${channelId}
    ), queued AS (
      INSERT INTO channel_queue AS present (campaign_id, channel_id, used, waiting)
      SELECT ${campaignId}, turn.id, ${joinsAt(sql.fragment`turn.id`, campaignId)} + turn.used,
        ${waits} AND NOT ${sends(sql.fragment`turn.id`, campaignId)}
      FROM turn JOIN campaign ON campaign.id = ${campaignId} AND campaign.status = 'RUNNING' WHERE NOT ${drained}
      ON CONFLICT (campaign_id) DO UPDATE SET used = present.used + (SELECT used FROM turn), waiting = excluded.waiting, asked_at = now()
    ), learnt AS (
      UPDATE channel_rate SET answer_ms = ${answerMs}::float8
      WHERE channel_id = ${channelId} AND abs(answer_ms - ${answerMs}::float8) > answer_ms / 10
    )
    SELECT ${askAgainMs(sql.fragment`${channelId}::uuid`)} AS ask_again_ms`);
  return asked.ask_again_ms;
}

/** The campaign does not run any more. */
export async function leaveQueue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM channel_queue WHERE campaign_id = ${campaignId}`);
}
