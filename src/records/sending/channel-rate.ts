/**
 * The one token bucket of a channel, shared by campaigns, single sends and every worker process.
 *
 * `next_at` is a schedule on Postgres' clock: the instant at which the next unleased token falls due. A lease moves it on
 * by (tokens ÷ rate). Idle time is not saved up. The steps of campaigns lease short pages, and the next one when that has left,
 * so that a single send waits for one page of each step at the most.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/** How far ahead of now a campaign's lease may begin: pages of its steps stand in line, each with the time that a claim takes. */
const longestAheadMs = 400;

/**
 * A token may leave this late; a later one is thrown away. With the pace at 97.5 % of the limit, one second holds at
 * most (1 + 0.025) × 0.975 < 1 of it.
 */
export const tokenToleranceMs = 25;
const pace = 0.975;

/** The share of the full rate that comes back per second after the provider throttled. */
const recoveryPerSecond = 0.02;
const lowestFactor = 0.02;

/** Instants are epoch milliseconds on Postgres' clock. */
export interface TokenLease {
  /** 0: nobody may leave yet, ask again after `retryInMs`. */
  readonly granted: number;
  /** When the first token falls due. */
  readonly dueAt: number;
  /** Between one token and the next. */
  readonly spacingMs: number;
  /** When the lease was given. */
  readonly now: number;
  readonly retryInMs: number;
  /** Troubled answers stand against the channel. */
  readonly troubled: boolean;
  /** The one message that tries whether the trouble of a held channel is over. */
  readonly tries: boolean;
  /** Another campaign waits for its turn. */
  readonly othersWait: boolean;
}

const Lease = row(
  t.type({
    granted: t.number,
    due_at: t.number,
    spacing_ms: t.number,
    now: t.number,
    troubled: t.boolean,
    held: t.boolean,
    others_wait: t.boolean,
  }),
);

// A schedule that a crash of the server takes back lies in the past by the time it serves again: the lease need not wait
// for the disk. Local to the statement's transaction.
const asynchronously = sql.fragment`set_config('synchronous_commit', 'off', true)`;

/** What the provider's throttling leaves of the full rate, 0 to 1; of a `channel_rate` row. */
export const effectiveFactor = sql.fragment`
  least(1, channel_rate.factor + greatest(0,
    extract(epoch FROM clock_timestamp() - channel_rate.factor_changed_at)) * ${recoveryPerSecond}::float8)`;

const ratePerSecond = sql.fragment`
  (channel.messages_per_second * ${pace}::float8 * ${effectiveFactor})`;

// Nobody leases so far ahead: what lies beyond is of before the server's clock was set back.
const latestSchedule = '30 seconds';

const due = sql.fragment`
  greatest(clock_timestamp(), channel_rate.held_until, CASE
    WHEN channel_rate.next_at < clock_timestamp() + ${latestSchedule}::interval THEN channel_rate.next_at END)`;

export interface LeaseRequest {
  readonly channelId: string;
  readonly wanted: number;
  /** How long an answer may take: so long the one message that tries a held channel has it to itself. */
  readonly answerWithinMs: number;
}

/** Leases `wanted` tokens, or none; one of a channel that was held for its trouble. */
export async function leaseTokens(
  connection: Connection,
  { channelId, wanted, answerWithinMs }: LeaseRequest,
): Promise<TokenLease> {
  const lease = await connection.maybeOne(sql.type(Lease)`
    WITH present AS (
      SELECT channel_id, holds > 0 AS held, troubles > 0 AS troubled, ${ratePerSecond} AS rate,
        greatest(${due}, CASE WHEN holds > 0 THEN trouble_until END) AS due_at
      FROM channel_rate JOIN channel ON channel.id = channel_rate.channel_id
      WHERE channel_rate.channel_id = ${channelId}
      FOR UPDATE OF channel_rate
    ), lease AS (
      SELECT *,
        CASE WHEN due_at > clock_timestamp() + make_interval(secs => ${longestAheadMs / 1000}) THEN 0
          WHEN held THEN least(1, ${wanted}::int)
          ELSE ${wanted}::int END AS granted
      FROM present
    ), moved AS (
      UPDATE channel_rate SET next_at = lease.due_at + make_interval(secs => lease.granted / lease.rate),
        tried_at = CASE WHEN held THEN clock_timestamp() ELSE tried_at END,
        trouble_until = CASE WHEN held THEN clock_timestamp() + make_interval(secs => ${answerWithinMs / 1000})
          ELSE trouble_until END
      FROM lease WHERE channel_rate.channel_id = lease.channel_id AND lease.granted > 0
    )
    SELECT granted, extract(epoch FROM due_at)::float8 * 1000 AS due_at, (1000 / rate)::float8 AS spacing_ms,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, troubled, held,
      EXISTS (SELECT FROM channel_queue WHERE channel_queue.channel_id = lease.channel_id AND waiting) AS others_wait,
      ${asynchronously}
    FROM lease`);
  if (lease === null) throw new Error('The channel has no rate');
  const { granted, due_at: dueAt, spacing_ms: spacingMs, now, troubled, held } = lease;
  return {
    granted,
    dueAt,
    spacingMs,
    now,
    retryInMs: Math.max(1, dueAt - now - longestAheadMs),
    troubled,
    tries: held && granted > 0,
    othersWait: lease.others_wait,
  };
}

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
      SELECT channel_id, ${due} AS due_at, ${ratePerSecond} AS rate
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
      held_until = greatest(held_until, clock_timestamp() + make_interval(secs => ${holdMs / 1000}))
    WHERE channel_id = ${channelId}`);
}

const Pace = row(t.type({ rate: t.number }));

/** Messages a second that the channel may send at this moment. */
export async function findChannelPace(connection: Connection, channelId: string): Promise<number> {
  return connection.oneFirst(sql.type(Pace)`
    SELECT ${ratePerSecond}::float8 AS rate FROM channel_rate JOIN channel ON channel.id = channel_rate.channel_id
    WHERE channel_id = ${channelId}`);
}
