/**
 * Faults caused by another session of Postgres: it cancels the worker's statements, locks rows that the worker needs, or
 * shortens its time limit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { OutageTarget } from './outage-target.ts';

/** Begins a fault; resolves with the function that ends it. */
type Disturbance = (client: pg.Client, target: OutageTarget) => Promise<() => Promise<unknown>>;

/** One session of the owner, open from the beginning of the outage to its end. */
export function bySession(disturb: Disturbance) {
  let end = async (): Promise<void> => undefined;
  return {
    async begin(target: OutageTarget): Promise<void> {
      const client = new pg.Client({ connectionString: target.database.ownerUrl });
      await client.connect();
      const undo = await disturb(client, target);
      end = async () => {
        await undo();
        await client.end();
      };
    },
    end: () => end(),
  };
}

/** 20 ms: most statements last some milliseconds, and only a running one can be cancelled. */
const cancelEveryMs = 20;
const cancelledShare = 0.2;

/** `local/stack` gives each process its name as application_name. */
export const cancelStatements: Disturbance = async (client) => {
  const ended = new AbortController();
  const cancelling = (async () => {
    while (!ended.signal.aborted) {
      await client.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'worker%' AND state = 'active' AND random() < $1`,
        [cancelledShare],
      );
      await sleep(cancelEveryMs);
    }
  })();
  return () => {
    ended.abort();
    return cancelling;
  };
};

/** A transaction that an operator has forgotten to end. */
export const lockRows =
  (table: 'wallet' | 'recipient' | 'contact' | 'channel_rate'): Disturbance =>
  async (client) => {
    await client.query(`BEGIN; SELECT FROM ${table} FOR UPDATE`);
    return () => client.query('ROLLBACK');
  };

/** 3 ms: some statements end in time, others do not. */
const shortTimeout = '3ms';
/** The time limit that application-role.ts sets. */
const usualTimeout = '60s';

/** Role settings apply to new sessions, so the present ones are ended. */
export const shortenStatements: Disturbance = async (client, { database }) => {
  const role = client.escapeIdentifier(database.role);
  const limitTo = async (timeout: string): Promise<void> => {
    await client.query(
      `ALTER ROLE ${role} IN DATABASE ${client.escapeIdentifier(database.name)} SET statement_timeout = '${timeout}'`,
    );
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND pid <> pg_backend_pid()',
      [database.role],
    );
  };
  await limitTo(shortTimeout);
  return () => limitTo(usualTimeout);
};
