import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** Resolves to what `npm run chaos` printed, with its exit code at the end. */
async function runChaos(...options: readonly string[]): Promise<string> {
  const program = [resolve('tools/run-built.mjs'), 'local/rehearsals/chaos/main.js'];
  const child = spawn(process.execPath, [...program, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = await once(child, 'close');
  return `${output}\nexit code ${code}`;
}

function expectSound(output: string): void {
  expect(output).toContain('lost 0, doubled 0');
  expect(output).toContain('the books are sound');
  expect(output).toContain('exit code 0');
}

it('loses and doubles nobody when processes are killed at random', async () => {
  expectSound(await runChaos('--recipients', '1500', '--kills', '5', '--rate', '100', '--seed', '7'));
}, 240_000);

it('answers with clear errors and goes on by itself, whatever was away for a while', async () => {
  expectSound(await runChaos('--outage', 'all', '--seconds', '4', '--recipients', '1500', '--rate', '60'));
}, 300_000);
