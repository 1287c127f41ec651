import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeLoadConnections, openLoadConnection } from '../../src/records/database/load-connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPgbouncer, type Pgbouncer } from '../support/pgbouncer.ts';

let database: TestDatabase;
let pgbouncer: Pgbouncer;

beforeAll(async () => {
  database = await createTestDatabase();
  pgbouncer = await startPgbouncer(database.url, { serverConnections: 2 });
});
afterAll(async () => {
  await closeLoadConnections(pgbouncer.url);
  await pgbouncer?.stop();
  await database.drop();
});

test('leaves no limit and no name on the sessions that a pooler hands to others', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `load-${index}`);
  const waiting = [...names];
  const lane = async (): Promise<void> => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const load = await openLoadConnection(pgbouncer.url, name);
      const settings = await load.rows(
        `SELECT current_setting('application_name'), current_setting('statement_timeout')`,
      );
      expect(settings).toEqual([[name, '0']]);
      await load.commit();
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  const other = await openLoadConnection(pgbouncer.url, 'other');
  await other.rows('COMMIT');
  expect(await other.rows(`SELECT current_setting('idle_in_transaction_session_timeout')`)).not.toEqual([
    ['2min'],
  ]);
  other.destroy();
});
