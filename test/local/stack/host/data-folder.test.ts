import { tryLock } from '#file-lock';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDataFolder } from '../../../../local/stack/host/data-folder.ts';
import { recordProcesses, stopOrphans } from '../../../../local/stack/children/orphans.ts';
import { readJson, writePrivateJson } from '../../../../local/stack/host/private-file.ts';
import { loadStackSecrets } from '../../../../local/stack/host/secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'data folder '));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('openDataFolder', () => {
  test('refuses a second start by naming the first, and lets it in after the release', () => {
    const path = join(folder, 'data');
    const first = openDataFolder(path);
    expect(() => openDataFolder(path)).toThrow(
      `Another start (process ${process.pid}) is using the data folder ${path}`,
    );
    first.release();
    openDataFolder(path).release();
  });

  test('takes over the lock of a process that is dead', () => {
    const path = join(folder, 'data');
    openDataFolder(path).release();
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    writeFileSync(join(path, 'start.lock'), JSON.stringify({ pid, identity: 'gone' }));
    expect(openDataFolder(path).path).toBe(path);
  });

  test('takes over the lock of a process id that was given to another process', () => {
    const path = join(folder, 'data');
    openDataFolder(path).release();
    writeFileSync(
      join(path, 'start.lock'),
      JSON.stringify({ pid: process.pid, identity: 'an earlier life' }),
    );
    expect(openDataFolder(path).path).toBe(path);
  });

  test('names the folder when a file stands in its place', () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    expect(() => openDataFolder(path)).toThrow(`The data folder ${path} cannot be used (it is not a folder)`);
  });
});

describe('tryLock', () => {
  test('gives a contended lock to exactly one of many processes', async () => {
    const script = `const { tryLock } = await import('#file-lock');
      const lock = tryLock(process.argv[1]);
      console.log(lock.release === undefined ? 'no' : 'yes');
      process.stdin.resume();`;
    const path = join(folder, 'lock');
    writeFileSync(path, JSON.stringify({ pid: 1, identity: 'gone' }));
    const children = Array.from({ length: 6 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', script, path]),
    );
    const answers = await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
    expect(answers.map(String).toSorted()).toEqual([...Array<string>(5).fill('no\n'), 'yes\n']);
    // They hold what they have until the last has asked.
    await Promise.all(
      children.map((child) => {
        child.stdin.end();
        return once(child, 'close');
      }),
    );
    expect(tryLock(path).release).toBeDefined();
  });
});

describe('stopOrphans', () => {
  test('stops a recorded process that still runs', async () => {
    const file = join(folder, 'processes.json');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    recordProcesses(file, { worker: child.pid ?? 0 });
    expect(await stopOrphans(file)).toEqual(['worker']);
    expect(await ended).toBe('SIGTERM');
  });

  test('leaves a process alone that only has the process id of a recorded one', async () => {
    const file = join(folder, 'processes.json');
    writePrivateJson(file, [{ name: 'worker', pid: process.pid, identity: 'an earlier life' }]);
    expect(await stopOrphans(file)).toEqual([]);
  });
});

describe('loadStackSecrets', () => {
  test('keeps its secrets in a file for the owner only, and prefers those of the environment', () => {
    const file = join(folder, 'secrets.json');
    const first = loadStackSecrets(file, {});
    expect(first.KEY_PEPPER).toMatch(/^[0-9a-f]{64}$/);
    expect(loadStackSecrets(file, {})).toEqual(first);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(loadStackSecrets(file, { PROVIDER_APP_SECRET: 'mine' })).toEqual({
      ...first,
      PROVIDER_APP_SECRET: 'mine',
    });
    expect(readJson(file)).toEqual(first);
  });
});
