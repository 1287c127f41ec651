/**
 * Turns of a channel: at most four steps of sending run at a time over all its campaigns and all workers. A place is a lease
 * that its step renews, so that a dead process loses it. Who ends its turn hands its place to the campaign that has taken
 * least, counting what it would take in one turn: a small one passes a hundred large ones.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

const places = 4;
const leaseMs = 5_000;
export const renewEveryMs = 1_500;

/** All that wait ask again so often a second together, and nobody more often than every two seconds. */
const askingPerSecond = 5;
const shortestAskMs = 2_000;

const lease = (ms: number) => sql.fragment`clock_timestamp() + make_interval(secs => ${ms / 1_000}::float8)`;

/** When a campaign without a turn asks again; who ends its turn calls it long before. */
const askAgainMs = sql.fragment`greatest(${shortestAskMs}::float8,
  (SELECT count(*) FROM channel_queue WHERE waiting) * 1000.0 / ${askingPerSecond})::float8`;

export interface TurnRequest {
  readonly campaignId: string;
  /** Of the step. */
  readonly stepId: string;
}

const Turn = t.type({
  /** Null: no place is free. */
  place: nullable(t.number),
  /** Places taken, its own included. */
  running: t.number,
  ask_again_ms: t.number,
  /** A place was free: with `place` null another step was quicker. */
  free: t.boolean,
});
export type Turn = t.TypeOf<typeof Turn>;

/**
 * Null for a campaign that does not run. A second place of a campaign is granted only where nobody waits for one; without a
 * place the campaign is queued.
 */
export async function takeTurn(connection: Connection, request: TurnRequest): Promise<Turn | null> {
  for (;;) {
    const turn = await tryTakeTurn(connection, request);
    if (turn === null || turn.place !== null || !turn.free) return turn;
  }
}

function tryTakeTurn(connection: Connection, { campaignId, stepId }: TurnRequest): Promise<Turn | null> {
  return connection.maybeOne(sql.type(row(Turn))`
    WITH me AS (
      SELECT id, channel_id FROM campaign WHERE id = ${campaignId} AND status = 'RUNNING'
    ), occupied AS (
      SELECT place, channel_turn.campaign_id = me.id AS own, step_id IS NULL AS kept
      FROM me JOIN channel_turn USING (channel_id) WHERE until > clock_timestamp()
    ), free AS (
      SELECT place FROM generate_series(1, ${places}) AS place
      WHERE NOT EXISTS (SELECT FROM occupied WHERE occupied.place = place.place AND NOT (own AND kept))
        AND CASE (SELECT count(*) FROM occupied WHERE own AND NOT kept)
          WHEN 0 THEN true
          WHEN 1 THEN NOT EXISTS (SELECT FROM me JOIN channel_queue USING (channel_id) WHERE waiting)
          ELSE false END
      ORDER BY EXISTS (SELECT FROM occupied WHERE occupied.place = place.place) DESC, random() LIMIT 1
    ), taken AS (
      INSERT INTO channel_turn AS present (channel_id, place, campaign_id, step_id, until)
      SELECT me.channel_id, free.place, me.id, ${stepId}::uuid, ${lease(leaseMs)} FROM me CROSS JOIN free
      ON CONFLICT (channel_id, place) DO UPDATE
        SET campaign_id = excluded.campaign_id, step_id = excluded.step_id, until = excluded.until
        WHERE present.until <= clock_timestamp()
          OR (present.campaign_id = excluded.campaign_id AND present.step_id IS NULL)
      RETURNING place
    ), queued AS (
      INSERT INTO channel_queue AS present (campaign_id, channel_id, used, waiting)
      SELECT me.id, me.channel_id,
        COALESCE((SELECT min(used) FROM channel_queue AS other WHERE other.channel_id = me.channel_id), 0),
        NOT EXISTS (SELECT FROM taken) AND NOT EXISTS (SELECT FROM occupied WHERE own AND NOT kept)
      FROM me
      ON CONFLICT (campaign_id) DO UPDATE SET waiting = excluded.waiting, asked_at = now()
        WHERE present.waiting <> excluded.waiting
    )
    SELECT (SELECT place FROM taken) AS place, EXISTS (SELECT FROM free) AS free, ${askAgainMs} AS ask_again_ms,
      (SELECT count(*) FROM occupied WHERE NOT (own AND kept))::int4 + (SELECT count(*) FROM taken)::int4 AS running
    FROM me`);
}

