/** One child process of the stack: started in its own session, waited for until it is usable, stopped within a bound. */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from '../error.ts';

export type ChildOutput =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'lines'; readonly write: (line: string) => void };

export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly output: ChildOutput;
  /** Open a channel over which the child notices that this process is gone. */
  readonly watchParent: boolean;
  /** Removes what a killed predecessor left. */
  readonly beforeStart?: () => Promise<void>;
  readonly isReady: (pid: number) => Promise<boolean>;
  readonly readyTimeoutMs: number;
  /** Signals sent in order, each with the time to wait; SIGKILL follows automatically. */
  readonly stopSignals: readonly { readonly signal: NodeJS.Signals; readonly waitMs: number }[];
  /** One sentence for a child that did not become ready; `reason` says how it ended. */
  readonly explainFailure: (reason: string) => string;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly stop: () => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

const readyPollMs = 25;

/** Starts the child without waiting for it to be usable: the caller registers it first, so that nothing is left behind. */
export async function spawnChild(spec: ChildSpec): Promise<RunningChild> {
  await spec.beforeStart?.();
  const logFile = spec.output.kind === 'file' ? openSync(spec.output.path, 'a', 0o600) : undefined;
  const stream = logFile ?? 'pipe';
  const stdio: StdioOptions = ['ignore', stream, stream, ...(spec.watchParent ? (['ipc'] as const) : [])];
  const child = spawn(spec.command, [...spec.args], {
    cwd: spec.cwd,
    env: spec.environment,
    stdio,
    detached: true,
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.gid === undefined ? {} : { gid: spec.gid }),
  });
  if (logFile !== undefined) closeSync(logFile);
  child.channel?.unref();
  forwardLines(child, spec.output);
  const exited = exitOf(child);
  if (child.pid === undefined) {
    const { error } = await exited;
    throw new StackError(spec.explainFailure(error?.message ?? 'it could not be run'));
  }
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return { pid: child.pid, exited, kill, stop: () => stopChild({ spec, kill, exited }) };
}

/** Resolves when the child is usable; rejects with a StackError when it ends or the time is up before that. */
export async function waitUntilReady(spec: ChildSpec, child: RunningChild): Promise<void> {
  let ended: ChildExit | undefined;
  void child.exited.then((exit) => (ended = exit));
  const deadline = Date.now() + spec.readyTimeoutMs;
  for (;;) {
    if (await spec.isReady(child.pid).catch(() => false)) return;
    if (ended !== undefined) throw new StackError(spec.explainFailure(describeExit(ended)));
    if (Date.now() > deadline) {
      throw new StackError(spec.explainFailure(`it was not ready within ${spec.readyTimeoutMs / 1000} s`));
    }
    await Promise.race([sleep(readyPollMs), child.exited]);
  }
}

export function describeExit({ code, signal }: ChildExit): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}

function exitOf(child: ChildProcess): Promise<ChildExit & { readonly error?: Error }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

function forwardLines(child: ChildProcess, output: ChildOutput): void {
  if (output.kind === 'file') return;
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream, crlfDelay: Infinity }).on('line', output.write);
  }
}

async function stopChild({
  spec,
  kill,
  exited,
}: {
  spec: ChildSpec;
  kill: (signal: NodeJS.Signals) => void;
  exited: Promise<ChildExit>;
}): Promise<void> {
  for (const { signal, waitMs } of spec.stopSignals) {
    kill(signal);
    if (await endsWithin(exited, waitMs)) return;
  }
  kill('SIGKILL');
  await endsWithin(exited, 5_000);
}

async function endsWithin(exited: Promise<ChildExit>, milliseconds: number): Promise<boolean> {
  const abort = new AbortController();
  const timeout = sleep(milliseconds, false, { signal: abort.signal }).catch(() => false);
  const ended = await Promise.race([exited.then(() => true), timeout]);
  abort.abort();
  return ended;
}
