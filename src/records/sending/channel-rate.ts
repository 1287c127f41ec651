/**
 * The rate schedule of a channel (GCRA), shared by campaigns, single sends and all worker processes.
 *
 * `next_at` is the theoretical arrival time on Postgres' clock: when the next free token falls due. Taking n tokens moves it by
 * n ÷ rate; idle time is not saved up. A claim takes the tokens of its batch, normally 40 ms of them, which is how long a
 * single send then waits for its own.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/**
 * A message may leave 20 ms after its token fell due. Later ones move the schedule once their lag adds up to `reportedLagMs`
 * (5 ms). At 97.5 % of the limit, no second then exceeds (1 + 0.020 + 0.005) × 0.975 < 1 of it.
 */
export const tokenToleranceMs = 20;
export const reportedLagMs = 5;
const pace = 0.975;

/** After the provider has throttled a channel, it regains 2 % of its full rate per second. */
const recoveryPerSecond = 0.02;
const lowestFactor = 0.02;

/** Share of the full rate that the provider's throttling leaves, 0 to 1, of a `channel_rate` row. */
export const effectiveFactor = sql.fragment`
  least(1, channel_rate.factor + greatest(0,
    extract(epoch FROM clock_timestamp() - channel_rate.factor_changed_at)) * ${recoveryPerSecond}::float8)`;

/** Messages a second now, of a `channel_rate` row joined with its `channel`. */
export const ratePerSecond = sql.fragment`
  (channel.messages_per_second * ${pace}::float8 * ${effectiveFactor})`;

/** 1 min: a measurement is older only when no step sends any more. */
const isPaceRecent = sql.fragment`channel_rate.pace_measured_at > now() - interval '1 minute'`;

/** Share of the rate that the provider's answers let through, 0 to 1, of a `channel_rate` row; 0 while the circuit is open. */
export const paceShare = sql.fragment`
  CASE WHEN channel_rate.times_opened > 0 THEN 0::float8 WHEN ${isPaceRecent} THEN COALESCE(channel_rate.pace_share, 1) ELSE 1::float8 END`;

/** Below 0.8 of its rate a channel counts as slowed down by the provider. */
export const slowBelow = 0.8;

/** Whether slow responses of the provider slow down the channel of a `channel_rate` row. */
export const isSlow = sql.fragment`(channel_rate.pace_share < ${slowBelow}::float8 AND ${isPaceRecent})`;

/** The instant, or NULL if it lies further ahead than any process writes: it then predates a clock rollback. */
const unlessBeyond = (instant: FragmentSqlToken, minutes: number) => sql.fragment`
  CASE WHEN ${instant} < clock_timestamp() + make_interval(mins => ${minutes}::int) THEN ${instant} END`;

/** End of the silence that the provider asked for: at most an hour (`provider-answer.ts`). */
export const silentUntil = unlessBeyond(sql.fragment`channel_rate.silent_until`, 65);

/** End of a cool-down of at most a minute, or of the wait for the probe's answer (PROVIDER_TIMEOUT_MS, at most 10 minutes). */
export const openUntil = unlessBeyond(sql.fragment`channel_rate.open_until`, 15);

/** When the next token falls due; claims take tokens less than 30 s ahead. */
export const scheduledAt = sql.fragment`
  greatest(${silentUntil}, CASE
    WHEN channel_rate.next_at < clock_timestamp() + interval '30 seconds' THEN channel_rate.next_at END)`;

const SingleToken = t.type({ waitMs: t.number, isFailing: t.boolean });
export type SingleToken = t.TypeOf<typeof SingleToken>;

/**
 * Takes one token for a single send, ahead of every campaign. Returns the milliseconds until it falls due; if that is more
 * than `longestWaitMs`, the token is not taken. `isFailing`: the latest responses on the channel were failures.
 */
export async function takeSingleToken(
  connection: Connection,
  { channelId, longestWaitMs }: { readonly channelId: string; readonly longestWaitMs: number },
): Promise<SingleToken> {
  return connection.one(sql.type(row(SingleToken))`
    WITH present AS (
      SELECT channel_id, greatest(clock_timestamp(), ${scheduledAt}) AS due_at, ${ratePerSecond} AS rate,
        failure_count > 0 OR times_opened > 0 AS is_failing
      FROM channel_rate JOIN channel ON channel.id = channel_rate.channel_id
      WHERE channel_rate.channel_id = ${channelId}
      FOR UPDATE OF channel_rate
    ), moved AS (
      UPDATE channel_rate SET next_at = present.due_at + make_interval(secs => 1 / present.rate)
      FROM present WHERE channel_rate.channel_id = present.channel_id
        AND present.due_at <= clock_timestamp() + make_interval(secs => ${longestWaitMs / 1000})
    )
    SELECT greatest(0, extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS "waitMs", is_failing AS "isFailing"
    FROM present`);
}

/** Moves the schedule because the messages whose tokens were taken leave later by `lateMs`. */
export async function delaySchedule(
  connection: Connection,
  channelId: string,
  lateMs: number,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel_rate SET next_at = next_at + make_interval(secs => ${lateMs / 1_000}::float8) WHERE channel_id = ${channelId}`);
}

/**
 * Halves the channel's rate because the provider throttled it; the rate recovers by itself. Responses within a second of each
 * other halve it once. `holdMs` pauses the channel, if the response asked for that.
 */
export async function slowDown(
  connection: Connection,
  { channelId, holdMs = 0 }: { readonly channelId: string; readonly holdMs?: number },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel_rate SET
      factor = CASE WHEN factor_changed_at < clock_timestamp() - interval '1 second' OR factor = 1
        THEN greatest(${lowestFactor}::float8, ${effectiveFactor} / 2) ELSE factor END,
      factor_changed_at = CASE WHEN factor_changed_at < clock_timestamp() - interval '1 second' OR factor = 1
        THEN clock_timestamp() ELSE factor_changed_at END,
      silent_until = greatest(${silentUntil}, clock_timestamp() + make_interval(secs => ${holdMs / 1000}))
    WHERE channel_id = ${channelId}`);
}

/** Records the share of the rate that the provider's answers let through; null: all of it. */
export async function recordPaceShare(
  connection: Connection,
  channelId: string,
  share: number | null,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel_rate SET pace_share = ${share}::float8, pace_measured_at = clock_timestamp() WHERE channel_id = ${channelId}`);
}

const Pace = row(t.type({ rate: t.number }));

/** Messages a second that the channel may send at this moment. */
export async function findChannelPace(connection: Connection, channelId: string): Promise<number> {
  return connection.oneFirst(sql.type(Pace)`
    SELECT ${ratePerSecond}::float8 AS rate FROM channel_rate JOIN channel ON channel.id = channel_rate.channel_id
    WHERE channel_id = ${channelId}`);
}
