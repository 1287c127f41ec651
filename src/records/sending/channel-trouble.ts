/**
 * Trouble of the provider, kept by the channel: after ten troubled answers in a row, over all steps and workers, nobody sends
 * for 2, 4, 8 … 60 seconds. After each of these one message tries; an answer that makes sense ends it.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';
import { troubleUntil } from './channel-rate.ts';

export const troublesInARow = 10;
const longestHoldSeconds = 60;

export interface Answers {
  readonly channelId: string;
  /** An answer that made sense came before the troubled ones. */
  readonly sound: boolean;
  /** Troubled answers in a row since. */
  readonly troubles: number;
  /** They are the answers to the message that tries. Neither sound nor troubled: it was not sent. */
  readonly tries: boolean;
}

const Hold = row(t.type({ held_ms: t.number }));

/** Returns for how many milliseconds the channel is held now; 0 when it is not. */
export async function noteAnswers(
  connection: Connection,
  { channelId, sound, troubles, tries }: Answers,
): Promise<number> {
  const { held_ms: heldMs } = await connection.one(sql.type(Hold)`
    WITH present AS (
      SELECT channel_id, holds, CASE WHEN ${sound}::boolean THEN 0 ELSE channel_rate.troubles END + ${troubles}::int AS counted
      FROM channel_rate WHERE channel_id = ${channelId} FOR UPDATE
    ), next AS (
      SELECT *, CASE
        WHEN ${tries}::boolean AND ${troubles}::int > 0 AND NOT ${sound}::boolean THEN least(holds + 1, 10)
        WHEN counted >= ${troublesInARow} THEN greatest(holds, 1)
        WHEN ${sound}::boolean THEN 0
        ELSE holds END AS holds_then
      FROM present
    )
    UPDATE channel_rate SET troubles = next.counted, holds = next.holds_then,
      trouble_until = CASE
        -- Counted from the try: one that is answered late does not make the next one later.
        WHEN ${tries}::boolean AND ${troubles}::int > 0 AND NOT ${sound}::boolean THEN greatest(clock_timestamp(),
          tried_at + make_interval(secs => least(2 ^ next.holds_then, ${longestHoldSeconds})))
        WHEN next.holds_then > next.holds THEN clock_timestamp() + interval '2 seconds'
        WHEN ${tries}::boolean AND ${troubles}::int = 0 AND NOT ${sound}::boolean THEN clock_timestamp()
        ELSE ${troubleUntil} END
    FROM next WHERE channel_rate.channel_id = next.channel_id
    RETURNING CASE WHEN channel_rate.holds = 0 THEN 0
      ELSE greatest(1, extract(epoch FROM channel_rate.trouble_until - clock_timestamp()) * 1000) END::float8 AS held_ms`);
  return heldMs;
}
