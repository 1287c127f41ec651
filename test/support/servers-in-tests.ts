/** Which test files start Postgres or Temporal: those that reach what starts them by the imports of test/ and local/. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const starters = [
  'test/support/database.ts',
  'test/support/worker-process.ts',
  'local/stack/postgres/server.ts',
  'local/stack/temporal/test-server.ts',
];

/** `file` is relative to the root, with slashes. */
export function startsServers(file: string, seen = new Set<string>()): boolean {
  if (starters.includes(file)) return true;
  if (seen.has(file) || !/^(test|local)\//.test(file) || !existsSync(file)) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'(\.[^']+)';/gm)].some(
    ([, type, target = '']) =>
      type === undefined && startsServers(normalize(join(dirname(file), target)), seen),
  );
}
