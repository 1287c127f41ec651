/** Reads the state of Postgres itself, as far as the application's role can see it. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const DatabaseState = t.type({
  /** A standby, or a server, database or role that was made read-only. */
  read_only: t.boolean,
  /** Seconds since the last WAL segment was archived, while archiving fails or segments wait; 0 while it keeps up. */
  archive_behind: t.number,
  last_archived_at: nullable(timestamp),
  /** Bytes of WAL that the replication slot furthest behind has not confirmed; 0 without slots and on a standby. */
  replication_lag: t.number,
  /** Transactions since the oldest one that is not frozen; Postgres stops before 2^31. */
  transaction_age: t.number,
  /** Seconds since the oldest open transaction of this database began. Without pg_read_all_stats: of this role's own. */
  oldest_transaction: t.number,
  /** Statements of this database that wait for a lock. */
  locks_waiting: t.number,
  /** Unix time of the server, in seconds. */
  clock: t.number,
});
export type DatabaseState = t.TypeOf<typeof DatabaseState>;

/** One segment is being written and one may be on its way. */
const waitingSegments = 2;
const archiveLag = sql.fragment`greatest(1, extract(epoch FROM now() - COALESCE(last_archived_time, stats_reset)))`;

export function readDatabaseState(connection: Connection): Promise<DatabaseState> {
  return connection.one(sql.type(row(DatabaseState))`
    SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
      last_archived_time AS last_archived_at,
      CASE WHEN current_setting('archive_mode') = 'off' THEN 0
        WHEN last_failed_time > COALESCE(last_archived_time, '-infinity') THEN ${archiveLag}
        WHEN pg_is_in_recovery() OR last_archived_wal IS NULL OR last_archived_wal !~ '^[0-9A-F]{24}$' THEN 0
        WHEN div(pg_current_wal_lsn() - '0/0', pg_size_bytes(current_setting('wal_segment_size')))
          - (pg_split_walfile_name(last_archived_wal)).segment_number > ${waitingSegments} THEN ${archiveLag}
        ELSE 0 END::float8 AS archive_behind,
      CASE WHEN pg_is_in_recovery() THEN 0 ELSE COALESCE(
        (SELECT max(pg_current_wal_lsn() - restart_lsn) FROM pg_replication_slots), 0) END::float8 AS replication_lag,
      (SELECT max(greatest(age(datfrozenxid), mxid_age(datminmxid))) FROM pg_database)::float8 AS transaction_age,
      COALESCE((SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()), 0)::float8 AS oldest_transaction,
      (SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database())::int4 AS locks_waiting,
      extract(epoch FROM clock_timestamp())::float8 AS clock
    FROM pg_stat_archiver`);
}

/** Fails with 53100 if a table can no longer grow. Leaves nothing behind. */
export async function probeDiskSpace(connection: Connection): Promise<void> {
  await connection.query(sql.type(nothing)`
    CREATE TEMP TABLE disk_probe ON COMMIT DROP AS SELECT repeat(n::text, 500) FROM generate_series(1, 1000) AS n`);
}

const Silence = row(
  t.type({ seconds: t.number, accepted_at: nullable(timestamp), received_at: nullable(timestamp) }),
);

/**
 * Seconds between the provider's last callback and the last charge after it. Callbacks follow a message within seconds, so a
 * longer silence means that none arrive, or that they are refused. The ledger has an entry for each batch of accepted messages,
 * but none for free messages.
 */
export function readCallbackSilence(connection: Connection) {
  return connection.one(sql.type(Silence)`
    SELECT accepted_at, received_at, greatest(0, COALESCE(extract(epoch FROM accepted_at
      - COALESCE(received_at, accepted_at - interval '1 day')), 0))::float8 AS seconds
    FROM (
      SELECT (SELECT max(created_at) FROM (SELECT kind, created_at FROM ledger_entry ORDER BY id DESC LIMIT 100) AS latest
          WHERE kind = 'charge') AS accepted_at,
        (SELECT received_at FROM provider_callback ORDER BY received_at DESC LIMIT 1) AS received_at
    ) AS latest`);
}
