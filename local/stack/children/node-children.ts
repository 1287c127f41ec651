/** How the stack runs its own Node programs: the API, the workers, the provider simulator. */
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { ChildOutput, ChildSpec } from './child.ts';
import type { Environment } from '../host/user-cache.ts';

export interface NodeChild {
  readonly name: string;
  /** Relative to the compiled root: `src/server.js`. */
  readonly entry: string;
  readonly environment: Environment;
  readonly output: ChildOutput;
  readonly isReady: () => Promise<boolean>;
  /** How long its drain may take. */
  readonly drainMs: number;
}

const compiledRoot = new URL('../../../', import.meta.url);

export function nodeChild({ name, entry, environment, output, isReady, drainMs }: NodeChild): ChildSpec {
  const guard = new URL('exit-with-parent.js', import.meta.url).href;
  return {
    name,
    command: process.execPath,
    args: ['--enable-source-maps', '--import', guard, fileURLToPath(new URL(entry, compiledRoot))],
    environment,
    cwd: process.cwd(),
    output,
    watchParent: true,
    isReady,
    readyTimeoutMs: 60_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: drainMs }],
    explainFailure: (reason) =>
      `The ${name} process did not start (${reason}): what it said is in the lines above.`,
  };
}

/** True when a GET is answered with 200. */
export async function answersOk(url: string): Promise<boolean> {
  const { statusCode, body } = await request(url, { headersTimeout: 2_000, bodyTimeout: 2_000 });
  await body.dump();
  return statusCode === 200;
}

/** True when something listens. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
