/** The quick starts run unchanged against a stack. The TypeScript ones run in published-client.test.ts. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  // Before the campaigns: the programs that catch up print their events.
  const { status } = await fetch(`${stack.dev.baseUrl}/api/workspace/event-feed`, {
    method: 'PUT',
    headers: { 'X-API-Key': stack.dev.operatorKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ enabled: true }),
  });
  if (status !== 200) throw new Error(`The event feed was not switched on: ${status}`);
});
const folder = mkdtempSync(join(tmpdir(), 'catch-up-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack?.remove();
});

const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const quickStarts = [
  ['curl', ['sh', 'curl.sh'], 'curl.sh'],
  ['python3', ['python3', 'python.py'], 'python.py'],
  ['go', ['go', 'run', './go/main.go'], './go/main.go'],
  ['php', ['php', 'quick-start.php'], 'catch-up.php'],
  ['java', ['java', 'QuickStart.java'], 'CatchUp.java'],
] as const;

// Left out rather than skipped: `npm test` counts a skipped test as failed.
const missing = quickStarts.map(([program]) => program).filter((program) => !isInstalled(program));
if (missing.length > 0)
  process.stderr.write(`Left out: quick starts of ${missing.join(', ')}, not installed here.\n`);

describe.each(quickStarts.filter(([program]) => isInstalled(program)))(
  'the quick start for %s',
  (name, [command, ...args], catchUp) => {
    it('sends a campaign and reports both outcomes', async () => {
      const { stdout } = await promisify(execFile)(command, args, {
        cwd: 'examples/quick-start',
        env: { ...process.env, BASE_URL: stack.dev.baseUrl, API_KEY: stack.dev.apiKey },
      });
      expect(stdout).toMatch(/^COMPLETED/);
      expect(stdout).toMatch(/4915112345678.*(ACCEPTED|SENT|DELIVERED|READ)/);
      expect(stdout).toMatch(/4915166131026.*FAILED.PROVIDER_131026/);
    });

    it('prints the events since its last run, each once', async () => {
      const run = async (): Promise<string> => {
        const { stdout } = await promisify(execFile)(command, [...args.slice(0, -1), catchUp], {
          cwd: 'examples/catch-up',
          env: {
            ...process.env,
            BASE_URL: stack.dev.baseUrl,
            API_KEY: stack.dev.apiKey,
            CURSOR_FILE: join(folder, name),
          },
        });
        return stdout;
      };
      // Statuses of the campaign may still arrive between the runs.
      const lines = `${await run()}${await run()}`.trim().split('\n');
      expect(lines.join('\n')).toMatch(/^[0-9a-f-]{36} sent$/m);
      for (const line of lines) expect(line).toMatch(/^[0-9a-f-]{36} [a-z._]+$/);
      expect(new Set(lines).size).toBe(lines.length);
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
