import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
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

const read = (release: string, name: string): unknown =>
  JSON.parse(readFileSync(join(root, release, `${name}.json`), 'utf8'));

describe('workflows that began on an earlier release go on with this code', () => {
  it.each(histories)('%s %s', async (release, name) => {
    await expect(
      Worker.runReplayHistory({ workflowBundle }, read(release, name), `replay-${name}`),
    ).resolves.toBeUndefined();
  });

  it('would notice a step that is not in the history', async () => {
    const history = read(releases[0] ?? '', 'campaign-immediate') as { events: { eventType: string }[] };
    const changed = history.events.filter(({ eventType }) => !eventType.includes('ACTIVITY_TASK'));
    await expect(
      Worker.runReplayHistory({ workflowBundle }, { events: changed }, 'replay-changed'),
    ).rejects.toThrow();
  });
});
