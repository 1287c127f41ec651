/** The programs of a Temporal cluster on Postgres, compiled from the Go module proxy: about ten minutes, once per machine. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { waitForLock } from '#file-lock';
import type { Progress } from '../progress.ts';
import { runTool } from '../run-tool.ts';
import { StackError } from '../stack-error.ts';
import { findOnPath, isExecutable, userCacheFolder, type Environment } from '../user-cache.ts';

export const serverVersion = '1.32.0';
// The newest version in the module proxy that compiles without its own web build.
const uiVersion = '2.42.1';

const programs = {
  server: { file: 'temporal-server', module: `go.temporal.io/server/cmd/server@v${serverVersion}` },
  sqlTool: { file: 'temporal-sql-tool', module: `go.temporal.io/server/cmd/tools/sql@v${serverVersion}` },
  ui: { file: 'ui-server', module: `github.com/temporalio/ui-server/v2/cmd/server@v${uiVersion}` },
} as const;

/** Paths of programs that are there. */
export type ClusterBinaries = Readonly<Record<keyof typeof programs, string>>;

interface BinarySearch {
  readonly environment: Environment;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Throws StackError when Go is missing or fails. */
export async function findClusterBinaries(search: BinarySearch): Promise<ClusterBinaries> {
  const folder = join(userCacheFolder(search.environment), `temporal-cluster-${serverVersion}`);
  mkdirSync(folder, { recursive: true });
  const release = await waitForLock(join(folder, '.lock'), (holder) =>
    search.progress.say(`Another process (${holder}) is compiling the Temporal cluster, waiting for it …`),
  );
  try {
    const found: Record<string, string> = {};
    for (const [name, { file, module }] of Object.entries(programs)) {
      const target = join(folder, file);
      if (!isExecutable(target)) await build(search, { module, target });
      found[name] = target;
    }
    return found as ClusterBinaries;
  } finally {
    release();
  }
}

async function build(
  { environment, progress, signal }: BinarySearch,
  { module, target }: { readonly module: string; readonly target: string },
): Promise<void> {
  const go = findOnPath('go', environment) ?? ['/usr/local/go/bin/go'].find(isExecutable);
  if (go === undefined)
    throw new StackError(`Go 1.26 or newer is needed to compile ${module}: install it (https://go.dev/dl).`);
  progress.say(`Compiling ${module}: up to ten minutes, once per machine …`);
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
