/** Real Temporal servers for tests. A machine without one fails the test with the ways to get it; nothing is skipped. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pickFreePort } from '../../local/stack/host/free-port.ts';
import { listens } from '../../local/stack/children/node-children.ts';
import { createProgress } from '../../local/stack/progress.ts';
import { findTemporalBinary } from '../../local/stack/temporal/binary.ts';
import { findTestServer } from '../../local/stack/temporal/test-server.ts';
import { searchAttributeNames } from '../../src/workflows/contract.ts';
import { campaignStatusKey, pauseReasonKey, workspaceIdKey } from '../../src/workflows/search-attributes.ts';

const searchAttributes = [workspaceIdKey, campaignStatusKey, pauseReasonKey];

/** The server of `npm start`, without persistence. `settings`: `name=value` of its dynamic configuration. Call `teardown()` in `afterAll`. */
export async function startTemporal(settings: readonly string[] = []): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  const path = await findTemporalBinary(search());
  return TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      searchAttributes,
      extraArgs: settings.flatMap((setting) => ['--dynamic-config-value', setting]),
    },
  });
}

/**
 * A server whose clock jumps to the next timer. It serves one test at a time. Call `teardown()` in `afterAll`.
 * The SDK allows a server five seconds to start, which a JVM on a busy machine may exceed. So this function starts the server
 * without a limit and passes the SDK an idle program instead.
 */
export async function startTimeSkippingTemporal(): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  const path = await findTestServer(search());
  const port = await pickFreePort('127.0.0.1');
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-idle-'));
  const idle = join(folder, 'idle');
  await writeFile(idle, '#!/bin/sh\nexec sleep 86400\n', { mode: 0o755 });
  const server = spawn(path, [String(port)], { stdio: 'ignore' });
  const stop = async () => {
    server.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  process.once('exit', () => server.kill('SIGKILL'));
  try {
    while (!(await listens(port))) {
      if (server.exitCode !== null)
        throw new Error(`The time-skipping server ended with code ${server.exitCode}`);
      await sleep(50);
    }
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      server: { port, executable: { type: 'existing-path', path: idle } },
    });
    await environment.connection.operatorService.addSearchAttributes({
      namespace: environment.namespace ?? 'default',
      searchAttributes: {
        [searchAttributeNames.workspaceId]: 3,
        [searchAttributeNames.campaignStatus]: 2,
        [searchAttributeNames.pauseReason]: 2,
      },
    });
    const teardown = environment.teardown.bind(environment);
    environment.teardown = async () => {
      await teardown();
      await stop();
    };
    return environment;
  } catch (error) {
    await stop();
    throw error;
  }
}

const bundles = new Map<string, Promise<WorkflowBundleWithSourceMap>>();

/** The workflows as the worker bundles them, from the sources; some seconds, so once for all test files of a process. */
export function bundleWorkflows(workflowsPath = sourceOf('index.ts')): Promise<WorkflowBundleWithSourceMap> {
  const bundle =
    bundles.get(workflowsPath) ??
    bundleWorkflowCode({
      workflowsPath,
      workflowInterceptorModules: [sourceOf('carry-cause.ts')],
      preloadModules: [workflowsPath, sourceOf('carry-cause.ts')],
      logger: new DefaultLogger('ERROR'),
    });
  bundles.set(workflowsPath, bundle);
  return bundle;
}

/** Bundles workflows that cannot replay a campaign's workflow. */
export const bundleBrokenWorkflows = () =>
  bundleWorkflows(fileURLToPath(new URL('broken-workflows.ts', import.meta.url)));

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`../../src/workflows/${name}`, import.meta.url));
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
