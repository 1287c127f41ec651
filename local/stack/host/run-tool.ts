/** Runs a tool in its own process group, so that aborting it stops its children too. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Environment } from './user-cache.ts';

export interface ToolRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly cwd?: string;
  readonly onLine?: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface ToolResult {
  readonly succeeded: boolean;
  /** The last lines of its output, for an error message. */
  readonly tail: readonly string[];
}

const tailLength = 12;

/** Resolves also when the tool is missing, fails or is aborted; the tail says why. */
export function runTool({ command, args, environment, cwd, onLine, signal }: ToolRun): Promise<ToolResult> {
  if (signal.aborted) return Promise.resolve({ succeeded: false, tail: ['interrupted'] });
  return new Promise((resolve) => {
    const child = spawn(command, [...args], {
      cwd,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const tail: string[] = [];
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input, crlfDelay: Infinity }).on('line', (line) => {
        tail.push(line);
        if (tail.length > tailLength) tail.shift();
        onLine?.(line);
      });
    }
    const abort = () => endGroup(child.pid);
    signal.addEventListener('abort', abort, { once: true });
    child.once('error', (error) => tail.push(error.message));
    child.once('close', (code) => {
      signal.removeEventListener('abort', abort);
      resolve({ succeeded: code === 0 && !signal.aborted, tail });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The tool has already ended.
  }
}
