import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closedFolder, launchAs } from '../../../../local/stack/host/run-user.ts';

const stranger = { uid: 54_321, gid: 54_321 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-user-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('closedFolder', () => {
  test('names the outermost folder that another user may not enter', () => {
    const inner = join(folder, 'open', 'closed');
    mkdirSync(inner, { recursive: true });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'open'), 0o755);
    chmodSync(inner, 0o700);
    expect(closedFolder(join(inner, 'data'), stranger)).toBe(inner);
    chmodSync(folder, 0o700);
    expect(closedFolder(join(inner, 'data'), stranger)).toBe(folder);
  });

  test('finds none where only the last folder is closed, as it belongs to the user', () => {
    chmodSync(folder, 0o711);
    expect(closedFolder(join(folder, 'data'), stranger)).toBeUndefined();
  });
});

describe('launchAs', () => {
  test('changes nothing for a process that is not root', () => {
    const launch = launchAs(undefined, { command: 'postgres', args: ['-D', 'data'], paths: [folder] });
    expect(launch).toEqual({ command: 'postgres', args: ['-D', 'data'] });
  });

  test('runs as the user where every folder is open', () => {
    chmodSync(folder, 0o755);
    const launch = launchAs(stranger, { command: 'postgres', args: [], paths: [join(folder, 'data')] });
    expect(launch).toEqual({ command: 'postgres', args: [], ...stranger });
  });
});
