import type { Dependencies } from '../../dependencies.ts';

/** What a send step needs of the process. */
export type Sender = Pick<
  Dependencies,
  'config' | 'database' | 'provider' | 'secrets' | 'logger' | 'orchestrator' | 'now' | 'metrics'
>;
