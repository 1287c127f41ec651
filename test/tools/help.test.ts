import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it.each([
  ['bench', 'Figures: '],
  ['check-chart', 'Checks ops/helm'],
  ['check-generated-clients', 'Names: '],
])('%s --help prints what it takes and does nothing else', (tool, text) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`tools/${tool}.mjs`, '--help'], {
    encoding: 'utf8',
    timeout: 5_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: npm run /);
  expect(stdout).toContain(text);
});

it.each(['bench', 'check-generated-clients'])('%s refuses an unknown name', (tool) => {
  const { status, stderr } = spawnSync(process.execPath, [`tools/${tool}.mjs`, 'nonsense'], {
    encoding: 'utf8',
    timeout: 5_000,
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Usage: npm run /);
});
