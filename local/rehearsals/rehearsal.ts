/**
 * Runs a rehearsal: parses its options, gives it a temporary folder and a signal for Ctrl-C, and reports the problems it found.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { StackError } from '../stack/error.ts';
import { createProgress, type Progress } from '../stack/progress.ts';
import { readStackSettings, type StackSettings } from '../stack/settings.ts';
import type { Environment } from '../stack/host/user-cache.ts';

export interface RehearsalContext {
  /** Absolute. */
  readonly folder: string;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly options: Options;
  /** Settings of a whole stack in `folder` on free ports. Throws StackError for an invalid environment. */
  readonly stackSettings: (environment: Environment, args?: readonly string[]) => StackSettings;
}

export interface Options {
  readonly text: (name: string) => string | undefined;
  /** Throws StackError. */
  readonly whole: (name: string, otherwise: number) => number;
  readonly has: (flag: string) => boolean;
}

interface Rehearsal {
  readonly name: string;
  /** Text of `--help`. */
  readonly usage: string;
  readonly options?: readonly string[];
  readonly flags?: readonly string[];
  /** Printed when the run found no problem. */
  readonly sound: string;
  /** Resolves to the problems found. */
  readonly run: (context: RehearsalContext) => Promise<readonly string[]>;
}

/** Runs a rehearsal as a program: exits 0 only when it found no problem. */
export async function rehearse(rehearsal: Rehearsal): Promise<never> {
  // A closed pipe (`| head`) must not end a program that has servers to stop.
  process.stdout.on('error', () => undefined);
  const progress = createProgress(process.stdout);
  try {
    const options = readOptions(rehearsal);
    if (options.has('help')) process.stdout.write(rehearsal.usage);
    else process.exitCode = (await play(rehearsal, progress, options)) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
  process.exit();
}

async function play({ name, sound, run }: Rehearsal, progress: Progress, options: Options): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), `messaging-campaigns-${name}-`));
  // The embedded Postgres may run as another user, who must traverse this folder.
  chmodSync(folder, 0o711);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const stackSettings: RehearsalContext['stackSettings'] = (environment, args = []) => {
    const given = { ...process.env, DATA_DIR: folder, PORT: '0', TEMPORAL_UI_PORT: '0', ...environment };
    const settings = readStackSettings(given, args, false);
    if ('help' in settings) throw new StackError('A rehearsal takes no --help of the stack');
    return settings;
  };
  try {
    const problems = await run({ folder, signal: interrupted.signal, progress, options, stackSettings });
    for (const problem of problems) progress.say(`NOT SOUND: ${problem}`);
    if (problems.length === 0) progress.say(sound);
    return problems.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOptions({ options = [], flags = [] }: Rehearsal): Options {
  const { values }: { readonly values: Readonly<Record<string, unknown>> } = parseArgs({
    options: Object.fromEntries([
      ...options.map((name) => [name, { type: 'string' as const }] as const),
      ...[...flags, 'help'].map((name) => [name, { type: 'boolean' as const }] as const),
    ]),
  });
  const text = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    text,
    has: (flag) => values[flag] === true,
    whole(name, otherwise) {
      const value = text(name);
      if (value !== undefined && !/^\d+$/.test(value))
        throw new StackError(`"${value}" is not a whole number`);
      return value === undefined ? otherwise : Number(value);
    },
  };
}
