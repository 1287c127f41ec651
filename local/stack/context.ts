/** State that the steps of a start share. */
import type { DemoIdentity } from '../demo/identity.ts';
import type { DataFolder } from './host/data-folder.ts';
import type { Progress } from './progress.ts';
import type { StackLog } from './log.ts';
import type { StackSettings } from './settings.ts';
import type { Supervisor } from './children/supervisor.ts';

export interface Servers {
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string | null;
  readonly providerUrl: string;
  readonly identity: DemoIdentity;
}

export interface StackOptions {
  readonly settings: StackSettings;
  readonly progress: Progress;
  readonly log: StackLog;
  /** Aborting ends a start that is still under way. */
  readonly signal: AbortSignal;
  /** Replaces the server addresses that API and workers get, for example by relays. */
  readonly reachThrough?: (servers: Servers) => Promise<Servers>;
}

export interface StackContext extends StackOptions {
  readonly folder: DataFolder;
  readonly supervisor: Supervisor;
}

export function workerNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? 'worker' : `worker-${index + 1}`));
}
