import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('generates clients that compile and work', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    resolve('tools/check-generated-clients.mjs'),
  ]);
  // Names the languages that were left out, and the programs that they need.
  process.stdout.write(stdout);
  expect(stdout).toMatch(/^typescript: generated, compiled and driven/m);
  expect(stdout).not.toContain('FAILED');
}, 900_000);
