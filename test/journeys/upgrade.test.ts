import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findPreviousRelease } from '../../local/rehearsals/upgrade/previous-release.ts';

const limitMs = 400_000;

it(
  'replaces the previous release in mid-send without losing or doubling a recipient',
  async () => {
    const previous = await findPreviousRelease(resolve('.'));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [resolve('tools/run-built.mjs'), 'local/rehearsals/upgrade/main.js'],
      { timeout: limitMs },
    ).catch((error: Error & { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`The rehearsal failed:\n${error.stdout}${error.stderr}`);
    });
    expect(stdout).toContain('lost 0, doubled 0, unknown 0; the provider took 1300 of 1300');
    // Without an earlier release the rehearsal says so and uses this one in its place.
    expect(stdout).toContain(
      'release' in previous ? `Upgrading from release ${previous.release.version}` : previous.missing,
    );
  },
  limitMs,
);
