import { expect, it } from 'vitest';
import { watchFailures } from '../../src/process/worker-sdk-metrics.ts';

it('names the workflows whose tasks failed in the last two minutes, and no others', async () => {
  let text = '';
  let now = 0;
  const find = watchFailures(
    async () => text,
    () => now,
  );
  const series = (count: number) =>
    'temporal_workflow_task_execution_failed_total{failure_reason="NonDeterminismError",namespace="default",' +
    `task_queue="campaigns",workflow_type="campaign"} ${count}\n`;
  expect(await find()).toEqual([]);
  text = `temporal_request_total 7\n${series(1)}`;
  expect(await find()).toEqual(['workflow campaign: NonDeterminismError']);
  now = 119_000;
  expect(await find()).toHaveLength(1);
  text = series(2);
  expect(await find()).toHaveLength(1);
  now = 238_000;
  expect(await find()).toHaveLength(1);
  now = 240_000;
  expect(await find()).toEqual([]);
});

it('names none once the process has run for five minutes, so that a roll-back is not held up', async () => {
  let now = 0;
  let count = 0;
  const find = watchFailures(
    async () =>
      `temporal_workflow_task_execution_failed_total{failure_reason="NonDeterminismError",workflow_type="campaign"} ${(count += 1)}\n`,
    () => now,
  );
  expect(await find()).toHaveLength(1);
  now = 299_000;
  expect(await find()).toHaveLength(1);
  now = 301_000;
  expect(await find()).toEqual([]);
});
