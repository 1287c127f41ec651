/** The built stack of `npm start`, on its own data folder and ports. `npm test` builds first. */
import { spawn } from 'node:child_process';
import { mkdtemp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DevFile } from '../../local/stack/dev-file.ts';

export interface TestStack {
  readonly dev: DevFile;
  readonly dataDir: string;
  /** The process id of the start itself. */
  readonly pid: number;
  /** Everything it printed so far. */
  readonly output: () => string;
  /** dev.json as it is now: process ids change when a child is started again. */
  readonly readDev: () => Promise<DevFile>;
  /** Sends SIGTERM and resolves to the exit code. Keeps the data folder. */
  readonly stop: () => Promise<number | null>;
  /** Stops and removes the data folder. */
  readonly remove: () => Promise<void>;
}

export interface TestStackOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Data folder of an earlier stack; default a new one. */
  readonly dataDir?: string;
}

const readyTimeoutMs = 480_000;

/** Resolves when the stack prints that it is ready; rejects with its output if the start fails. */
export async function startTestStack({
  environment,
  args = [],
  dataDir,
}: TestStackOptions = {}): Promise<TestStack> {
  const folder = dataDir ?? (await newDataDir());
  const child = spawn(process.execPath, [resolve('tools/run-built.mjs'), 'local/stack/start.js', ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
      DATA_DIR: folder,
      PORT: '0',
      TEMPORAL_UI_PORT: '0',
      LOG_FORMAT: 'json',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  let exitCode: number | null | undefined;
  const ended = new Promise<number | null>((done) => {
    child.once('close', (code) => {
      exitCode = code;
      done(code);
    });
  });
  const stop = async () => {
    if (exitCode === undefined) child.kill('SIGTERM');
    return ended;
  };
  // After a failed start, a folder that the caller gave is kept.
  const removeFolder = async () => {
    if (dataDir === undefined) await rm(resolve(folder, '..'), { recursive: true, force: true });
  };
  const fail = async (what: string): Promise<never> => {
    const logs = await endsOfLogs(join(folder, 'logs'));
    await removeFolder();
    throw new Error(`${what}:\n${output}\n${logs}`);
  };
  const readDev = async () => JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8')) as DevFile;
  const deadline = Date.now() + readyTimeoutMs;
  for (;;) {
    if (output.includes('Ready in')) break;
    if (exitCode !== undefined) await fail(`The stack ended with exit code ${exitCode}`);
    if (Date.now() > deadline) {
      await stop();
      await fail('The stack was not ready in time');
    }
    await sleep(50);
  }
  return {
    dev: await readDev(),
    dataDir: folder,
    pid: child.pid ?? 0,
    output: () => output,
    readDev,
    stop,
    remove: async () => {
      await stop();
      await rm(resolve(folder, '..'), { recursive: true, force: true });
    },
  };
}

async function newDataDir(): Promise<string> {
  const dataDir = join(await mkdtemp(join(tmpdir(), 'messaging campaigns stack ')), 'data');
  await mkdir(dataDir);
  return dataDir;
}

/** Returns the ends of the log files, which are removed with the data folder. */
async function endsOfLogs(folder: string): Promise<string> {
  const files = await readdir(folder).catch(() => []);
  const ends = files.map(
    async (file) => `${file} ends:\n${(await readFile(join(folder, file), 'utf8')).slice(-2_000)}`,
  );
  return (await Promise.all(ends)).join('\n');
}
