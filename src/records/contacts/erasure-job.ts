/** Erasures under way: a queue whose steps clear what the request could not find at once. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { preparationSession } from '../audience/recipient-load.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { clearMessages, messagesOf } from './person-messages.ts';
import { clearRecipients, recipientsOf } from './person-recipients.ts';

/**
 * `names`: the contact's id, number and provider ids. `formerNumbers` may have other owners by now. Does nothing if another
 * request has just erased the person.
 */
export async function queueErasure(
  connection: Connection,
  erasure: Pick<Erasure, 'workspaceId' | 'contactId' | 'names' | 'formerNumbers'>,
): Promise<void> {
  // Ids carry milliseconds: rows of the present millisecond still belong to the erasure.
  await connection.query(sql.type(nothing)`
    INSERT INTO erasure (contact_id, workspace_id, names, former_numbers, requested_at)
    VALUES (${erasure.contactId}, ${erasure.workspaceId}, ${sql.array(erasure.names, 'text')},
      ${sql.array(erasure.formerNumbers, 'text')},
      date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond')
    ON CONFLICT DO NOTHING`);
}

const Erasure = t.type({
  contactId: t.string,
  workspaceId: t.number,
  names: t.readonlyArray(t.string),
  formerNumbers: t.readonlyArray(t.string),
  requestedAt: timestamp,
  clearedUntil: nullable(timestamp),
  /** How often its slices were halved. */
  halvings: t.number,
});
export type Erasure = t.TypeOf<typeof Erasure>;

/** 10 s, so that a step that takes too long delays the others only a little before its slice is halved. */
const stepTimeoutMs = 10_000;

/** Slices are not halved more often: the largest then has a single row. */
export const maxHalvings = 15;

/**
 * Locks an erasure whose step is due: the one of a workspace chosen at random that is due longest, so that no workspace waits
 * behind all erasures of another. Skips locked ones and those requested in the last `afterSeconds`. A time more than a minute
 * ahead predates a clock rollback: that step is due.
 */
export async function lockErasure(
  connection: Connection,
  afterSeconds: number,
): Promise<Erasure | undefined> {
  const salt = Math.floor(Math.random() * 2 ** 31);
  const found = await connection.maybeOne(sql.type(row(Erasure))`
    SELECT contact_id AS "contactId", workspace_id AS "workspaceId", names, former_numbers AS "formerNumbers",
      requested_at AS "requestedAt", cleared_until AS "clearedUntil", halvings
    FROM erasure
    WHERE next_step_at <= clock_timestamp()
        - make_interval(secs => CASE WHEN cleared_until IS NULL THEN ${afterSeconds} ELSE 0 END)
      OR next_step_at > clock_timestamp() + interval '1 minute'
    ORDER BY hashint8extended(workspace_id, ${salt}::int8), next_step_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`);
  if (found === null) return undefined;
  if (found.halvings < maxHalvings) {
    await connection.query(
      sql.type(nothing)`SELECT set_config('statement_timeout', ${String(stepTimeoutMs)}, true)`,
    );
  }
  return found;
}

/**
 * Before the first step: rows that are dated ahead were written before the clock was set back, so the erasure covers them.
 * Returns the time until which it clears.
 */
export async function coverRowsAhead(connection: Connection, { contactId }: Erasure): Promise<Date> {
  return connection.oneFirst(sql.type(row(t.type({ until: timestamp })))`
    UPDATE erasure SET requested_at = greatest(requested_at, (
      SELECT date_trunc('milliseconds', max(at)) + interval '1 millisecond' FROM (
        (SELECT uuid_extract_timestamp(id) AS at FROM event ORDER BY id DESC LIMIT 1)
        UNION ALL SELECT max(received_at) FROM provider_callback
        UNION ALL SELECT max(received_at) FROM unmatched_status WHERE emitted_at IS NULL
        UNION ALL SELECT max(received_at) FROM unmatched_status WHERE emitted_at IS NOT NULL
        UNION ALL SELECT max(created_at) FROM idempotency_key
      ) AS latest WHERE at > clock_timestamp() + interval '1 minute'))
    WHERE contact_id = ${contactId} RETURNING requested_at AS until`);
}

/** Other erasures advance in the meantime. `halve` gives the next step half the rows. */
export async function postponeErasure(
  connection: Connection,
  { contactId }: Pick<Erasure, 'contactId'>,
  { delaySeconds, halve = false }: { readonly delaySeconds: number; readonly halve?: boolean },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE erasure SET next_step_at = clock_timestamp() + make_interval(secs => ${delaySeconds}),
      halvings = CASE WHEN ${halve} THEN least(halvings + 1, ${maxHalvings}) ELSE halvings END
    WHERE contact_id = ${contactId}`);
}

/**
 * True while a preparation runs that may have read the contact before the request: its recipients are not visible yet.
 * 5 s: the transaction of the request commits within that time of `requested_at`.
 */
export function isKnownToPreparation(connection: Connection, { requestedAt }: Erasure): Promise<boolean> {
  return connection.oneFirst(sql.type(row(t.type({ known: t.boolean })))`
    SELECT EXISTS (
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${preparationSession}
        AND xact_start < ${requestedAt.toISOString()}::timestamptz + interval '5 seconds') AS known`);
}

/**
 * Clears what transactions that read the contact before the request committed after it: recipients of a preparation, messages,
 * answers of the provider, its ids of the person. A new contact with the same number keeps its own.
 */
export async function eraseLateTraces(
  connection: Connection,
  {
    workspaceId,
    contactId,
    names,
    formerNumbers,
  }: Pick<Erasure, 'workspaceId' | 'contactId' | 'names' | 'formerNumbers'>,
): Promise<void> {
  const isOf = (numbers: readonly string[]) =>
    sql.fragment`phone_number = ANY (${sql.array(numbers, 'text')})`;
  const numbered = isOf([...names, ...formerNumbers]);
  const ofContactOrNone = sql.fragment`${numbered} AND COALESCE(contact_id = ${contactId}, ${isOf(names)})`;
  // Only by contact: its numbers may have other owners.
  await clearMessages(
    connection,
    messagesOf({ workspaceId, contactId: sql.fragment`${contactId}`, isTheirs: sql.fragment`FALSE` }),
  );
  await clearRecipients(connection, recipientsOf({ workspaceId, contactId, isTheirs: ofContactOrNone }));
  await connection.query(sql.type(nothing)`DELETE FROM contact_identity WHERE contact_id = ${contactId}`);
}

export async function advanceErasure(
  connection: Connection,
  { contactId }: Erasure,
  { clearedUntil, delaySeconds }: { readonly clearedUntil: Date; readonly delaySeconds: number },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE erasure SET cleared_until = ${clearedUntil.toISOString()}, halvings = greatest(0, halvings - 1),
      next_step_at = clock_timestamp() + make_interval(secs => ${delaySeconds})
    WHERE contact_id = ${contactId}`);
}

export async function endErasure(connection: Connection, { contactId }: Erasure): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM erasure WHERE contact_id = ${contactId}`);
}
