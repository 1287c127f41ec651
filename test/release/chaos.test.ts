import { expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';

const chaos = 'local/rehearsals/chaos/main.js';

it('answers with clear errors and continues without help after every kind of outage', async () => {
  const options = ['--outage', 'all', '--seconds', '4', '--recipients', '1500', '--rate', '60'];
  const output = await runProgram(chaos, ...options);
  for (const line of ['lost 0, doubled 0', 'the books are sound', 'exit code 0'])
    expect(output).toContain(line);
}, 300_000);

it('accounts for every delivery of a campaign when the worker is killed while they queue', async () => {
  const options = ['--webhooks', '--recipients', '100', '--kills', '3', '--rate', '200'];
  const output = await runProgram(chaos, ...options);
  expect(output).toMatch(/kill 3: worker/);
  expect(output).toMatch(/delivered \d+ \+ interrupted \d+ = 300, doubled 0/);
  expect(output).toContain('Every delivery is accounted for, and none came twice.');
  expect(output).toContain('exit code 0');
}, 400_000);
