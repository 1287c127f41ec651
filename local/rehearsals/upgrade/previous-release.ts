/**
 * Finds the release to upgrade from: the newest tag `v…` before this commit, else the newest entry of ops/releases.json that
 * the clone contains. A shallow clone, or a copy without history, has none.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Release {
  readonly version: string;
  /** Its full id. */
  readonly commit: string;
}

export type Found = { readonly release: Release } | { readonly missing: string };

const run = promisify(execFile);

export async function findPreviousRelease(root: string): Promise<Found> {
  const git = async (...args: readonly string[]): Promise<string | undefined> => {
    try {
      return (await run('git', ['-C', root, ...args])).stdout.trim();
    } catch {
      return undefined;
    }
  };
  const head = await git('rev-parse', 'HEAD');
  if (head === undefined) return { missing: 'there is no git, or no history beside this copy' };

  const tags = (await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-v:refname')) ?? '';
  for (const tag of tags.split('\n').filter((line) => line !== '')) {
    const commit = await git('rev-parse', `${tag}^{commit}`);
    if (commit !== undefined && commit !== head) return { release: { version: tag.slice(1), commit } };
  }
  for (const release of recordedReleases(root)) {
    const known = (await git('cat-file', '-t', release.commit)) === 'commit';
    if (known && release.commit !== head) return { release };
  }
  const shallow = (await git('rev-parse', '--is-shallow-repository')) === 'true';
  return {
    missing: shallow
      ? 'this clone is shallow: `git fetch --unshallow --tags` brings the earlier releases'
      : 'this clone has no tag, and no commit of ops/releases.json',
  };
}

/** Newest first. */
function recordedReleases(root: string): readonly Release[] {
  const releases = JSON.parse(readFileSync(join(root, 'ops', 'releases.json'), 'utf8')) as readonly Release[];
  return releases.toReversed();
}
