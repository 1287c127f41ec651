import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

it('accounts for every delivery of a campaign when the worker is killed while they queue', async () => {
  const options = ['--webhooks', '--recipients', '100', '--kills', '3', '--rate', '200'];
  const child = spawn(
    process.execPath,
    [resolve('tools/run-built.mjs'), 'local/rehearsals/chaos/main.js', ...options],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = await once(child, 'close');
  expect(output).toMatch(/kill 3: worker/);
  expect(output).toMatch(/delivered \d+ \+ interrupted \d+ = 300, doubled 0/);
  expect(output).toContain('Every delivery is accounted for, and none came twice.');
  expect(code).toBe(0);
}, 400_000);
