/** Compiles the `temporal` program from the Go module proxy: minutes, once per machine. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { waitForLock } from '#file-lock';
import type { Progress } from '../progress.ts';
import { runTool } from '../host/run-tool.ts';
import { findOnPath, isExecutable, type Environment } from '../host/user-cache.ts';

/** The newest version that `go install` accepts: later ones carry a `replace` directive. */
export const temporalCliVersion = '1.5.1';

const modulePath = `github.com/temporalio/cli/cmd/temporal@v${temporalCliVersion}`;
// Counted with `go list -deps`; the standard library is part of it. Only the progress display depends on them.
const moduleCount = 160;
const packageCount = 1_297;

export interface GoBuild {
  readonly target: string;
  readonly environment: Environment;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Undefined on success, else why not. A second caller waits for the first instead of building too. */
export async function buildTemporalWithGo({
  target,
  environment,
  progress,
  signal,
}: GoBuild): Promise<string | undefined> {
  const go =
    findOnPath('go', environment) ?? ['/usr/local/go/bin/go', '/usr/lib/go/bin/go'].find(isExecutable);
  if (go === undefined) return 'Go is not installed';
  mkdirSync(dirname(target), { recursive: true });
  const release = await waitForLock(`${target}.lock`, (holder) =>
    progress.say(`Another start (process ${holder}) is compiling the Temporal server, waiting for it …`),
  );
  try {
    if (isExecutable(target)) return undefined;
    return await build({ go, target, environment, progress, signal });
  } finally {
    release();
  }
}

async function build({
  go,
  target,
  environment,
  progress,
  signal,
}: GoBuild & { go: string }): Promise<string | undefined> {
  const draft = `${target}.build-${process.pid}`;
  progress.say(
    `Compiling the Temporal server with Go (${modulePath}): up to ten minutes, once per machine …`,
  );
  const started = Date.now();
  let modules = 0;
  let packages = 0;
  const onLine = (line: string) => {
    if (line.startsWith('go: downloading')) modules += 1;
    else if (/^[\w.-]+(\/[\w.~-]+)*$/.test(line)) packages += 1;
    const minutes = Math.floor((Date.now() - started) / 60_000);
    const seconds = Math.floor((Date.now() - started) / 1000) % 60;
    const step =
      packages === 0
        ? `${modules} of about ${moduleCount} modules downloaded`
        : `${packages} of about ${packageCount} packages compiled`;
    progress.update(`  Temporal server: ${step} (${minutes}:${String(seconds).padStart(2, '0')})`);
  };
  try {
    const { succeeded, tail } = await runTool({
      command: go,
      args: ['install', '-v', '-trimpath', '-ldflags=-s -w', modulePath],
      environment: { ...environment, CGO_ENABLED: '0', GOBIN: draft, GOFLAGS: '-mod=mod', GOWORK: 'off' },
      cwd: '/',
      onLine,
      signal,
    });
    if (!succeeded) return `go install failed: ${tail.slice(-3).join(' | ')}`;
    renameSync(join(draft, 'temporal'), target);
    progress.say(
      `Temporal server compiled in ${Math.round((Date.now() - started) / 1000)} s; it is kept in ${target}.`,
    );
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
