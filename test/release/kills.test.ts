import { expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';

it('loses and doubles no recipient when processes are killed at random', async () => {
  const options = ['--recipients', '800', '--kills', '4', '--rate', '100', '--seed', '7'];
  const output = await runProgram('local/rehearsals/chaos/main.js', ...options);
  for (const line of ['lost 0, doubled 0', 'the books are sound', 'exit code 0'])
    expect(output).toContain(line);
}, 240_000);
