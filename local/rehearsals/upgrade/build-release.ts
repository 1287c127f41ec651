/** A release of this repository's history, unpacked and built beside the checkout. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../stack/host/run-tool.ts';
import { StackError } from '../../stack/error.ts';
import type { Environment } from '../../stack/host/user-cache.ts';
import type { Release } from './previous-release.ts';

export interface ReleaseBuild {
  readonly root: string;
  readonly release: Release;
  /** Empty or missing. */
  readonly folder: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/** Resolves when `<folder>/dist` is there. */
export async function buildRelease(build: ReleaseBuild): Promise<void> {
  const { root, release, folder } = build;
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'release.tar');
  const step = (command: string, args: readonly string[]) => runStep(build, command, args);
  await step('git', ['-C', root, 'archive', '--output', archive, release.commit]);
  await step('tar', ['-xf', archive, '-C', folder]);
  if (hasDependenciesOf(root, folder)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else await step('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  await step(process.execPath, [join(folder, 'tools', 'build.mjs')]);
}

/** True when node_modules of this checkout has every package of the release in the same version. */
function hasDependenciesOf(root: string, folder: string): boolean {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).every(
    ([name, version]) => installedVersion(root, name) === version,
  );
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function installedVersion(root: string, name: string): string | undefined {
  const file = join(root, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: string }).version;
}

async function runStep(
  { release, folder, environment, signal }: ReleaseBuild,
  command: string,
  args: readonly string[],
): Promise<void> {
  const { succeeded, tail } = await runTool({ command, args, environment, cwd: folder, signal });
  if (!succeeded) throw new StackError(`Release ${release.version} cannot be built: ${tail.join(' | ')}`);
}
