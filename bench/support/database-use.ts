/**
 * Measures what a piece of work costs Postgres: WAL, CPU, and growth of tables and indexes.
 */
import type pg from 'pg';
import type { BenchPostgres } from './postgres.ts';

export interface DatabaseUse {
  readonly walBytes: number;
  readonly cpuSeconds: number;
  /** Growth of each table that grew, indexes included. */
  readonly bytes: Readonly<Record<string, number>>;
}

interface Probe {
  readonly lsn: string;
  readonly cpuSeconds: number;
  readonly sizes: ReadonlyMap<string, number>;
}

async function probe(client: pg.Client, postgres: BenchPostgres): Promise<Probe> {
  const { rows } = await client.query<{ name: string; size: string }>(
    `SELECT relname AS name, pg_total_relation_size(oid) AS size FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const { rows: wal } = await client.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn');
  return {
    lsn: wal[0]?.lsn ?? '0/0',
    cpuSeconds: postgres.cpuSeconds(),
    sizes: new Map(rows.map(({ name, size }) => [name, Number(size)])),
  };
}

/** Begins with a checkpoint, so that the first change of every page writes it whole into the WAL, as it does in practice. */
export async function useOf(
  client: pg.Client,
  postgres: BenchPostgres,
  work: () => Promise<void>,
): Promise<DatabaseUse> {
  await client.query('CHECKPOINT');
  const before = await probe(client, postgres);
  await work();
  const after = await probe(client, postgres);
  const { rows } = await client.query<{ bytes: string }>('SELECT $1::pg_lsn - $2::pg_lsn AS bytes', [
    after.lsn,
    before.lsn,
  ]);
  const grown = [...after.sizes]
    .map(([name, size]) => [name, size - (before.sizes.get(name) ?? 0)] as const)
    .filter(([, growth]) => growth > 0);
  return {
    walBytes: Number(rows[0]?.bytes),
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    bytes: Object.fromEntries(grown),
  };
}
