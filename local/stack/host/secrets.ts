/** Secrets of a development stack, made once per data folder. Secrets in the environment take precedence. */
import { randomBytes } from 'node:crypto';
import { readJson, writePrivateJson } from './private-file.ts';
import { StackError } from '../error.ts';
import type { Environment } from './user-cache.ts';

export const stackSecretNames = [
  'KEY_PEPPER',
  'SECRETS_KEY',
  'PROVIDER_APP_SECRET',
  'PROVIDER_VERIFY_TOKEN',
] as const;
export type StackSecrets = Readonly<Record<(typeof stackSecretNames)[number], string>>;

export function loadStackSecrets(file: string, environment: Environment): StackSecrets {
  const stored = readStored(file);
  const secrets = Object.fromEntries(
    stackSecretNames.map((name) => [name, stored[name] ?? randomBytes(32).toString('hex')]),
  );
  if (stackSecretNames.some((name) => stored[name] === undefined)) writePrivateJson(file, secrets);
  const entries = stackSecretNames.map((name) => [name, environment[name] || secrets[name]]);
  return Object.fromEntries(entries) as StackSecrets;
}

function readStored(file: string): Readonly<Record<string, string | undefined>> {
  const stored = readJson(file);
  if (stored === undefined) return {};
  if (typeof stored === 'object' && stored !== null) return stored as Record<string, string | undefined>;
  throw new StackError(`${file} is damaged: restore it, or move the data folder away to begin empty.`);
}
