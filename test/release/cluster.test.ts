import { expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';

// Needs patroni, etcd-server and haproxy; without them the rehearsal fails and names the command that installs them.
it('loses no recipient and sends to none twice when hosts of a cluster are killed', async () => {
  const output = await runProgram('local/rehearsals/chaos/main.js', '--cluster', '--seed', '1');
  expect(output).toContain('exit code 0');
}, 1_800_000);
