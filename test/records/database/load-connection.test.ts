import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createCopyRows } from '../../../src/records/database/copy-rows.ts';
import { isWriteCollision, openLoadConnection } from '../../../src/records/database/load-connection.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('tells of the failure that ended the transaction, whatever was under way behind it', async () => {
  const connection = await openLoadConnection(database.ownerUrl, 'test');
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

test('keeps its transaction while what it loads is long in coming', async () => {
  const idleLimitMs = 3_000;
  const connection = await openLoadConnection(database.ownerUrl, 'test', idleLimitMs);
  await connection.rows('CREATE TABLE late (number integer)');
  await sleep(idleLimitMs + 1_000);
  await connection.rows('INSERT INTO late VALUES (1)');
  expect(await connection.rows('SELECT number FROM late')).toEqual([[1]]);
  await connection.commit();
});

test('gives its transaction up when its process hangs', async () => {
  const connection = await openLoadConnection(database.url, 'test');
  expect(await connection.rows('SHOW idle_in_transaction_session_timeout')).toEqual([['2min']]);
  await connection.commit();
});

test('notices soon, on both ends, that the other end is gone without a word', async () => {
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  const connection = await openLoadConnection(database.url, 'test');
  expect(keepAlive).toHaveBeenCalledWith(true, 10_000);
  const settings = await connection.rows(`
    SELECT name, setting::int FROM pg_settings WHERE name LIKE 'tcp_keepalives_%' ORDER BY name`);
  expect(settings).toEqual([
    ['tcp_keepalives_count', 4],
    ['tcp_keepalives_idle', 10],
    ['tcp_keepalives_interval', 5],
  ]);
  await connection.commit();
});
