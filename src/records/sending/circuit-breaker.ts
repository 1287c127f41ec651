/**
 * The circuit breaker of a channel, in columns of `channel_rate` that all steps and workers share.
 *
 *   CLOSED ──10 failed answers in a row──► OPEN ──cool-down of 2, 4, 8 … 60 s is over──► HALF-OPEN
 *     ▲                                     ▲                                              │
 *     │                                     └── the probe failed: twice the cool-down ─────┤
 *     └──── any answer that is no failure, if only a rejection of its message ─────────────┘
 *
 * A provider that answers the probe, but with "try again later", may do so for this recipient only: the cool-down then lasts 4 s
 * at most, so that a run of such recipients is soon behind.
 *
 * CLOSED: `times_opened` is 0. OPEN: `open_until` is in the future, and nothing leaves. HALF-OPEN: `open_until` has passed; the
 * next claim gets one message, the probe, and sets `open_until` to when its answer is due at the latest.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';
import { openUntil } from './channel-rate.ts';

export const failuresToOpen = 10;
const maxCoolDownSeconds = 60;
/** 2 ^ 2 = 4 s while the provider answers, 2 ^ 10 (cut to 60 s) while it does not. */
const [maxOpenedIfAnswered, maxOpened] = [2, 10];

export interface AnswerCounts {
  readonly channelId: string;
  /** An answer that is no failure came before the failures. */
  readonly succeeded: boolean;
  /** Failures in a row since then. */
  readonly failures: number;
  /** The counts are of the half-open probe. Without success and failures: the probe was not sent. */
  readonly isProbe: boolean;
  /** The failures are refusals of the provider itself, "try again later", and not errors on the way to it. */
  readonly answered?: boolean;
}

const CoolDown = row(t.type({ open_ms: t.number }));

/** Returns the milliseconds until the circuit is half-open; 0 while it is closed. */
export async function recordAnswers(
  connection: Connection,
  { channelId, succeeded, failures, isProbe, answered = false }: AnswerCounts,
): Promise<number> {
  const { open_ms: openMs } = await connection.one(sql.type(CoolDown)`
    WITH present AS (
      SELECT channel_id, times_opened, CASE WHEN ${succeeded}::boolean THEN 0 ELSE channel_rate.failure_count END + ${failures}::int AS counted
      FROM channel_rate WHERE channel_id = ${channelId} FOR UPDATE
    ), next AS (
      SELECT *, CASE
        WHEN ${isProbe}::boolean AND ${failures}::int > 0 AND NOT ${succeeded}::boolean THEN least(times_opened + 1, ${answered ? maxOpenedIfAnswered : maxOpened}::int)
        WHEN counted >= ${failuresToOpen} THEN greatest(times_opened, 1)
        WHEN ${succeeded}::boolean THEN 0
        ELSE times_opened END AS next_times_opened
      FROM present
    )
    UPDATE channel_rate SET failure_count = next.counted, times_opened = next.next_times_opened,
      open_until = CASE
        -- Counted from the probe, so that a late answer does not delay the next probe.
        WHEN ${isProbe}::boolean AND ${failures}::int > 0 AND NOT ${succeeded}::boolean THEN greatest(clock_timestamp(),
          probed_at + make_interval(secs => least(2 ^ next.next_times_opened, ${maxCoolDownSeconds})))
        WHEN next.next_times_opened > next.times_opened THEN clock_timestamp() + interval '2 seconds'
        WHEN ${isProbe}::boolean AND ${failures}::int = 0 AND NOT ${succeeded}::boolean THEN clock_timestamp()
        ELSE ${openUntil} END
    FROM next WHERE channel_rate.channel_id = next.channel_id
    RETURNING CASE WHEN channel_rate.times_opened = 0 THEN 0
      ELSE greatest(1, extract(epoch FROM channel_rate.open_until - clock_timestamp()) * 1000) END::float8 AS open_ms`);
  return openMs;
}
