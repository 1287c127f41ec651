/** Holds locks of a test in a transaction of its own, as another process would, and sees who waits for a lock. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface LockHolder {
  /** Begins the transaction if none is open. */
  readonly hold: (statement: string, values?: readonly unknown[]) => Promise<void>;
  readonly release: () => Promise<void>;
  /** Resolves when `work` has ended, or when so many transactions of the database wait for a lock. */
  readonly untilWaiting: (transactions: number, work: Promise<unknown>) => Promise<void>;
  readonly end: () => Promise<void>;
}

export async function connectLockHolder(ownerUrl: string): Promise<LockHolder> {
  const [holder, watcher] = [1, 2].map(() => new pg.Client({ connectionString: ownerUrl })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([holder.connect(), watcher.connect()]);
  let isOpen = false;
  return {
    hold: async (statement, values = []) => {
      if (!isOpen) await holder.query('BEGIN');
      isOpen = true;
      await holder.query(statement, [...values]);
    },
    release: async () => {
      isOpen = false;
      await holder.query('COMMIT');
    },
    untilWaiting: async (transactions, work) => {
      const state = { ended: false };
      const end = () => (state.ended = true);
      work.then(end, end);
      while (!state.ended) {
        const { rows } = await watcher.query<{ waiting: number }>(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        if ((rows[0]?.waiting ?? 0) >= transactions) return;
        await sleep(10);
      }
    },
    end: async () => {
      await Promise.all([holder.end(), watcher.end()]);
    },
  };
}
