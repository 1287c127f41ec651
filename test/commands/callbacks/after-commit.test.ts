import { expect, it } from 'vitest';
import { finishAfterCommit, nothingLeft } from '../../../src/commands/callbacks/after-commit.ts';

type Finishing = Parameters<typeof finishAfterCommit>[0];

it('waits for no sync of templates, and requests each account once at a time', async () => {
  const asked: string[] = [];
  let answer: () => void = () => undefined;
  const silent = {
    database: {},
    logger: { warn: () => undefined },
    orchestrator: {
      startTemplateSync: (account: string) => {
        asked.push(account);
        return new Promise<void>((resolve) => (answer = resolve));
      },
    },
  } as unknown as Finishing;
  const finish = () => finishAfterCommit(silent, { ...nothingLeft, resync: ['one', 'other'] });
  await finish();
  await finish();
  expect(asked).toEqual(['one', 'other']);
  answer();
});
