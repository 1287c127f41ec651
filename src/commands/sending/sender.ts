import type { Dependencies } from '../../dependencies.ts';

/** A send step needs these dependencies of the process. */
export type Sender = Pick<
  Dependencies,
  'config' | 'database' | 'provider' | 'secrets' | 'logger' | 'orchestrator' | 'now' | 'metrics'
>;
