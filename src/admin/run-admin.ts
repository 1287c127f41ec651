/** Reads the command line, runs one command and prints its result: one JSON object unless the command formats it itself. */
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { withCallContext } from '../concurrency/call-context.ts';
import type { Environment } from '../config.ts';
import { isDatabaseAway, isForbidden, isTableMissing } from '../records/database/failure.ts';
import type { AdminCommand } from './admin-command.ts';
import { adminCommands } from './admin-commands.ts';
import { adminEnvironment, openAdminContext } from './admin-context.ts';

export interface AdminRun {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly sqlFolder: string;
  /** A secret option given as `-` is read from this stream; standard input by default. */
  readonly input?: Readable;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Returns the exit code: 1 with the problem on standard error, otherwise the command's own or 0. */
export async function runAdmin(run: AdminRun): Promise<0 | 1> {
  const [name, ...rest] = run.args;
  if (name === '--help' || name === '-h' || name === 'help') return print(run.out, usage(run.environment));
  const command = adminCommands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    run.err(`${name === undefined ? '' : `Unknown command: ${name}\n\n`}${usage(run.environment)}`);
    return 1;
  }
  try {
    const values = await readOptions(command, rest, run);
    if (values === 'help') return print(run.out, usageOf(command, run.environment));
    const environment = adminEnvironment(run.environment, command.needs);
    const { context, close } = await openAdminContext(environment, run.sqlFolder);
    try {
      const result = await withCallContext({ command: command.name }, () => command.run(context, values));
      const output = command.present?.(result, values) ?? { text: JSON.stringify(result), exitCode: 0 };
      print(run.out, `${output.text}\n`);
      return output.exitCode;
    } finally {
      await close();
    }
  } catch (error) {
    run.err(`${problemOf(error)}\n`);
    return 1;
  }
}

function print(out: (text: string) => void, text: string): 0 {
  out(text);
  return 0;
}

async function readOptions(
  command: AdminCommand,
  args: readonly string[],
  { environment, input = process.stdin }: Pick<AdminRun, 'environment' | 'input'>,
) {
  const names = Object.keys(command.options);
  const { values, tokens } = parse(command, args, environment);
  if (values.help === true) return 'help';
  const inOrder = tokens.flatMap((token) => (token.kind === 'option' ? token.name : []));
  const repeated = inOrder.find((name, at) => inOrder.indexOf(name) !== at);
  if (repeated !== undefined) throw misuse(command, `--${repeated} was given twice`, environment);
  const given: Record<string, string | undefined> = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : 'yes']),
  );
  for (const name of names) {
    const { secret, variable } = command.options[name] ?? {};
    if (secret === true && given[name] === '-') given[name] = (await textOf(input)).trim();
    if (variable !== undefined) given[name] ??= environment[variable];
  }
  const missing = names.filter((name) => isRequired(command, name) && given[name] === undefined);
  if (missing.length === 0) return given;
  throw misuse(command, `${missing.map((name) => `--${name}`).join(', ')} missing`, environment);
}

function parse(command: AdminCommand, args: readonly string[], environment: Environment) {
  const options = Object.keys(command.options).map(
    (name) => [name, { type: typeOf(command, name) }] as const,
  );
  try {
    return parseArgs({
      args: joinNegativeNumbers(args),
      options: { help: { type: 'boolean', short: 'h' }, ...Object.fromEntries(options) },
      tokens: true,
    });
  } catch (error) {
    throw misuse(command, problemOf(error), environment);
  }
}

/** The problem, followed by the options that the command takes. */
const misuse = (command: AdminCommand, problem: string, environment: Environment): Error =>
  new Error(`${problem}\n\n${usageOf(command, environment)}`);

function typeOf({ options }: AdminCommand, name: string): 'boolean' | 'string' {
  return options[name]?.flag === true ? 'boolean' : 'string';
}

function isRequired({ options }: AdminCommand, name: string): boolean {
  return options[name]?.optional !== true && options[name]?.flag !== true;
}

// parseArgs reads `--amount -5` as two options.
function joinNegativeNumbers(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    const follows = before !== undefined && /^--[a-z-]+$/.test(before);
    if (follows && /^-[\d.]/.test(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** How the caller runs commands, because the image has no npm scripts. */
const programOf = (environment: Environment): string =>
  environment['npm_lifecycle_event'] === 'admin' ? 'npm run --silent admin --' : 'node dist/src/admin.js';

function usage(environment: Environment): string {
  const width = Math.max(...adminCommands.map(({ name }) => name.length));
  const lines = adminCommands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    `Usage: ${programOf(environment)} <command> [options]`,
    '',
    ...lines,
    '',
    'Each prints one JSON object, doctor one line for each finding. They work on the database of DATABASE_URL, or without it on the stack that runs in DATA_DIR.',
    '<command> --help lists the options of a command.',
    '',
  ].join('\n');
}

function usageOf({ name, summary, options }: AdminCommand, environment: Environment): string {
  const entries = Object.entries(options);
  const width = Math.max(0, ...entries.map(([option]) => option.length));
  return [
    `Usage: ${programOf(environment)} ${name}${entries.length > 0 ? ' [options]' : ''}`,
    '',
    `  ${summary}`,
    '',
    ...entries.map(([option, { description, optional, flag }]) =>
      `  --${option.padEnd(width)}  ${description}${optional === true || flag === true ? ' (optional)' : ''}`.trimEnd(),
    ),
    '',
  ].join('\n');
}

// The sentence that a failed command prints: which server does not respond, or what the database lacks.

// UNAVAILABLE and DEADLINE_EXCEEDED of gRPC.
const away: readonly unknown[] = [14, 4];

export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (isTableMissing(error)) return `The database lacks tables of this build (${message}): run migrate`;
  if (isForbidden(error))
    return `Postgres: ${message}. Migrate as the schema's owner (DATABASE_OWNER_URL), then run the command again`;
  const call = [error, cause].find(isOfTemporal);
  if (call !== undefined)
    return `Temporal (TEMPORAL_ADDRESS) ${away.includes(call.code) ? 'does not answer' : 'refuses'}: ${call.details}`;
  return isDatabaseAway(error) ? `Postgres (DATABASE_URL): ${message}` : message;
}

/** The SDK's error of a failed call, or the cause of its own errors. Importing the SDK would slow down every command. */
function isOfTemporal(error: unknown): error is { readonly code: number; readonly details: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'number' &&
    'details' in error &&
    'metadata' in error
  );
}
