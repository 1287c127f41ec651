/** Settings of `npm start` from the environment (decoded by config.ts, as in every process) and the command line. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, loadConfig, type Config } from '../../src/config.ts';
import { StackError } from './error.ts';
import { stackSecretNames } from './host/secrets.ts';
import type { Environment } from './host/user-cache.ts';

export interface StackSettings {
  /** Absolute. */
  readonly dataDir: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Undefined = 8233 when it is free, else any. */
  readonly temporalUiPort: number | undefined;
  /** Undefined = the embedded server. */
  readonly databaseUrl: string | undefined;
  readonly databaseOwnerUrl: string | undefined;
  readonly temporalAddress: string | undefined;
  readonly temporalNamespace: string;
  /** Undefined = the simulator. */
  readonly providerBaseUrl: string | undefined;
  readonly production: boolean;
  readonly logFormat: Config['logFormat'];
  readonly workers: number;
  /** Environment passed to the child processes in addition to the stack's own settings. */
  readonly environment: Environment;
}

const usage = `npm start [-- --workers <n>]

Starts the API, the workers and every server they need, and prints how to use them.
  --workers <n>   how many worker processes (1 to 16, default 1)
The environment variables are described in .env.example and docs/operations/configure.md.`;

/** `help` when that was asked for. Throws StackError naming every problem. */
export function readStackSettings(
  environment: Environment,
  args: readonly string[],
  terminal: boolean,
): StackSettings | { readonly help: string } {
  const flags = readFlags(args);
  if (flags.help === true) return { help: usage };
  const given = withDefaults(environment, terminal);
  const problems: string[] = [];
  const workers = wholeNumber(flags.workers ?? '1', { name: '--workers', min: 1, max: 16, problems });
  const uiPort = given['TEMPORAL_UI_PORT'];
  const temporalUiPort =
    uiPort === undefined
      ? undefined
      : wholeNumber(uiPort, { name: 'TEMPORAL_UI_PORT', min: 0, max: 65_535, problems });
  const config = decode(given, problems);
  return {
    dataDir: resolve(config.dataDir),
    host: config.host,
    port: config.port,
    temporalUiPort,
    databaseUrl: given['DATABASE_URL'] === undefined ? undefined : config.databaseUrl,
    databaseOwnerUrl: given['DATABASE_OWNER_URL'],
    temporalAddress: given['TEMPORAL_ADDRESS'],
    temporalNamespace: config.temporalNamespace,
    providerBaseUrl: given['PROVIDER_BASE_URL'] === undefined ? undefined : config.providerBaseUrl,
    production: config.production,
    logFormat: config.logFormat,
    workers,
    environment: given,
  };
}

function readFlags(args: readonly string[]): { readonly help?: boolean; readonly workers?: string } {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, workers: { type: 'string' } } as const;
    const { help, workers } = parseArgs({ args: [...args], options }).values;
    return { ...(help === undefined ? {} : { help }), ...(workers === undefined ? {} : { workers }) };
  } catch (error) {
    throw new StackError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** Empty means unset, but for the list of networks, which may be empty on purpose. */
function withDefaults(environment: Environment, terminal: boolean): Environment {
  const set = Object.entries(environment).filter(
    ([name, value]) => value !== '' || name === 'OUTBOUND_ALLOW_CIDRS',
  );
  const development = environment['NODE_ENV'] !== 'production';
  return {
    DATA_DIR: '.data',
    LOG_FORMAT: terminal ? 'pretty' : 'json',
    ...(development ? { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' } : {}),
    ...Object.fromEntries(set),
  };
}

/** Placeholder values for settings that the stack determines later, so that all others are validated before anything starts. */
function decode(given: Environment, problems: string[]): Config {
  const development = given['NODE_ENV'] !== 'production';
  const secrets = development
    ? Object.fromEntries(stackSecretNames.map((name) => [name, '0'.repeat(64)]))
    : {};
  const later = {
    DATABASE_URL: 'postgres://127.0.0.1/embedded',
    TEMPORAL_ADDRESS: '127.0.0.1:7233',
    PROVIDER_BASE_URL: 'http://127.0.0.1/v26.0',
  };
  try {
    const config = loadConfig({ ...later, ...secrets, ...given });
    if (problems.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.unshift(...error.problems);
  }
  throw new StackError(new ConfigError(problems).message);
}

function wholeNumber(
  value: string,
  { name, min, max, problems }: { name: string; min: number; max: number; problems: string[] },
): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  problems.push(`${name} must be a whole number from ${min} to ${max}, not "${value}"`);
  return min;
}
