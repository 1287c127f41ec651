/**
 * The one token bucket of a channel, shared by campaigns, single sends and every worker process.
 *
 * `next_at` is a schedule on Postgres' clock: the instant at which the next unleased token falls due. A lease moves it on
 * by (tokens ÷ rate). Idle time is not saved up. A claim leases the tokens of its page (`claims.ts`), a twentieth of a second
 * ahead where the database is near, so that a single send waits for no more than that.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/**
 * A token may leave this late, and what is later delays the schedule once it comes to `reportedLagMs`. With the pace at 97.5 %
 * of the limit, one second holds at most (1 + 0.020 + 0.005) × 0.975 < 1 of it.
 */
export const tokenToleranceMs = 20;
export const reportedLagMs = 5;
const pace = 0.975;

/** The share of the full rate that comes back per second after the provider throttled. */
const recoveryPerSecond = 0.02;
const lowestFactor = 0.02;

/** What the provider's throttling leaves of the full rate, 0 to 1; of a `channel_rate` row. */
export const effectiveFactor = sql.fragment`
  least(1, channel_rate.factor + greatest(0,
    extract(epoch FROM clock_timestamp() - channel_rate.factor_changed_at)) * ${recoveryPerSecond}::float8)`;

/** Of a `channel_rate` row joined with its `channel`. */
export const ratePerSecond = sql.fragment`
  (channel.messages_per_second * ${pace}::float8 * ${effectiveFactor})`;

/** An instant that no process writes so far ahead was written before the server's clock was set back: NULL. */
export const unlessBeyond = (instant: FragmentSqlToken, minutes: number) => sql.fragment`
  CASE WHEN ${instant} < clock_timestamp() + make_interval(mins => ${minutes}::int) THEN ${instant} END`;

/** The provider asks for a minute of silence at most. */
export const silentUntil = unlessBeyond(sql.fragment`channel_rate.silent_until`, 5);

/** End of a cool-down of at most a minute, or of the wait for the probe's answer (PROVIDER_TIMEOUT_MS, at most 10 minutes). */
export const openUntil = unlessBeyond(sql.fragment`channel_rate.open_until`, 15);

/** When the schedule has room; leases reach less than 30 s ahead. */
export const scheduledAt = sql.fragment`
  greatest(${silentUntil}, CASE
    WHEN channel_rate.next_at < clock_timestamp() + interval '30 seconds' THEN channel_rate.next_at END)`;

const SingleToken = row(t.type({ wait_ms: t.number }));

/**
 * One token for a single send, ahead of every campaign. Returns the milliseconds until it falls due; a token that falls due
 * after more than `longestWaitMs` is not taken.
 */
export async function takeSingleToken(
  connection: Connection,
  { channelId, longestWaitMs }: { readonly channelId: string; readonly longestWaitMs: number },
): Promise<number> {
  const token = await connection.one(sql.type(SingleToken)`
    WITH present AS (
      SELECT channel_id, greatest(clock_timestamp(), ${scheduledAt}) AS due_at, ${ratePerSecond} AS rate
      FROM channel_rate JOIN channel ON channel.id = channel_rate.channel_id
      WHERE channel_rate.channel_id = ${channelId}
      FOR UPDATE OF channel_rate
    ), moved AS (
      UPDATE channel_rate SET next_at = present.due_at + make_interval(secs => 1 / present.rate)
      FROM present WHERE channel_rate.channel_id = present.channel_id
        AND present.due_at <= clock_timestamp() + make_interval(secs => ${longestWaitMs / 1000})
    )
    SELECT greatest(0, extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS wait_ms FROM present`);
  return token.wait_ms;
}

/** What was leased leaves so much later: so does what is leased next. */
export async function delaySchedule(
  connection: Connection,
  channelId: string,
  lateMs: number,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel_rate SET next_at = next_at + make_interval(secs => ${lateMs / 1_000}::float8) WHERE channel_id = ${channelId}`);
}

/**
 * The provider throttled the channel: half the present rate, recovering by itself. Answers that come within a second of
 * each other are one sign, not many. `holdMs` silences the channel, for answers that ask for it.
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

const Pace = row(t.type({ rate: t.number }));

/** Messages a second that the channel may send at this moment. */
export async function findChannelPace(connection: Connection, channelId: string): Promise<number> {
  return connection.oneFirst(sql.type(Pace)`
    SELECT ${ratePerSecond}::float8 AS rate FROM channel_rate JOIN channel ON channel.id = channel_rate.channel_id
    WHERE channel_id = ${channelId}`);
}
