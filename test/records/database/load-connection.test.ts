import { execFile } from 'node:child_process';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createCopyRows } from '../../../src/records/database/copy-rows.ts';
import {
  closeLoadConnections,
  isWriteCollision,
  openLoadConnection,
} from '../../../src/records/database/load-connection.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('rejects with the failure that ended the transaction, whatever was queued behind it', async () => {
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

test('keeps its transaction while the input is slow', async () => {
  const idleLimitMs = 3_000;
  const connection = await openLoadConnection(database.ownerUrl, 'test', idleLimitMs);
  await connection.rows('CREATE TABLE late (number integer)');
  await sleep(idleLimitMs + 1_000);
  await connection.rows('INSERT INTO late VALUES (1)');
  expect(await connection.rows('SELECT number FROM late')).toEqual([[1]]);
  await connection.commit();
});

test('loses its transaction when its process hangs', async () => {
  const connection = await openLoadConnection(database.url, 'test');
  expect(await connection.rows('SHOW idle_in_transaction_session_timeout')).toEqual([['2min']]);
  await connection.commit();
});

test('notices soon, on both ends, that the other end vanished', async () => {
  await closeLoadConnections(database.url);
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

const sessionOf = async (connection: Awaited<ReturnType<typeof openLoadConnection>>) => {
  const [[pid] = [0]] = await connection.rows<[number]>('SELECT pg_backend_pid()');
  return pid;
};
const sessions = async (pids: readonly number[]) =>
  database.pool.anyFirst(sql.type(row(t.type({ pid: t.number })))`
    SELECT pid FROM pg_stat_activity WHERE pid = ANY(${sql.array([...pids], 'int4')})`);

test('reuses a session under another application name, but only if its transaction was committed', async () => {
  await closeLoadConnections(database.url);
  const first = await openLoadConnection(database.url, 'first');
  const pid = await sessionOf(first);
  await first.commit();
  first.destroy();
  const second = await openLoadConnection(database.url, 'second');
  expect(await second.rows('SHOW application_name')).toEqual([['second']]);
  expect(await sessionOf(second)).toBe(pid);
  second.destroy();
  const third = await openLoadConnection(database.url, 'third');
  expect(await sessionOf(third)).not.toBe(pid);
  const broken = await openLoadConnection(database.url, 'broken');
  const brokenPid = await sessionOf(broken);
  await expect(broken.rows('SELECT 1 / 0')).rejects.toThrow();
  await expect(broken.commit()).rejects.toThrow();
  await third.commit();
  const fourth = await openLoadConnection(database.url, 'fourth');
  expect(await sessionOf(fourth)).not.toBe(brokenPid);
  await fourth.commit();
});

test('opens another session where the kept one is lost, and closes kept sessions', async () => {
  await closeLoadConnections(database.url);
  const first = await openLoadConnection(database.url, 'test');
  const pid = await sessionOf(first);
  await first.commit();
  await database.owner.query(sql.type(nothing)`SELECT pg_terminate_backend(${pid})`);
  const second = await openLoadConnection(database.url, 'test');
  const other = await sessionOf(second);
  expect(other).not.toBe(pid);
  await second.commit();
  expect(await sessions([other])).toEqual([other]);
  await closeLoadConnections(database.url);
  await vi.waitFor(async () => expect(await sessions([other])).toEqual([]), 30_000);
});

test('drops a session whose commit was not answered', async () => {
  await closeLoadConnections(database.url);
  const connection = await openLoadConnection(database.url, 'test');
  const pid = await sessionOf(connection);
  const committed = connection.commit();
  connection.destroy();
  await expect(committed).rejects.toThrow();
  const next = await openLoadConnection(database.url, 'test');
  expect(await sessionOf(next)).not.toBe(pid);
  await next.commit();
  await closeLoadConnections(database.url);
});

test('ends with code 0 when closing its connections is the last work of a process', async () => {
  const program = `
    import { closeLoadConnections, openLoadConnection } from './dist/src/records/database/load-connection.js';
    const connection = await openLoadConnection('${database.ownerUrl}', 'test');
    await connection.commit();
    await closeLoadConnections('${database.ownerUrl}');
    console.log('closed');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('closed\n');
});
