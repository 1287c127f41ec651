import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('names the same version in every file that names one', () => {
  const read = (file: string) => readFileSync(file, 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const [newest] = [...read('CHANGELOG.md').matchAll(/^## \[(\d[^\]]*)\] - \d{4}-\d{2}-\d{2}$/gm)];
  expect(newest?.[1]).toBe(version);
  expect(JSON.parse(read('clients/typescript/package.json'))).toMatchObject({ version });
  expect(read('ops/helm/Chart.yaml')).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
});
