import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTcpRelay, throughRelay, type TcpRelay } from '../../src/local-stack/chaos/tcp-relay.ts';
import { isDatabaseUnavailable } from '../../src/records/database-failure.ts';
import { createDatabase } from '../../src/records/database.ts';
import { pingDatabase } from '../../src/records/ping.ts';
import { nothing } from '../../src/records/row.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
let relay: TcpRelay;
beforeAll(async () => {
  test = await createTestDatabase();
  const { hostname, port } = new URL(test.url);
  relay = await openTcpRelay({ host: hostname, port: Number(port) });
});
afterAll(async () => {
  await relay.close();
  await test.drop();
});

it('is there before Postgres is, refuses meanwhile as unavailable, and works once Postgres answers', async () => {
  await relay.set('gone');
  const database = await createDatabase(throughRelay(test.url, relay), 2);
  const refusal = await pingDatabase(database).catch((error: unknown) => error);
  expect(isDatabaseUnavailable(refusal)).toBe(true);
  await relay.set('open');
  await pingDatabase(database);
  await database.end();
});

it('gives up a statement that is never answered, in a transaction too, and takes another connection', async () => {
  const database = await createDatabase(throughRelay(test.url, relay), 2, 200);
  await pingDatabase(database);
  const under = database.transaction(async (transaction) => {
    await pingDatabase(transaction);
    await relay.set('silent');
    await transaction.query(sql.type(nothing)`SELECT`);
  });
  const [inTransaction, alone] = await Promise.allSettled([under, pingDatabase(database)]);
  await relay.set('gone');
  await relay.set('open');
  for (const outcome of [inTransaction, alone]) {
    expect(outcome.status).toBe('rejected');
    expect(outcome.status === 'rejected' && isDatabaseUnavailable(outcome.reason)).toBe(true);
  }
  const answers = () =>
    pingDatabase(database).then(
      () => true,
      () => false,
    );
  await expect.poll(answers, { timeout: 5_000 }).toBe(true);
  expect(database.state().acquiredConnections).toBe(0);
  await database.end();
}, 20_000);
