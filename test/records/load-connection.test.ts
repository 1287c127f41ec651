import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCopyRows } from '../../src/records/copy-rows.ts';
import { isWriteCollision, openLoadConnection } from '../../src/records/load-connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('tells of the failure that ended the transaction, whatever was under way behind it', async () => {
  const connection = await openLoadConnection(database.url, 'test');
  await connection.rows('BEGIN');
  await connection.rows('CREATE TABLE seat (number integer PRIMARY KEY)');
  await connection.rows('INSERT INTO seat VALUES (1)');
  const rows = createCopyRows(1);
  rows.beginRow();
  rows.int4(1);
  const collided = connection.copyRows('COPY seat FROM STDIN (FORMAT binary)', rows.take());
  const looked = connection.rows('SELECT number FROM seat');
  const outcomes = await Promise.allSettled([collided, looked]);
  connection.destroy();
  for (const outcome of outcomes) {
    expect(outcome.status === 'rejected' && isWriteCollision(outcome.reason)).toBe(true);
  }
});
