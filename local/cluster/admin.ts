/** Operator commands as an operator runs them: a process of their own, one JSON object on standard output. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Environment } from '../stack/host/user-cache.ts';

/** An empty option is a flag. */
export type Admin = (
  command: string,
  options?: Readonly<Record<string, string>>,
) => Promise<Readonly<Record<string, string>>>;

const ownEntry = fileURLToPath(new URL('../../src/admin.js', import.meta.url));

/** `entry` is the admin program of another release. */
export function createAdmin(environment: Environment, entry = ownEntry): Admin {
  return async (command, options = {}) => {
    const args = Object.entries(options).flatMap(([name, value]) =>
      value === '' ? [`--${name}`] : [`--${name}`, value],
    );
    const { stdout } = await promisify(execFile)(process.execPath, [entry, command, ...args], {
      env: environment,
    });
    const printed = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(Object.entries(printed).map(([name, value]) => [name, String(value)]));
  };
}
