/** `npm run bench -- <figure> [options]`: builds when needed and runs dist/bench/<figure>.js; without a figure it lists them. */
import { readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { endWithUsage } from './usage.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const figures = readdirSync(join(root, 'bench'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3));
const [figure, ...options] = process.argv.slice(2);
if (figure === undefined || !figures.includes(figure))
  endWithUsage(`Usage: npm run bench -- <figure> [options]\nFigures: ${figures.join(', ')}\n`);
await ensureBuilt();
const path = join(root, 'dist', 'bench', `${figure}.js`);
process.argv = [process.execPath, path, ...options];
await import(pathToFileURL(path).href);
