import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createDeliveryStarts } from '../../../src/commands/webhooks/webhook-loops.ts';

type Dependencies = Parameters<typeof createDeliveryStarts>[0];
type Outcome = 'started' | 'here' | 'closed';
const limits = { starts: 8, slots: 20 };

/** Starts as `start` answers them; statements against the database are recorded. */
function fixture(start: () => Promise<Outcome>, sizes = limits) {
  const statements: string[] = [];
  const attempts = new EventEmitter();
  const dependencies = {
    orchestrator: { startWebhookDelivery: start },
    database: { query: async ({ sql }: { sql: string }) => void statements.push(sql) },
    logger: { warn: () => undefined },
  } as unknown as Dependencies;
  return { starts: createDeliveryStarts(dependencies, sizes, attempts), statements, attempts };
}

const settled = () => sleep(20);

it('holds a start slot until the attempt begins, before the answer of the server or after it', async () => {
  const { starts, attempts } = fixture(async () => 'here');
  expect(starts.freeSlots()).toEqual({ fast: 8, slow: 2 });
  for (const id of ['a', 'b', 'c']) starts.start({ id, slow: false });
  attempts.emit('begun a');
  await settled();
  expect(starts.freeSlots()).toEqual({ fast: 6, slow: 2 });
  for (const id of ['b', 'c']) attempts.emit(`begun ${id}`);
  await starts.drain();
  expect(starts.freeSlots()).toEqual({ fast: 8, slow: 2 });
});

it('holds a delivery slot until the attempt ends', async () => {
  const { starts, attempts } = fixture(async () => 'here', { starts: 8, slots: 8 });
  const ids = Array.from({ length: 8 }, (_, index) => String(index));
  for (const id of ids) starts.start({ id, slow: false });
  for (const id of ids) attempts.emit(`begun ${id}`);
  await starts.drain();
  expect(starts.freeSlots().fast).toBe(0);
  for (const id of ids) attempts.emit(`ended ${id}`);
  await settled();
  expect(starts.freeSlots().fast).toBe(8);
  expect(attempts.eventNames()).toEqual([]);
});

it('gives slow endpoints a quarter of the slots, beside those of fast ones', async () => {
  const { starts, attempts } = fixture(async () => 'here');
  for (const id of ['a', 'b']) starts.start({ id, slow: true });
  expect(starts.freeSlots()).toEqual({ fast: 8, slow: 0 });
  for (const id of ['a', 'b']) attempts.emit(`begun ${id}`);
  await starts.drain();
  for (const id of ['c', 'd', 'e']) {
    starts.start({ id, slow: true });
    attempts.emit(`begun ${id}`);
    await starts.drain();
  }
  // A quarter of twenty slots hang.
  expect(starts.freeSlots()).toEqual({ fast: 8, slow: 0 });
  for (const id of ['a', 'b', 'c', 'd', 'e']) attempts.emit(`ended ${id}`);
  await settled();
  expect(starts.freeSlots()).toEqual({ fast: 8, slow: 2 });
});

it('frees the slots of a workflow that begins in another process', async () => {
  const { starts, attempts } = fixture(async () => 'started');
  starts.start({ id: 'a', slow: false });
  await settled();
  expect(starts.freeSlots().fast).toBe(7);
  await starts.drain();
  await settled();
  expect(starts.freeSlots().fast).toBe(8);
  expect(attempts.eventNames()).toEqual([]);
});

it('returns a delivery to the queue and pauses when Temporal does not answer', async () => {
  const { starts, statements } = fixture(() => Promise.reject(new Error('away')));
  starts.start({ id: 'a', slow: false });
  await starts.drain();
  expect(statements).toHaveLength(1);
  expect(statements[0]).toContain('SET dispatched_at = NULL');
  expect(starts.freeSlots()).toEqual({ fast: 0, slow: 0 });
});

it('ends a delivery whose workflow closed without an attempt', async () => {
  const { starts, statements } = fixture(async () => 'closed');
  starts.start({ id: 'a', slow: false });
  await starts.drain();
  expect(statements).toHaveLength(1);
  expect(statements[0]).toContain('interrupted');
});

it('waits until half of the start slots are free', async () => {
  const { starts, attempts } = fixture(async () => 'here', { starts: 2, slots: 20 });
  for (const id of ['a', 'b']) starts.start({ id, slow: false });
  let isHalfFree = false;
  const waiting = starts.untilHalfFree().then(() => {
    isHalfFree = true;
  });
  await settled();
  expect(isHalfFree).toBe(false);
  attempts.emit('begun b');
  await waiting;
  expect(isHalfFree).toBe(true);
});
