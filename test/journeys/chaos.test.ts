import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

it('loses and doubles nobody when processes are killed at random', async () => {
  const options = ['--recipients', '1500', '--kills', '5', '--rate', '100', '--seed', '7'];
  const child = spawn(
    process.execPath,
    [resolve('tools/run-built.mjs'), 'src/local-stack/chaos.js', ...options],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = await once(child, 'close');
  expect(output).toContain('lost 0, doubled 0');
  expect(output).toContain('the books are sound');
  expect(code).toBe(0);
}, 240_000);
