import type { Client } from '@temporalio/client';
import { orchestratorFor, type Orchestrator } from '../../src/orchestrator/orchestrator.ts';

/** The caller closes the client. 60 s: a server that has just started answers its first call slowly on a busy machine. */
export function testOrchestrator(client: Client): Orchestrator {
  return orchestratorFor(client, () => Promise.resolve(), { callTimeoutMs: 60_000 });
}
