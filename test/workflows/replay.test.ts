import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowTypes } from '../../src/workflows/contract.ts';
import { bundleWorkflows } from '../support/temporal.ts';

const root = resolve('test/histories');
const releases = readdirSync(root);
const histories = releases.flatMap((release) =>
  readdirSync(join(root, release)).map((file) => [release, file.replace('.json', '')] as const),
);

let workflowBundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  workflowBundle = await bundleWorkflows();
});

interface History {
  readonly events: readonly {
    readonly eventType: string;
    readonly workflowExecutionStartedEventAttributes?: { readonly workflowType: { readonly name: string } };
  }[];
}

const read = (release: string, name: string) =>
  JSON.parse(readFileSync(join(root, release, `${name}.json`), 'utf8')) as History;

describe('workflows that began on an earlier release go on with this code', () => {
  it('is tested with every type of workflow, and with campaigns that continued as a new run', () => {
    const events = histories.flatMap(([release, name]) => read(release, name).events);
    const types = events.map((event) => event.workflowExecutionStartedEventAttributes?.workflowType.name);
    // No release has left imports of contacts or comparisons of prices yet.
    const { contactImport, priceComparison, ...released } = workflowTypes;
    expect(types).toEqual(expect.arrayContaining(Object.values(released)));
    expect(types).not.toContain(contactImport);
    expect(types).not.toContain(priceComparison);
    const ends = events.map(({ eventType }) => eventType);
    expect(ends).toContain('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
  });

  it.each(histories)('%s %s', async (release, name) => {
    await expect(
      Worker.runReplayHistory({ workflowBundle }, read(release, name), `replay-${name}`),
    ).resolves.toBeUndefined();
  });

  it('would notice a step that is not in the history', async () => {
    const history = read(releases[0] ?? '', 'campaign-immediate');
    const changed = history.events.filter(({ eventType }) => !eventType.includes('ACTIVITY_TASK'));
    await expect(
      Worker.runReplayHistory({ workflowBundle }, { events: changed }, 'replay-changed'),
    ).rejects.toThrow();
  });
});
