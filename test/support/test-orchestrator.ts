import type { Client } from '@temporalio/client';
import { orchestratorFor, type Orchestrator } from '../../src/orchestrator/orchestrator.ts';

/** The client stays the caller's. A server that has just been started on a busy machine takes its time over the first call. */
export function testOrchestrator(client: Client): Orchestrator {
  return orchestratorFor(client, () => Promise.resolve(), { callTimeoutMs: 60_000 });
}
