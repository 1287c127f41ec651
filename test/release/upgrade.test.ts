import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { findPreviousRelease } from '../../local/rehearsals/upgrade/previous-release.ts';
import { runProgram } from '../support/run-program.ts';

it('replaces the previous release in mid-send without losing a recipient or sending to one twice', async () => {
  const previous = await findPreviousRelease(resolve('.'));
  const output = await runProgram('local/rehearsals/upgrade/main.js');
  expect(output).toContain('lost 0, doubled 0, unknown 0; the provider took 1300 of 1300');
  expect(output).toContain('exit code 0');
  // Without an earlier release the rehearsal says so and upgrades this checkout to itself.
  expect(output).toContain(
    'release' in previous ? `Upgrading from release ${previous.release.version}` : previous.missing,
  );
}, 400_000);
