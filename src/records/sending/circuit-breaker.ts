/**
 * Trouble of the provider, kept by the channel: after ten troubled answers in a row, over all steps and workers, nobody sends
 * for 2, 4, 8 … 60 seconds. After each of these one message tries; an answer that makes sense ends it.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';
import { openUntil } from './channel-rate.ts';

export const failuresToOpen = 10;
const longestHoldSeconds = 60;

export interface AnswerCounts {
  readonly channelId: string;
  /** An answer that made sense came before the troubled ones. */
  readonly succeeded: boolean;
  /** Troubled answers in a row since. */
  readonly failures: number;
  /** They are the answers to the message that tries. Neither sound nor troubled: it was not sent. */
  readonly isProbe: boolean;
}

const Hold = row(t.type({ open_ms: t.number }));

/** Returns for how many milliseconds the channel is held now; 0 when it is not. */
export async function recordAnswers(
  connection: Connection,
  { channelId, succeeded, failures, isProbe }: AnswerCounts,
): Promise<number> {
  const { open_ms: openMs } = await connection.one(sql.type(Hold)`
    WITH present AS (
      SELECT channel_id, times_opened, CASE WHEN ${succeeded}::boolean THEN 0 ELSE channel_rate.failure_count END + ${failures}::int AS counted
      FROM channel_rate WHERE channel_id = ${channelId} FOR UPDATE
    ), next AS (
      SELECT *, CASE
        WHEN ${isProbe}::boolean AND ${failures}::int > 0 AND NOT ${succeeded}::boolean THEN least(times_opened + 1, 10)
        WHEN counted >= ${failuresToOpen} THEN greatest(times_opened, 1)
        WHEN ${succeeded}::boolean THEN 0
        ELSE times_opened END AS next_times_opened
      FROM present
    )
    UPDATE channel_rate SET failure_count = next.counted, times_opened = next.next_times_opened,
      open_until = CASE
        -- Counted from the try: one that is answered late does not make the next one later.
        WHEN ${isProbe}::boolean AND ${failures}::int > 0 AND NOT ${succeeded}::boolean THEN greatest(clock_timestamp(),
          probed_at + make_interval(secs => least(2 ^ next.next_times_opened, ${longestHoldSeconds})))
        WHEN next.next_times_opened > next.times_opened THEN clock_timestamp() + interval '2 seconds'
        WHEN ${isProbe}::boolean AND ${failures}::int = 0 AND NOT ${succeeded}::boolean THEN clock_timestamp()
        ELSE ${openUntil} END
    FROM next WHERE channel_rate.channel_id = next.channel_id
    RETURNING CASE WHEN channel_rate.times_opened = 0 THEN 0
      ELSE greatest(1, extract(epoch FROM channel_rate.open_until - clock_timestamp()) * 1000) END::float8 AS open_ms`);
  return openMs;
}
