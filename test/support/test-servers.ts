/** A database and a Temporal server of a test file, from before its first test until after its last. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll } from 'vitest';
import type { TestServers } from './campaign-fixture.ts';
import { createTestDatabase } from './database.ts';
import { bundleWorkflows } from './temporal.ts';

/** Call it at the top level of a test file; the returned function works in hooks and tests. */
export function openTestServers(startServer: () => Promise<TestWorkflowEnvironment>): () => TestServers {
  let servers: TestServers | undefined;
  let close = async (): Promise<void> => undefined;
  beforeAll(async () => {
    const [database, temporal, workflowBundle] = await Promise.all([
      createTestDatabase({ poolSize: 10 }),
      startServer(),
      bundleWorkflows(),
    ]);
    servers = { database: database.pool, databaseUrl: database.url, temporal, workflowBundle };
    close = async () => {
      await temporal.teardown();
      await database.drop();
    };
  });
  afterAll(() => close());
  return () => {
    if (servers === undefined)
      throw new Error('The servers are started in beforeAll: call this in a hook or a test');
    return servers;
  };
}
