import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTemporal } from '../support/temporal.ts';

let temporal: TestWorkflowEnvironment;
beforeAll(async () => {
  temporal = await startTemporal();
});
afterAll(() => temporal.teardown());

it('every query in docs/operations/watch.md is accepted by a Temporal server unchanged', async () => {
  const page = readFileSync('docs/operations/watch.md', 'utf8');
  const table = page.slice(page.indexOf('| to find |'), page.indexOf('`CampaignStatus` is what'));
  const commands = [...page.matchAll(/--query "([^"]+)"/g)].map(([, query = '']) => query);
  const listed = [...table.matchAll(/`(Workflow[^`]+)`/g)].map(([, query = '']) => query);
  expect(listed.length).toBeGreaterThan(5);
  expect(commands.length).toBeGreaterThan(0);
  for (const query of [...listed, ...commands])
    expect(await temporal.client.workflow.count(query), query).toMatchObject({ count: 0 });
});
