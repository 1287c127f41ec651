/** A program from the Go module proxy, compiled once per machine and kept in the user's cache folder. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { waitForLock } from '#file-lock';
import type { Progress } from '../progress.ts';
import { runTool } from '../host/run-tool.ts';
import { StackError } from '../error.ts';
import { findOnPath, isExecutable, type Environment } from '../host/user-cache.ts';

export interface GoProgram {
  /** With its version: `example.com/a/cmd/program@v1.2.3`. */
  readonly module: string;
  /** Where it is kept. */
  readonly target: string;
}

export interface GoProgramSearch {
  readonly environment: Environment;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Does nothing when the program is there; a second caller waits for the first. Throws StackError when Go is missing or fails. */
export async function ensureGoProgram(search: GoProgramSearch, program: GoProgram): Promise<void> {
  const { module, target } = program;
  if (isExecutable(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  const release = await waitForLock(`${target}.lock`, (holder) =>
    search.progress.say(`Another process (${holder}) is compiling ${module}, waiting for it …`),
  );
  try {
    if (!isExecutable(target)) await compile(search, program);
  } finally {
    release();
  }
}

async function compile(
  { environment, progress, signal }: GoProgramSearch,
  { module, target }: GoProgram,
): Promise<void> {
  const go = findOnPath('go', environment) ?? ['/usr/local/go/bin/go'].find(isExecutable);
  if (go === undefined)
    throw new StackError(`Go 1.26 or newer is needed to compile ${module}: install it (https://go.dev/dl).`);
  progress.say(`Compiling ${module}: some minutes, once per machine …`);
  const draft = join(dirname(target), `.build-${process.pid}`);
  try {
    const { succeeded, tail } = await runTool({
      command: go,
      args: ['install', '-trimpath', '-ldflags=-s -w', module],
      environment: { ...environment, CGO_ENABLED: '0', GOBIN: draft, GOFLAGS: '-mod=mod', GOWORK: 'off' },
      cwd: '/',
      signal,
    });
    if (!succeeded) throw new StackError(`go install ${module} failed: ${tail.slice(-3).join(' | ')}`);
    renameSync(join(draft, /([^/]+)@/.exec(module)?.[1] ?? ''), target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
