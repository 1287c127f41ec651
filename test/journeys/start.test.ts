import { processIdentity } from '#file-lock';
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DevFile } from '../../local/stack/dev-file.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

/** Other journeys kill API, worker and Temporal as well. */
const sampled = ['provider', 'postgres'] as const;
const everyCase = process.env['EVERY_CASE'] !== undefined;

const patience = { timeout: 60_000, interval: 100 };

async function status(url: string): Promise<number> {
  const { statusCode, body } = await request(url);
  await body.dump();
  return statusCode;
}

describe('npm start', { timeout: 180_000 }, () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startTestStack({ args: ['--workers', '2'], environment: { LOG_FORMAT: 'pretty' } });
  });
  afterAll(() => stack.remove());

  test('writes what a program needs to use the stack to a file that only the owner can read', () => {
    const fields =
      'apiKey baseUrl businessAccountId channelId dashboardUrl databaseUrl operatorKey phoneNumberId pids providerAppSecret ' +
      'providerUrl providerVerifyToken templateIds temporalAddress temporalNamespace temporalUiUrl workspaceId workspaceKey';
    expect(Object.keys(stack.dev).toSorted().join(' ')).toBe(fields);
    expect(Object.keys(stack.dev.pids).toSorted()).toEqual([
      'api',
      'postgres',
      'provider',
      'temporal',
      'worker',
    ]);
    expect(Object.keys(stack.dev.templateIds).length).toBeGreaterThan(5);
    expect(statSync(join(stack.dataDir, 'dev.json')).mode & 0o777).toBe(0o600);
  });

  test('prints no line of JSON when LOG_FORMAT is pretty', () => {
    expect(stack.output()).toContain('provider | ready at ');
    expect(stack.output()).not.toMatch(/^(\w+ *\| *)?\{/m);
  });

  test('serves the API and the Temporal Web UI', async () => {
    expect(await status(`${stack.dev.baseUrl}/readyz`)).toBe(200);
    expect(await status(stack.dev.temporalUiUrl ?? '')).toBe(200);
  });

  test('refuses a second start on the same data folder and leaves the first alone', async () => {
    await expect(startTestStack({ dataDir: stack.dataDir })).rejects.toThrow(
      `Another start (process ${stack.pid}) is using the data folder ${stack.dataDir}`,
    );
    expect(await status(`${stack.dev.baseUrl}/readyz`)).toBe(200);
  });

  test.each(everyCase ? (['api', 'worker', 'temporal', ...sampled] as const) : sampled)(
    'restarts a killed %s at the same address and writes its new process id to dev.json',
    async (name) => {
      const before = await stack.readDev();
      process.kill(before.pids[name] ?? 0, 'SIGKILL');
      await vi.waitFor(async () => {
        const { pids } = await stack.readDev();
        expect(pids[name]).not.toBe(before.pids[name]);
        expect(await status(`${before.baseUrl}/readyz`)).toBe(200);
      }, patience);
      const after = await stack.readDev();
      expect({ ...after, pids: {} }).toEqual({ ...before, pids: {} });
      expect(stack.output()).toContain(`${name} stopped unexpectedly`);
    },
  );

  test('recovers from its own sudden death, with the same keys, and ends with nothing left', async () => {
    const before = await stack.readDev();
    process.kill(stack.pid, 'SIGKILL');
    await vi.waitFor(() => expect(processIdentity(stack.pid)).toBeUndefined(), patience);
    stack = await startTestStack({ dataDir: stack.dataDir });
    const after = stack.dev;
    const keys = ({ apiKey, workspaceKey, operatorKey, channelId }: DevFile) => [
      apiKey,
      workspaceKey,
      operatorKey,
      channelId,
    ];
    expect(keys(after)).toEqual(keys(before));
    for (const pid of Object.values(before.pids)) expect(processIdentity(pid)).toBeUndefined();

    expect(await stack.stop()).toBe(0);
    for (const pid of Object.values(after.pids)) expect(processIdentity(pid)).toBeUndefined();
    expect(existsSync(join(stack.dataDir, 'dev.json'))).toBe(false);
  });

  test('names the variable to change when the port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as { port: number };
    await expect(startTestStack({ environment: { PORT: String(port) } })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use by another program: set PORT to another port`,
    );
    server.close();
  });
});
