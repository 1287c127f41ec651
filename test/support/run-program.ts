/** Runs a built program of local/ to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** Resolves to everything it printed, with `exit code N` as the last line. */
export async function runProgram(path: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [resolve('tools/run-built.mjs'), path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = await once(child, 'close');
  return `${output}\nexit code ${code}`;
}
