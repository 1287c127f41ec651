/** A transaction that was never ended holds a row of one workspace; other workspaces are still served. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

it('answers other workspaces and is ready while many requests of one wait for its wallet', async () => {
  const [held, other] = [await api.seedWorkspace(), await api.seedWorkspace()];
  const owner = new pg.Client({ connectionString: api.database.ownerUrl });
  await owner.connect();
  await owner.query('BEGIN');
  await owner.query('SELECT FROM wallet WHERE channel_id = $1 FOR UPDATE', [held.channelId]);
  // Twice as many as the process has connections.
  const waiting = Array.from({ length: 12 }, () =>
    api.send('POST', '/api/wallet/recharge', {
      key: held.operatorKey,
      body: { channel_id: held.channelId, amount: '1' },
    }),
  );
  await expect
    .poll(
      async () => {
        // pg_stat_activity is otherwise cached at its first read in a transaction.
        await owner.query('SELECT pg_stat_clear_snapshot()');
        const { rows } = await owner.query(
          `SELECT count(*)::int AS blocked FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows[0].blocked as number;
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(2);
  let answered = 0;
  for (const one of waiting) void one.then(() => (answered += 1));
  const contact = { phoneNumber: '+4915112345678' };
  const [ready, made] = await Promise.all([
    api.send('GET', '/readyz'),
    api.send('POST', '/api/contacts', { key: other.channelKey, body: contact }),
  ]);
  expect([ready.status, made.status]).toEqual([200, 201]);
  expect(answered).toBe(0);
  await owner.query('ROLLBACK');
  await owner.end();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(12).fill(200));
});
