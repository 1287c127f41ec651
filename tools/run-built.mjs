/**
 * Builds when needed, then runs a compiled entry point in this very process, so that signals reach it directly. The build runs
 * in a separate process: the memory of the bundler is free again when it ends.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isCurrent } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) throw new Error('run-built.mjs needs the path of an entry point inside dist/');

if (!isCurrent()) {
  const build = spawnSync(process.execPath, [join(root, 'tools', 'build.mjs')], { stdio: 'inherit' });
  if (build.status !== 0) process.exit(1);
}
const path = join(root, 'dist', entry);
process.argv = [process.execPath, path, ...args];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(path).href);
