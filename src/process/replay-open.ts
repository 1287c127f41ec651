/** Checks whether this build can continue the open workflows: replays every open history and changes nothing. */
import { DefaultLogger, Runtime, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { Orchestrator } from '../orchestrator/orchestrator.ts';
import { workflowTypes } from '../workflows/contract.ts';
import { workflowSource } from './worker-options.ts';

export interface Replayed {
  readonly replayed: number;
  /** The first hundred workflows whose history this build cannot replay. */
  readonly broken: readonly {
    readonly workflowId: string;
    readonly runId: string;
    readonly problem: string;
  }[];
}

const mostBroken = 100;
const historiesAtOnce = 8;

/** Rejects if Temporal does not respond. A workflow that ends in the meantime is replayed to its end. */
export async function replayOpen(
  { client }: Pick<Orchestrator, 'client'>,
  source: Pick<ReplayWorkerOptions, 'workflowBundle' | 'workflowsPath'> = workflowSource(),
): Promise<Replayed> {
  quietRuntime();
  const types = Object.values(workflowTypes).map((type) => `'${type}'`);
  const query = `WorkflowType IN (${types.join(', ')}) AND ExecutionStatus = 'Running'`;
  const histories = client.workflow.list({ query }).intoHistories({ concurrency: historiesAtOnce });
  const broken: Replayed['broken'][number][] = [];
  let replayed = 0;
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(source, histories)) {
    replayed += 1;
    if (error === undefined || broken.length === mostBroken) continue;
    // Extracts the relevant sentence from the SDK's error dump.
    const problem = /\[TMPRL\d+\] [^\\"]+/.exec(error.message)?.[0] ?? error.message;
    broken.push({ workflowId, runId, problem });
  }
  return { replayed, broken };
}

function quietRuntime(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR', () => undefined),
      // Keeps the log away from standard output, where the result is printed.
      telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
      shutdownSignals: [],
    });
  } catch {
    // The process has installed its runtime already.
  }
}
