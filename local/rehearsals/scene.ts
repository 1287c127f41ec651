/** What chaos, drills and rehearsals work in: a folder that goes when they end, and a signal for Ctrl-C. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StackError } from '../stack/error.ts';
import { readStackSettings, type StackSettings } from '../stack/settings.ts';
import type { Environment } from '../stack/user-cache.ts';

export interface RehearsalGround {
  /** Absolute. */
  readonly folder: string;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Of a whole stack in the folder, on ports that are free. Throws StackError for what the environment holds. */
  readonly stackSettings: (environment: Environment, args?: readonly string[]) => StackSettings;
  readonly remove: () => void;
}

export function openRehearsalGround(name: string): RehearsalGround {
  const folder = mkdtempSync(join(tmpdir(), `messaging-campaigns-${name}-`));
  // The user of the embedded Postgres has to pass through.
  chmodSync(folder, 0o711);
  // A reader that has seen enough (`| head`) must not end what still has servers to stop.
  process.stdout.on('error', () => undefined);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return {
    folder,
    signal: interrupted.signal,
    stackSettings(environment, args = []) {
      const given = { ...process.env, DATA_DIR: folder, PORT: '0', TEMPORAL_UI_PORT: '0', ...environment };
      const settings = readStackSettings(given, args, false);
      if ('help' in settings) throw new StackError('A rehearsal takes no --help of the stack');
      return settings;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
