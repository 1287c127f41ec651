import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createDeliveryStarts } from '../../../src/commands/webhooks/start-deliveries.ts';

type Dependencies = Parameters<typeof createDeliveryStarts>[0];
const options = { fewest: 2, most: 10, targetMs: 500, slow: 2 };

/** A server whose answers take as long as the test says; what is asked of the database is counted. */
function scene(start: () => Promise<'started' | 'closed'>) {
  const statements: string[] = [];
  const dependencies = {
    orchestrator: { startWebhookDelivery: start },
    database: { query: async ({ sql }: { sql: string }) => void statements.push(sql) },
    logger: { warn: () => undefined },
  } as unknown as Dependencies;
  return { starts: createDeliveryStarts(dependencies, options), statements };
}

it('starts fewer at a time while starts are slow, and more again when they are quick', async () => {
  let takesMs = 700;
  const { starts } = scene(async () => {
    if (takesMs > 0) await sleep(takesMs);
    return 'started';
  });
  const round = async (count: number) => {
    for (let id = 0; id < count; id += 1) starts.start({ id: String(id), slow: false });
    await starts.drain();
    return starts.room();
  };
  expect(starts.room()).toBe(10);
  expect(await round(8)).toBe(6);
  expect(await round(20)).toBe(2);
  takesMs = 0;
  expect(await round(30)).toBeGreaterThan(2);
  expect(await round(200)).toBe(10);
});

it('keeps the places of slow endpoints apart and few', async () => {
  let finish = (): void => undefined;
  const blocked = new Promise<'started'>((resolve) => {
    finish = () => resolve('started');
  });
  const { starts } = scene(() => blocked);
  expect(starts.slowRoom()).toBe(2);
  starts.start({ id: 'a', slow: true });
  starts.start({ id: 'b', slow: false });
  expect([starts.room(), starts.slowRoom()]).toEqual([8, 1]);
  finish();
  await starts.drain();
  expect([starts.room(), starts.slowRoom()]).toEqual([10, 2]);
});

it('gives a delivery back and rests when Temporal is away', async () => {
  const { starts, statements } = scene(() => Promise.reject(new Error('away')));
  starts.start({ id: 'a', slow: false });
  await starts.drain();
  expect(statements).toHaveLength(1);
  expect(statements[0]).toContain('SET dispatched_at = NULL');
  expect(starts.room()).toBe(0);
});

it('ends a delivery whose workflow has run and left it undialled', async () => {
  const { starts, statements } = scene(async () => 'closed');
  starts.start({ id: 'a', slow: false });
  await starts.drain();
  expect(statements).toHaveLength(1);
  expect(statements[0]).toContain('interrupted');
});

it('waits until half of the places are free', async () => {
  const resolvers: (() => void)[] = [];
  const { starts } = scene(
    () =>
      new Promise((resolve) => {
        resolvers.push(() => resolve('started'));
      }),
  );
  for (let id = 0; id < 8; id += 1) starts.start({ id: String(id), slow: false });
  let isThereRoom = false;
  const waiting = starts.untilRoom().then(() => {
    isThereRoom = true;
  });
  resolvers.splice(0, 2).forEach((resolve) => resolve());
  await sleep(20);
  expect(isThereRoom).toBe(false);
  resolvers.splice(0).forEach((resolve) => resolve());
  await waiting;
  expect(isThereRoom).toBe(true);
});
