/** Where the `temporal` program comes from: PATH, the user's cache, the SDK's download, a Go build; else an error naming every way. */
import { join } from 'node:path';
import { buildTemporalWithGo, temporalCliVersion } from './go-build.ts';
import type { Progress } from '../progress.ts';
import { runTool } from '../host/run-tool.ts';
import { downloadWithSdk } from './sdk-download.ts';
import { StackError } from '../error.ts';
import { findOnPath, isExecutable, userCacheFolder, type Environment } from '../host/user-cache.ts';

export interface TemporalBinarySearch {
  readonly environment: Environment;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** The path of a program that runs. Throws StackError when no way leads to one. */
export async function findTemporalBinary({
  environment,
  progress,
  signal,
}: TemporalBinarySearch): Promise<string> {
  const cache = userCacheFolder(environment);
  const downloaded = join(cache, 'temporal-cli-sdk', 'temporal');
  const compiled = join(cache, `temporal-cli-${temporalCliVersion}`, 'temporal');
  const present = [findOnPath('temporal', environment), downloaded, compiled];
  for (const candidate of present) {
    if (candidate !== undefined && isExecutable(candidate) && (await runs(candidate, environment, signal)))
      return candidate;
  }

  progress.say('The Temporal server is not on this machine yet; trying the download of its SDK …');
  const downloadProblem = await downloadWithSdk({
    server: 'createLocal',
    target: downloaded,
    environment,
    signal,
  });
  if (downloadProblem === undefined) return downloaded;
  progress.say(`  No download: ${downloadProblem}.`);
  const buildProblem = await buildTemporalWithGo({ target: compiled, environment, progress, signal });
  if (buildProblem === undefined) return compiled;

  throw new StackError(
    `There is no Temporal server to start. The download of the SDK: ${downloadProblem}. The Go build: ${buildProblem}.\n` +
      'Do one of these and start again:\n' +
      '  1. set TEMPORAL_ADDRESS to a server that is running;\n' +
      '  2. put the "temporal" command on PATH (https://docs.temporal.io/cli);\n' +
      `  3. copy that program to ${compiled};\n` +
      '  4. let this machine reach https://temporal.download, from which the SDK downloads it;\n' +
      '  5. install Go 1.25 or newer (https://go.dev/dl), with which it is compiled from the Go module proxy.',
  );
}

/** A program for another machine, or half a file, is passed over. */
async function runs(program: string, environment: Environment, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(20_000)]);
  return (await runTool({ command: program, args: ['--version'], environment, signal: limit })).succeeded;
}
