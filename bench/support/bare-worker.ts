/** Runs a worker of the `twoActivities` workflow in its own process, with the product's worker options. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { campaignWorkerOptions } from '../../src/process/worker-options.ts';

export const bareQueue = 'two-activities';

export interface BareWorker {
  readonly stop: () => Promise<void>;
}

export async function startBareWorker(temporalAddress: string): Promise<BareWorker> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', temporalAddress]);
  await once(child, 'message');
  return {
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

const [mode, temporalAddress = ''] = process.argv.slice(2);
if (mode === 'serve') {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const worker = await Worker.create({
    ...campaignWorkerOptions,
    connection: await NativeConnection.connect({ address: temporalAddress }),
    taskQueue: bareQueue,
    workflowsPath: fileURLToPath(new URL('./two-activities-workflow.js', import.meta.url)),
    activities: { nothing: () => Promise.resolve() },
  });
  process.once('disconnect', () => worker.shutdown());
  process.send?.('ready');
  await worker.run();
  process.exit(0);
}
