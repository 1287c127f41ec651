/** Provider callbacks as received: stored first, applied later, kept for inspection until retention. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { groupCalls } from '../../concurrency/group-calls.ts';
import type { Connection, Database } from '../database/database.ts';
import { bytes, nothing, row } from '../database/row.ts';

/**
 * True for a body that may contain an opt-out: a message, or a choice made in the app. The texts are JSON keys; statuses have
 * `"messages"` as a value.
 */
const isUrgent = sql.fragment`
  position('"messages":'::bytea IN body) > 0 OR position('"user_preferences":'::bytea IN body) > 0`;

/**
 * Stores any number of bodies in one statement. They travel as one binary value and are cut apart in the database: an
 * array of bytea would be sent as hexadecimal text, at twice the size.
 */
export async function insertProviderCallbacks(
  connection: Connection,
  bodies: readonly Buffer[],
): Promise<void> {
  const rows: [number, number][] = [];
  let offset = 1;
  for (const body of bodies) {
    rows.push([offset, body.length]);
    offset += body.length;
  }
  await connection.query(sql.type(nothing)`
    WITH stored AS (
      INSERT INTO provider_callback (body)
      SELECT substring(joined.bytes FROM piece.start FOR piece.size)
      FROM (SELECT ${sql.binary(Buffer.concat(bodies))}::bytea AS bytes) AS joined,
        ${sql.unnest(rows, ['int4', 'int4'])} AS piece (start, size)
      RETURNING id, octet_length(body) AS size, ${isUrgent} AS urgent)
    INSERT INTO waiting_callback (id, size, urgent) SELECT id, size, urgent FROM stored`);
}

/** Accepts callbacks; the promise resolves once the body is on disk. */
export type CallbackInbox = (body: Buffer) => Promise<void>;

const grouping = {
  maxSize: 1000,
  /** Two statements in flight, so that one runs while the other commits. */
  lanes: 2,
  weigh: (body: Buffer) => body.length,
  /** Bytes of one statement; a larger body travels alone. */
  maxWeight: 8 * 1024 * 1024,
};

/** One commit serves the requests that arrive while an earlier one is under way. */
export function createCallbackInbox(database: Database): CallbackInbox {
  return groupCalls(async (bodies: readonly Buffer[]) => {
    await insertProviderCallbacks(database, bodies);
    return [];
  }, grouping);
}

/** Returns the first waiting callback at or after `from`. */
export async function findWaitingCallback(
  connection: Connection,
  from: bigint = 0n,
): Promise<bigint | undefined> {
  const id = await connection.maybeOneFirst(sql.type(row(t.type({ id: t.bigint })))`
    SELECT id FROM waiting_callback WHERE id >= ${from} ORDER BY id LIMIT 1`);
  return id ?? undefined;
}

/** Returns the newest callback that is at least ten seconds old. */
export async function recentCallback(connection: Connection): Promise<bigint | undefined> {
  const id = await connection.maybeOneFirst(sql.type(row(t.type({ id: t.bigint })))`
    SELECT id FROM provider_callback WHERE received_at < now() - interval '10 seconds' ORDER BY received_at DESC LIMIT 1`);
  return id ?? undefined;
}

const StoredCallback = t.type({ id: t.bigint, urgent: t.boolean, body: bytes });
export type StoredCallback = t.TypeOf<typeof StoredCallback>;

/**
 * Bodies of the `chosen` rows. OFFSET 0 stops the planner from turning this into a join, so that each body is looked up by
 * key.
 */
const bodiesOfChosen = sql.fragment`
  SELECT stored.id, chosen.urgent, stored.body FROM chosen CROSS JOIN LATERAL (
    SELECT id, body FROM provider_callback WHERE id = chosen.id AND received_at = chosen.received_at OFFSET 0
  ) AS stored`;

/**
 * Locks waiting callbacks for this transaction, urgent ones first, then the oldest, skipping those another worker has locked and
 * those in `except`. At most `limit`, a quarter of it for the others if they wait, and no more than `maxBytes` of bodies unless
 * the first alone is larger.
 */
export async function claimProviderCallbacks(
  connection: Connection,
  {
    limit,
    maxBytes,
    except,
    from = 0n,
  }: {
    readonly limit: number;
    readonly maxBytes: number;
    readonly except: readonly bigint[];
    /** Watermark: callbacks with a lower id are skipped. */
    readonly from?: bigint | undefined;
  },
): Promise<readonly StoredCallback[]> {
  return connection.any(sql.type(row(StoredCallback))`
    WITH urgent AS MATERIALIZED (
      SELECT id, received_at, size, urgent FROM waiting_callback
      WHERE urgent AND id >= ${from} AND id <> ALL (${sql.array(except, 'int8')})
      ORDER BY id LIMIT ${Math.ceil((limit * 3) / 4)} FOR UPDATE SKIP LOCKED
    ), others AS MATERIALIZED (
      SELECT id, received_at, size, urgent FROM waiting_callback
      WHERE NOT urgent AND id >= ${from} AND id <> ALL (${sql.array(except, 'int8')})
      ORDER BY id LIMIT ${limit} - (SELECT count(*) FROM urgent) FOR UPDATE SKIP LOCKED
    ), chosen AS (
      SELECT id, received_at, urgent FROM (
        SELECT *, sum(size) OVER (ORDER BY urgent DESC, id) AS total
        FROM (SELECT * FROM urgent UNION ALL SELECT * FROM others) AS waiting
      ) AS summed WHERE total <= ${maxBytes} OR total = size
    )
    ${bodiesOfChosen} ORDER BY chosen.urgent DESC, chosen.id`);
}

/** Locks these callbacks, without those that are applied or that another worker has locked. */
export function claimProviderCallbacksById(
  connection: Connection,
  ids: readonly bigint[],
): Promise<readonly StoredCallback[]> {
  return connection.any(sql.type(row(StoredCallback))`
    WITH chosen AS MATERIALIZED (
      SELECT id, received_at, urgent FROM waiting_callback WHERE id = ANY (${sql.array(ids, 'int8')})
      ORDER BY id FOR UPDATE SKIP LOCKED
    )
    ${bodiesOfChosen} ORDER BY chosen.urgent DESC, chosen.id`);
}

/** Removes callbacks from the queue, and deletes those that contain one of the `erased` texts, which name erased people. */
export async function markCallbacksApplied(
  connection: Connection,
  ids: readonly bigint[],
  erased: readonly string[],
): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM waiting_callback WHERE id = ANY(${sql.array(ids, 'int8')})`);
  if (erased.length === 0) return;
  await connection.query(sql.type(nothing)`
    DELETE FROM provider_callback WHERE id = ANY(${sql.array(ids, 'int8')}) AND EXISTS (
      SELECT FROM unnest(${sql.array(erased, 'text')}) AS name WHERE position(convert_to(name, 'UTF8') IN body) > 0)`);
}

/** Removes a callback from the queue for good; `error` says why and contains nothing of the callback. */
export async function markCallbackFailed(
  connection: Connection,
  { id, error }: { readonly id: bigint; readonly error: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH applied AS (DELETE FROM waiting_callback WHERE id = ${id})
    UPDATE provider_callback SET error = ${error} WHERE id = ${id}`);
}

/** Condition on `provider_callback`: the callback is applied, or has failed for good. */
export const callbackIsOver = sql.fragment`NOT EXISTS (
  SELECT FROM waiting_callback AS waiting WHERE waiting.id = provider_callback.id)`;
