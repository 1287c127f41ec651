/** Links of the documents: the files and headings they point to exist. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The anchor that Git hosts make of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');
const read = (file: string): string => withoutCode(readFileSync(file, 'utf8'));
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const anchorsOf = (file: string): readonly string[] =>
  [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

it('every link of a document leads to a file and, if it names one, to a heading', () => {
  const documents = [
    ...readdirSync('.'),
    ...['docs', 'examples', 'clients/generated', 'clients/typescript', 'bench', 'ops'].flatMap((folder) =>
      readdirSync(folder, { encoding: 'utf8', recursive: true }).map((name) => join(folder, name)),
    ),
  ].filter((name) => name.endsWith('.md'));
  expect(documents.length).toBeGreaterThan(20);
  const broken: string[] = [];
  for (const file of documents) {
    for (const [, link = ''] of read(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (
        !exists(target) ||
        (anchor !== undefined && !(isFile(target) && anchorsOf(target).includes(anchor)))
      )
        broken.push(`${file}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});
