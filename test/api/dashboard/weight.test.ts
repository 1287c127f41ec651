import { readdir, readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const folder = 'dist/dashboard';

it('sends at most 250 kB, compressed, before the overview is drawn', async () => {
  const manifest = JSON.parse(await readFile(`${folder}/.vite/manifest.json`, 'utf8')) as Record<
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
  add('index.html');
  add('src/screens/overview/overview.tsx');
  let bytes = 0;
  for (const file of files) bytes += gzipSync(await readFile(`${folder}/${file}`), { level: 9 }).length;
  process.stderr.write(`overview: ${(bytes / 1000).toFixed(0)} kB gzip\n`);
  expect(files.size).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(250_000);
});

it('sends the style sheet of every component of Mantine that it uses', async () => {
  const names = await readdir(`${folder}/assets`);
  const read = async (type: string): Promise<string> => {
    const found = names.filter((name) => name.endsWith(type));
    return (await Promise.all(found.map((name) => readFile(`${folder}/assets/${name}`, 'utf8')))).join('\n');
  };
  const classesOf = (text: string) => new Set(text.match(/\bm_[0-9a-f]{5,8}\b/g));
  const styled = classesOf(await read('.css'));
  const used = classesOf(await read('.js'));
  expect(used.size).toBeGreaterThan(100);
  expect([...used].filter((name) => !styled.has(name))).toEqual([]);
});
