/** The Temporal SDK's own way to get its servers: a download from temporal.download, where the network reaches it. */
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runTool } from '../host/run-tool.ts';
import { isExecutable, type Environment } from '../host/user-cache.ts';

export interface SdkDownload {
  readonly server: 'createLocal' | 'createTimeSkipping';
  /** Target path of the program. */
  readonly target: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

const probeTimeoutMs = 3_000;
const downloadTimeoutMs = 180_000;

/**
 * Resolves to undefined on success, else to the reason. Runs in a separate process, because the SDK's download cannot be
 * cancelled.
 */
export async function downloadWithSdk({
  server,
  target,
  environment,
  signal,
}: SdkDownload): Promise<string | undefined> {
  const proxied = environment['HTTPS_PROXY'] !== undefined || environment['https_proxy'] !== undefined;
  if (!proxied && !(await reachable('temporal.download', 443))) return 'temporal.download cannot be reached';
  const sdk = findSdk();
  if (sdk === undefined) return 'the package @temporalio/testing is not installed';

  const draft = `${target}.download-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const executable = JSON.stringify({ type: 'cached-download', downloadDir: draft });
  const script = `const { TestWorkflowEnvironment } = await import(${JSON.stringify(sdk)});
    const environment = await (TestWorkflowEnvironment ?? (await import(${JSON.stringify(sdk)})).default.TestWorkflowEnvironment)
      .${server}({ server: { executable: ${executable} } });
    await environment.teardown();`;
  try {
    const { succeeded, tail } = await runTool({
      command: process.execPath,
      args: ['--input-type=module', '--eval', script],
      environment,
      signal: AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]),
    });
    const program = readdirSync(draft)
      .map((name) => join(draft, name))
      .find(isExecutable);
    if (!succeeded || program === undefined)
      return tail.findLast((line) => /error/i.test(line)) ?? 'the download failed';
    mkdirSync(dirname(target), { recursive: true });
    chmodSync(program, 0o755);
    renameSync(program, target);
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function findSdk(): string | undefined {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve('@temporalio/testing')).href;
  } catch {
    return undefined;
  }
}

function reachable(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: probeTimeoutMs });
    const end = (result: boolean) => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(result);
    };
    // The socket's own time-out does not cover the look-up of the name.
    const deadline = setTimeout(() => end(false), probeTimeoutMs);
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
