/** The built worker as a process that tests can kill. `npm test` builds first. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { testSecretsKey } from './campaign-factory.ts';

export interface WorkerProcess {
  /** Its log so far. */
  readonly output: () => string;
  /** SIGKILL, as the kernel or an operator would; resolves once it is gone. */
  readonly kill: () => Promise<void>;
  /** SIGTERM, as a rolling restart would; resolves once it is gone. */
  readonly stop: () => Promise<void>;
}

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Resolves when the worker says that it is ready; rejects with its output when it ends before that. */
export async function startWorkerProcess({
  databaseUrl,
  temporalAddress,
  environment = {},
}: WorkerProcessOptions): Promise<WorkerProcess> {
  // The workers of a database share a folder of files, which a database remembers: it is kept until the tests end.
  const dataDir = join(tmpdir(), `messaging-campaigns-worker-${new URL(databaseUrl).pathname.slice(1)}`);
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const child = spawn(process.execPath, [resolve('tools/run-built.mjs'), 'src/worker.js'], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      PROVIDER_BASE_URL: 'http://127.0.0.1:9/v23.0',
      PROVIDER_APP_SECRET: 'the app secret of a test',
      PROVIDER_VERIFY_TOKEN: 'the verify token of a test',
      KEY_PEPPER: 'the key pepper of a test',
      SECRETS_KEY: testSecretsKey,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_FORMAT: 'json',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = new Promise<void>((done) => {
    child.once('close', () => done());
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  const kill = () => end('SIGKILL');
  let output = '';
  const ready = new Promise<void>((done) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('"worker ready"')) done();
      });
    }
  });
  const isReady = await Promise.race([ready.then(() => true), gone.then(() => false)]);
  if (!isReady) {
    await kill();
    throw new Error(`The worker ended before it was ready:\n${output}`);
  }
  return { output: () => output, kill, stop: () => end('SIGTERM') };
}
