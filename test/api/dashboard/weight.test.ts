import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

it('sends at most 250 kB, compressed, before the first screen is drawn', async () => {
  const manifest = JSON.parse(await readFile('dist/dashboard/.vite/manifest.json', 'utf8')) as Record<
    string,
    Chunk
  >;
  const files = new Set(['index.html']);
  const add = (name: string): void => {
    const { file, css = [], imports = [] } = manifest[name] as Chunk;
    if (files.has(file)) return;
    for (const one of [file, ...css]) files.add(one);
    for (const one of imports) add(one);
  };
  for (const [name, chunk] of Object.entries(manifest)) if (chunk.isEntry === true) add(name);
  let bytes = 0;
  for (const file of files) bytes += gzipSync(await readFile(`dist/dashboard/${file}`), { level: 9 }).length;
  process.stderr.write(`first page: ${(bytes / 1000).toFixed(0)} kB gzip\n`);
  expect(files.size).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(250_000);
});
