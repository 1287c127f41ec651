import { expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/logger.ts';
import { runSteps } from '../../src/process/shutdown.ts';

const logger = createLogger({ logLevel: 'silent', logFormat: 'json' }, 'test');
const done = async () => undefined;

it('runs the steps one after the other', async () => {
  const order: string[] = [];
  const step = (name: string) => ({
    name,
    run: async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
    },
  });
  expect(await runSteps({ logger, deadlineMs: 1_000, steps: [step('a'), step('b')] })).toBe(0);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

it('runs the remaining steps when one fails or hangs, and returns exit code 1', async () => {
  let last = 0;
  const count = async () => {
    last += 1;
  };
  const fails = { name: 'fails', run: () => Promise.reject(new Error('no')) };
  const hangs = { name: 'hangs', run: () => new Promise<void>(() => undefined) };
  expect(await runSteps({ logger, deadlineMs: 1_000, steps: [fails, { name: 'last', run: count }] })).toBe(1);
  expect(await runSteps({ logger, deadlineMs: 20, steps: [hangs, { name: 'last', run: count }] })).toBe(1);
  expect(last).toBe(2);
  expect(await runSteps({ logger, deadlineMs: 20, steps: [{ name: 'done', run: done }] })).toBe(0);
});
