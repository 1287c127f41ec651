/** Finds overdue work through indexes: claims, messages, deliveries and queue entries that wait longer than they should. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';
import type { Batch } from './doctor-campaigns.ts';

const Subject = t.type({ id: t.string, count: t.number, since: t.string });
/** One campaign or queue: how many entries are overdue, and the time of the oldest one, as text for comparison. */
export type Overdue = t.TypeOf<typeof Subject>;

const since = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`to_char(min(${column}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since`;

/** Lists campaigns with batches that were claimed more than `seconds` ago. */
export function listOldClaims(connection: Connection, seconds: number): Promise<readonly Overdue[]> {
  return connection.any(sql.type(row(Subject))`
    SELECT campaign_id AS id, sum(open)::int4 AS count, ${since(sql.fragment`claimed_at`)} FROM campaign_claim
    WHERE claimed_at < now() - make_interval(secs => ${seconds}) GROUP BY campaign_id ORDER BY 1 LIMIT 10000`);
}

/** Lists campaigns with CLAIMED recipients and no open claim. */
export function listUnclaimed(connection: Connection): Promise<readonly Overdue[]> {
  return connection.any(sql.type(row(Subject))`
    SELECT campaign_id AS id, claimed AS count, '' AS since FROM campaign_counter
    WHERE claimed > 0 AND NOT EXISTS (
      SELECT FROM campaign_claim WHERE campaign_claim.campaign_id = campaign_counter.campaign_id)
    ORDER BY 1 LIMIT 10000`);
}

const queue = (id: string, counted: ReturnType<typeof sql.fragment>) => sql.fragment`
  SELECT ${id}::text AS id, count(*)::int4 AS count, ${since(sql.fragment`at`)} FROM (${counted}) AS waiting HAVING count(*) > 0`;

export interface OverdueLimits {
  /** Seconds that an entry may wait in a queue that a worker loop empties. */
  readonly queueSeconds: number;
  /** Seconds that a single message may stay CLAIMED. */
  readonly messageSeconds: number;
  /** Seconds that a status may stay unmatched. */
  readonly unmatchedSeconds: number;
  readonly expiryHours: number;
}

/** Queues with entries that wait longer than they should; counted up to 10,000. */
export function listOverdueQueues(
  connection: Connection,
  limits: OverdueLimits,
): Promise<readonly Overdue[]> {
  const old = (column: ReturnType<typeof sql.fragment>, seconds: number) =>
    sql.fragment`${column} < now() - make_interval(secs => ${seconds}) LIMIT 10000`;
  const { queueSeconds, messageSeconds, unmatchedSeconds, expiryHours } = limits;
  return connection.any(sql.type(row(Subject))`
    ${queue(
      'messages',
      sql.fragment`SELECT created_at AS at FROM message WHERE state = 'CLAIMED' AND ${old(sql.fragment`created_at`, messageSeconds)}`,
    )}
    UNION ALL ${queue(
      'workflow-commands',
      sql.fragment`SELECT created_at AS at FROM workflow_outbox WHERE ${old(sql.fragment`created_at`, queueSeconds)}`,
    )}
    UNION ALL ${queue(
      'events',
      sql.fragment`SELECT occurred_at AS at FROM event WHERE fanned_out_at IS NULL AND ${old(sql.fragment`occurred_at`, queueSeconds)}`,
    )}
    UNION ALL ${queue(
      'callbacks',
      sql.fragment`SELECT received_at AS at FROM waiting_callback WHERE ${old(sql.fragment`received_at`, queueSeconds)}`,
    )}
    UNION ALL ${queue(
      'unmatched-statuses',
      sql.fragment`SELECT received_at AS at FROM unmatched_status WHERE emitted_at IS NULL AND ${old(sql.fragment`received_at`, unmatchedSeconds)}`,
    )}
    UNION ALL ${queue(
      'deliveries',
      // Each branch uses its own partial index.
      sql.fragment`(SELECT created_at AS at FROM webhook_delivery WHERE state = 'sending' AND dispatched_at IS NOT NULL
          AND sending_until < now() - make_interval(secs => ${queueSeconds}) LIMIT 10000)
        UNION ALL (SELECT created_at FROM webhook_delivery WHERE state = 'pending' AND dispatched_at IS NULL
          AND created_at < now() - make_interval(hours => ${expiryHours}, secs => ${queueSeconds}) LIMIT 10000)
        UNION ALL (SELECT created_at FROM webhook_delivery WHERE state = 'pending' AND dispatched_at IS NOT NULL
          AND created_at < now() - make_interval(hours => ${expiryHours}, secs => ${queueSeconds}) LIMIT 10000)`,
    )}`);
}

const Delivery = t.type({ id: t.string, since: t.string, event_known: t.boolean });
export type OpenDelivery = t.TypeOf<typeof Delivery>;

/** Lists, by id, a batch of deliveries that were handed to their workflows more than `seconds` ago and are still pending. */
export function listDispatchedDeliveries(
  connection: Connection,
  { afterId, limit, seconds }: Batch & { readonly seconds: number },
): Promise<readonly OpenDelivery[]> {
  return connection.any(sql.type(row(Delivery))`
    SELECT webhook_delivery.id, dispatched_at::text AS since,
      EXISTS (SELECT FROM event WHERE event.id = event_id) AS event_known
    FROM webhook_delivery
    WHERE state = 'pending' AND dispatched_at < now() - make_interval(secs => ${seconds})
      AND (${afterId}::uuid IS NULL OR webhook_delivery.id > ${afterId}::uuid)
    ORDER BY webhook_delivery.id LIMIT ${limit}`);
}

const KnownId = row(t.type({ id: t.string }));

/** Which of these deliveries have a row. */
export async function findKnownDeliveries(
  connection: Connection,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(
    await connection.anyFirst(sql.type(KnownId)`
      SELECT id FROM webhook_delivery WHERE id = ANY (${sql.array([...ids], 'uuid')})`),
  );
}

const CampaignState = t.type({
  id: t.string,
  finished: t.boolean,
  settled: t.boolean,
  fingerprint: t.string,
});

/** Reads the campaigns that have a row; `settled`: nothing is claimed or was updated lately. Progress changes `fingerprint`. */
export function findCampaignStates(
  connection: Connection,
  {
    ids,
    finished,
    seconds,
  }: { readonly ids: readonly string[]; readonly finished: readonly string[]; readonly seconds: number },
) {
  return connection.any(sql.type(row(CampaignState))`
    SELECT id, status = ANY (${sql.array([...finished], 'text')}) AS finished,
      claimed = 0 AND updated_at < now() - make_interval(secs => ${seconds}) AS settled,
      status || ' ' || epoch || ' ' || pending AS fingerprint
    FROM campaign JOIN campaign_counter ON campaign_id = id
    WHERE id = ANY (${sql.array([...ids], 'uuid')})`);
}

/** Copies the outcome of a delivery from its workflow to its record, unless the record has one. */
export async function recordWorkflowOutcome(
  connection: Connection,
  { id, errorCode }: { readonly id: string; readonly errorCode: string | null },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE webhook_delivery SET state = CASE WHEN ${errorCode}::text IS NULL THEN 'delivered' ELSE 'failed' END,
      error_code = ${errorCode}::text, sending_until = NULL
    WHERE id = ${id} AND state IN ('pending', 'sending')`);
}
