import { processIdentity } from '#file-lock';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChildSpec } from '../../../../local/stack/children/child.ts';
import { createSupervisor } from '../../../../local/stack/children/supervisor.ts';

let folder: string;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'supervisor-'));
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function childOf(script: string, changes: Partial<ChildSpec> = {}): Promise<ChildSpec> {
  const file = join(folder, 'child.mjs');
  await writeFile(file, script);
  let ready = false;
  return {
    name: 'child',
    command: process.execPath,
    args: [file],
    environment: { PATH: process.env['PATH'] },
    cwd: folder,
    output: {
      kind: 'lines',
      write: (line) => {
        lines.push(line);
        ready = true;
      },
    },
    watchParent: false,
    isReady: async () => ready,
    readyTimeoutMs: 10_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 2_000 }],
    explainFailure: (reason) => `The child did not start: ${reason}`,
    ...changes,
  };
}

function supervise() {
  const log: string[] = [];
  let restarts = 0;
  const supervisor = createSupervisor({
    log: (line) => log.push(line),
    onSpawn: () => undefined,
    onRestart: () => (restarts += 1),
  });
  return { supervisor, log, restarts: () => restarts };
}

const longLived = `console.log('up'); setInterval(() => undefined, 1000);`;

describe('supervisor', () => {
  test('starts a killed child again under another process id, with one line', async () => {
    const { supervisor, log, restarts } = supervise();
    await supervisor.start(await childOf(longLived));
    const first = supervisor.pids()['child'] ?? 0;
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(restarts()).toBe(1), 30_000);
    const second = supervisor.pids()['child'] ?? 0;
    expect(second).not.toBe(first);
    expect(log).toEqual([
      'child stopped unexpectedly (it was ended by SIGKILL), starting it again in 0.25 s',
    ]);
    await supervisor.stop();
    expect(processIdentity(second)).toBeUndefined();
  });

  test('rejects with the reason and leaves nothing behind when the child ends before it is ready', async () => {
    const { supervisor } = supervise();
    await expect(supervisor.start(await childOf('process.exit(7)'))).rejects.toThrow(
      'The child did not start: it ended with exit code 7',
    );
    expect(supervisor.pids()).toEqual({});
  });

  test('rejects when the program does not exist', async () => {
    const { supervisor } = supervise();
    const spec = await childOf(longLived, { command: join(folder, 'missing') });
    await expect(supervisor.start(spec)).rejects.toThrow('ENOENT');
  });

  test('lets a child finish when it drains within its time', async () => {
    const { supervisor } = supervise();
    await supervisor.start(
      // The child installs its signal handler before it prints.
      await childOf(`process.on('SIGTERM', () => setTimeout(() => { console.log('drained'); process.exit(0); }, 200));
        console.log('up'); setInterval(() => undefined, 1000);`),
    );
    await supervisor.stop();
    expect(lines).toEqual(['up', 'drained']);
  });

  test('ends a child that ignores the request to stop', async () => {
    const { supervisor } = supervise();
    const script = `process.on('SIGTERM', () => undefined); ${longLived}`;
    const spec = await childOf(script, { stopSignals: [{ signal: 'SIGTERM', waitMs: 100 }] });
    await supervisor.start(spec);
    const pid = supervisor.pids()['child'] ?? 0;
    await supervisor.stop();
    expect(processIdentity(pid)).toBeUndefined();
  });

  test('ends a start that is still under way when asked to stop', async () => {
    const { supervisor } = supervise();
    const spec = await childOf(longLived, { isReady: async () => false });
    const started = supervisor.start(spec).catch((error: unknown) => error);
    await vi.waitFor(() => expect(supervisor.pids()['child']).toBeDefined(), 30_000);
    const pid = supervisor.pids()['child'] ?? 0;
    await supervisor.stop();
    expect(await started).toBeInstanceOf(Error);
    expect(processIdentity(pid)).toBeUndefined();
  });
});
