/** Builds, without a container engine, from the files that the image's build stage copies. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sourcesOfBuild } from '../support/sources-of-build.ts';

it('the build stage compiles from the files that it copies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of sourcesOfBuild()) cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, ['tools/build.mjs'], { cwd: folder, stdio: 'pipe' });
  const made = ['dist/src/server.js', 'dist/workflow-bundle.js', 'dist/dashboard/index.html'];
  expect(made.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
});
