import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPreviousRelease } from '../../../local/rehearsals/upgrade/previous-release.ts';

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-releases-'));
  root = join(folder, 'repository');
  mkdirSync(join(root, 'ops'), { recursive: true });
  record([]);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function record(releases: readonly object[], at = root): void {
  writeFileSync(join(at, 'ops', 'releases.json'), JSON.stringify(releases));
}

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', ['-C', root, ...who, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** Returns its id. */
function commit(): string {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'one more');
  return git('rev-parse', 'HEAD');
}

it('takes the newest tag behind the commit, but not the commit’s own', async () => {
  git('init', '--quiet');
  commit();
  git('tag', 'v0.9.0');
  const second = commit();
  git('tag', 'v0.10.0');
  commit();
  git('tag', 'v0.11.0');
  expect(await findPreviousRelease(root)).toEqual({ release: { version: '0.10.0', commit: second } });
});

it('takes the newest recorded commit that the clone has when there are no tags', async () => {
  git('init', '--quiet');
  const first = commit();
  record([
    { version: '0.1.0', commit: first },
    { version: '0.2.0', commit: '0123456789012345678901234567890123456789' },
  ]);
  commit();
  expect(await findPreviousRelease(root)).toEqual({ release: { version: '0.1.0', commit: first } });
});

it('says what to do about a shallow clone', async () => {
  git('init', '--quiet');
  const first = commit();
  commit();
  const shallow = join(folder, 'shallow');
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, shallow], { stdio: 'pipe' });
  record([{ version: '0.1.0', commit: first }], shallow);
  expect(await findPreviousRelease(shallow)).toEqual({ missing: expect.stringContaining('--unshallow') });
});

it('says that there is no history beside a copy', async () => {
  expect(await findPreviousRelease(root)).toEqual({ missing: expect.stringContaining('no history') });
});
