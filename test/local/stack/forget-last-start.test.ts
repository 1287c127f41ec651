import { tryLock } from '#file-lock';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'data folder '));
  writeFileSync(join(folder, 'dev.json'), '{}');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const forget = (): void => {
  execFileSync(process.execPath, ['tools/forget-last-start.mjs'], {
    env: { ...process.env, DATA_DIR: folder },
  });
};

describe('the cleanup before npm start', () => {
  test('removes the dev.json of a start that was killed, and leaves no lock', () => {
    writeFileSync(join(folder, 'start.lock'), JSON.stringify({ pid: 999_999_999, identity: 'x' }));
    forget();
    expect(existsSync(join(folder, 'dev.json'))).toBe(false);
    expect(existsSync(join(folder, 'start.lock'))).toBe(false);
  });

  test('leaves the dev.json of a living start', () => {
    const { release } = tryLock(join(folder, 'start.lock'));
    forget();
    expect(existsSync(join(folder, 'dev.json'))).toBe(true);
    release?.();
  });
});
