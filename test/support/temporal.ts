/** Real Temporal servers for tests. A machine without one fails the test with the ways to get it; nothing is skipped. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { createProgress } from '../../src/local-stack/progress.ts';
import { findTemporalBinary } from '../../src/local-stack/temporal-binary.ts';
import { findTestServer } from '../../src/local-stack/test-server.ts';
import { searchAttributeNames } from '../../src/workflows/contract.ts';

const searchAttributes = [
  defineSearchAttributeKey(searchAttributeNames.workspaceId, SearchAttributeType.INT),
  defineSearchAttributeKey(searchAttributeNames.campaignStatus, SearchAttributeType.KEYWORD),
  defineSearchAttributeKey(searchAttributeNames.pauseReason, SearchAttributeType.KEYWORD),
];

/** The server of `npm start`, without persistence. Call `teardown()` in `afterAll`. */
export async function startTemporal(): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  const path = await findTemporalBinary(search());
  return TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'existing-path', path }, searchAttributes },
  });
}

/** A server whose clock jumps to the next timer. It serves one test at a time. Call `teardown()` in `afterAll`. */
export async function startTimeSkippingTemporal(): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  const path = await findTestServer(search());
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: environment.namespace ?? 'default',
    searchAttributes: {
      [searchAttributeNames.workspaceId]: 3,
      [searchAttributeNames.campaignStatus]: 2,
      [searchAttributeNames.pauseReason]: 2,
    },
  });
  return environment;
}

/** The workflows as the worker bundles them, from the sources; about a second, so once per test file. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
}

function search() {
  return {
    environment: process.env,
    progress: createProgress(process.stderr),
    signal: AbortSignal.timeout(30 * 60_000),
  };
}

function quietRuntime(): void {
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  } catch {
    // This test process has installed it already.
  }
}