/** The place of a step. */
export interface HeldTurn extends TurnRequest {
  readonly channelId: string;
  readonly place: number;
}

const mine = ({ channelId, place, stepId }: HeldTurn) => sql.fragment`
  channel_turn.channel_id = ${channelId} AND channel_turn.place = ${place} AND channel_turn.step_id = ${stepId}`;

/** False when the place was lost: the step had stood still for longer than its lease. */
export async function renewTurn(connection: Connection, turn: HeldTurn): Promise<boolean> {
  const renewed = await connection.maybeOne(sql.type(row(t.type({ place: t.number })))`
    UPDATE channel_turn SET until = ${lease(leaseMs)} WHERE ${mine(turn)} RETURNING place`);
  return renewed !== null;
}

export interface EndedTurn {
  readonly tokensUsed: number;
  /** The median time of an answer. */
  readonly answerMs: number;
  /** The campaign has somebody to send to at once. */
  readonly goesOn: boolean;
  /** The channel lets nobody send so long: the place is kept for the campaign, since nobody else could use it. */
  readonly keepMs: number;
}

const Ended = t.type({
  /** The campaign that has the place now, and must be told. */
  next: nullable(t.string),
  /** Nobody waits: the campaign may send in two steps side by side. */
  room: t.boolean,
  /** Null: the campaign may ask for its next turn at once. */
  ask_again_ms: nullable(t.number),
});

export function endTurn(
  connection: Connection,
  turn: HeldTurn,
  { tokensUsed, answerMs, goesOn, keepMs }: EndedTurn,
): Promise<t.TypeOf<typeof Ended>> {
  const { campaignId, channelId } = turn;
  return connection.one(sql.type(row(Ended))`
    WITH next AS (
      SELECT channel_queue.campaign_id FROM channel_queue
      JOIN campaign_counter USING (campaign_id)
      JOIN channel ON channel.id = channel_queue.channel_id
      WHERE channel_queue.channel_id = ${channelId} AND waiting AND ${keepMs}::float8 = 0
        AND EXISTS (SELECT FROM channel_turn WHERE ${mine(turn)})
      ORDER BY used + least(pending, messages_per_second), asked_at, campaign_id LIMIT 1
      FOR UPDATE OF channel_queue SKIP LOCKED
    ), handed AS (
      UPDATE channel_turn SET step_id = NULL, campaign_id = COALESCE((SELECT campaign_id FROM next), ${campaignId}::uuid),
        until = CASE WHEN EXISTS (SELECT FROM next) THEN ${lease(leaseMs)}
          WHEN ${keepMs}::float8 > 0 THEN ${lease(leaseMs + keepMs)}
          ELSE clock_timestamp() END
      WHERE ${mine(turn)}
    ), called AS (
      UPDATE channel_queue SET waiting = false FROM next WHERE channel_queue.campaign_id = next.campaign_id
    ), queued AS (
      UPDATE channel_queue SET used = used + ${tokensUsed}, asked_at = now(),
        waiting = ${goesOn}::boolean AND EXISTS (SELECT FROM next) AND NOT EXISTS (SELECT FROM channel_turn
          WHERE channel_turn.channel_id = ${channelId} AND channel_turn.campaign_id = ${campaignId}
            AND step_id <> ${turn.stepId} AND until > clock_timestamp())
      WHERE campaign_id = ${campaignId}
    ), learnt AS (
      UPDATE channel_rate SET answer_ms = ${answerMs}::float8
      WHERE channel_id = ${channelId} AND abs(answer_ms - ${answerMs}::float8) > answer_ms / 10
    )
    SELECT (SELECT campaign_id FROM next) AS next,
      NOT EXISTS (SELECT FROM channel_queue WHERE channel_id = ${channelId} AND waiting) AS room,
      CASE WHEN EXISTS (SELECT FROM next) THEN ${askAgainMs} END AS ask_again_ms`);
}

/** The campaign has nobody left, or does not run any more. */
export async function leaveQueue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(row(t.type({})))`
    DELETE FROM channel_queue WHERE campaign_id = ${campaignId}`);
}

/** Campaigns whose places are kept until the channel goes on. */
export async function listKeptTurns(connection: Connection, channelId: string): Promise<readonly string[]> {
  const kept = await connection.any(sql.type(row(t.type({ campaign_id: t.string })))`
    SELECT DISTINCT campaign_id FROM channel_turn
    WHERE channel_id = ${channelId} AND step_id IS NULL AND until > clock_timestamp()`);
  return kept.map(({ campaign_id: campaignId }) => campaignId);
}
