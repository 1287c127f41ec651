/** Starts built programs as child processes. `crashSeam` is the module to preload that kills one after its n-th write. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

export interface StartedProgram {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves when it has ended: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Resolves when `text` was printed. */
  readonly says: (text: string) => Promise<void>;
}

export interface ProgramOptions {
  /** Path of the program, relative to the project. */
  readonly path: string;
  readonly args?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Path of a module that is loaded before the program. */
  readonly preload?: string;
}

const secrets = {
  PROVIDER_APP_SECRET: 'app-secret-of-the-outage-tests',
  PROVIDER_VERIFY_TOKEN: 'verify-token-of-the-tests',
  KEY_PEPPER: 'a pepper of the outage tests',
};

export const crashSeam = fileURLToPath(new URL('crash-seam.mjs', import.meta.url));

export function startProgram({ path, args = [], environment, preload }: ProgramOptions): StartedProgram {
  const imports = preload === undefined ? [] : ['--import', pathToFileURL(preload).href];
  const child = spawn(process.execPath, [...imports, resolve(path), ...args], {
    env: { PATH: process.env['PATH'], LOG_FORMAT: 'json', LOG_LEVEL: 'info', ...secrets, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const listen of listeners) listen();
    });
  }
  const ended = new Promise<number | NodeJS.Signals>((done) => {
    child.once('close', (code, signal) => done(signal ?? code ?? 0));
  });
  return {
    child,
    output: () => output,
    ended,
    says: (text) =>
      new Promise((done, fail) => {
        const look = () => {
          if (output.includes(text)) done();
        };
        listeners.add(look);
        void ended.then((end) => fail(new Error(`The program ended with ${end}:\n${output}`)));
        look();
      }),
  };
}
