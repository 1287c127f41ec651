import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createDeliveryStarts } from '../../../src/commands/webhooks/start-deliveries.ts';

type Dependencies = Parameters<typeof createDeliveryStarts>[0];
const options = { fewest: 2, most: 10, targetMs: 500, aloneMs: 1_000, slow: 2 };

/** A server whose answers take as long as the test says; what is asked of the database is counted. */
function fixture(start: () => Promise<'started' | 'here' | 'closed'>) {
  const statements: string[] = [];
  const begun = new EventEmitter();
  const dependencies = {
    orchestrator: { startWebhookDelivery: start },
    database: { query: async ({ sql }: { sql: string }) => void statements.push(sql) },
    logger: { warn: () => undefined },
  } as unknown as Dependencies;
  return { starts: createDeliveryStarts(dependencies, options, begun), statements, begun };
}

it('starts more at a time while starts are quick and others wait, and half as many after a slow one', async () => {
  let takesMs = 0;
  const { starts } = fixture(async () => {
    if (takesMs > 0) await sleep(takesMs);
    return 'started';
  });
  const round = async (count: number) => {
    for (let id = 0; id < count; id += 1) starts.start({ id: String(id), slow: false, alone: false });
    await starts.drain();
    return starts.room();
  };
  for (let lone = 0; lone < 100; lone += 1) expect(await round(1)).toBe(2);
  for (let busy = 0; busy < 200; busy += 1) await round(starts.room());
  expect(starts.room()).toBe(10);
  takesMs = 700;
  expect(await round(10)).toBe(5);
  expect(await round(5)).toBe(2);
  expect(await round(2)).toBe(2);
});

it('keeps the places of slow endpoints apart and few', async () => {
  let finish = (): void => undefined;
  const blocked = new Promise<'started'>((resolve) => {
    finish = () => resolve('started');
  });
  const { starts } = fixture(() => blocked);
  expect(starts.slowRoom()).toBe(1);
  starts.start({ id: 'a', slow: true, alone: false });
  expect([starts.room(), starts.slowRoom()]).toEqual([1, 0]);
  finish();
  await starts.drain();
  expect([starts.room(), starts.slowRoom()]).toEqual([2, 1]);
  while (starts.room() < 10) {
    for (let room = starts.room(); room > 0; room -= 1) starts.start({ id: 'b', slow: false, alone: false });
    await starts.drain();
  }
  expect(starts.slowRoom()).toBe(2);
});

it('gives a delivery back and rests when Temporal is away', async () => {
  const { starts, statements } = fixture(() => Promise.reject(new Error('away')));
  starts.start({ id: 'a', slow: false, alone: false });
  await starts.drain();
  expect(statements).toHaveLength(1);
  expect(statements[0]).toContain('SET dispatched_at = NULL');
  expect(starts.room()).toBe(0);
});

it('ends a delivery whose workflow has run and left it undialled', async () => {
  const { starts, statements } = fixture(async () => 'closed');
  starts.start({ id: 'a', slow: false, alone: false });
  await starts.drain();
  expect(statements).toHaveLength(1);
  expect(statements[0]).toContain('interrupted');
});

it('counts one that begins in this process until its attempt begins, before the answer or after it', async () => {
  const { starts, begun } = fixture(async () => 'here');
  starts.start({ id: 'a', slow: false, alone: false });
  starts.start({ id: 'b', slow: false, alone: false });
  begun.emit('a');
  await sleep(20);
  expect(starts.room()).toBe(1);
  begun.emit('b');
  await starts.drain();
  expect(starts.room()).toBe(2);
  expect(begun.eventNames()).toEqual([]);
});

it('takes the way to the attempt for part of the start', async () => {
  const { starts, begun } = fixture(async () => 'here');
  const round = async (waitMs: number, alone = false) => {
    const count = starts.room();
    for (let id = 0; id < count; id += 1) starts.start({ id: String(id), slow: false, alone });
    await sleep(waitMs);
    for (let id = 0; id < count; id += 1) begun.emit(String(id));
    await starts.drain();
    return starts.room();
  };
  while ((await round(0)) < 10);
  expect(await round(700, true)).toBe(10);
  expect(await round(700)).toBe(5);
});

it('waits until half of the places are free', async () => {
  const resolvers: (() => void)[] = [];
  const { starts } = fixture(
    () =>
      new Promise((resolve) => {
        resolvers.push(() => resolve('started'));
      }),
  );
  for (const id of ['a', 'b']) starts.start({ id, slow: false, alone: false });
  let isThereRoom = false;
  const waiting = starts.untilRoom().then(() => {
    isThereRoom = true;
  });
  await sleep(20);
  expect(isThereRoom).toBe(false);
  resolvers.pop()?.();
  await waiting;
  expect(isThereRoom).toBe(true);
});
