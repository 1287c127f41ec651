/** Builds when needed, then runs a compiled entry point in this very process, so that signals reach it directly. */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) throw new Error('run-built.mjs needs the path of an entry point inside dist/');

try {
  await ensureBuilt();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
const path = join(root, 'dist', entry);
process.argv = [process.execPath, path, ...args];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(path).href);
