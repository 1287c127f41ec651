/** docs/dependencies.md has a row for each package that package.json names. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Names = Readonly<Record<string, string>>;

it('names every dependency', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Names>
  >;
  const rows = readFileSync('docs/dependencies.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = new Set<string>();
  for (const row of rows) {
    let scope = '';
    // After `@scope/one` a bare name may stand for `@scope/name`.
    for (const [, name = ''] of (row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)) {
      if (name.startsWith('@')) scope = name.slice(0, name.indexOf('/') + 1);
      named.add(name).add(scope + name);
    }
  }
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const missing = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter((name) => !name.startsWith('@types/'))
    .filter((name) => !named.has(name) && !named.has(`${name.split('/')[0] ?? ''}/*`));
  expect(missing).toEqual([]);
});
