import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('is accepted by Helm, and its objects by the types of Kubernetes, with the defaults and with everything on; unknown names and wrong types are refused', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['tools/check-chart.mjs']);
  expect(stdout.match(/objects are valid/g)).toHaveLength(2);
  expect(stdout).toContain('7 wrong values are refused');
}, 120_000);
