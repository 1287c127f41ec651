/** The doctor's access to Temporal. Lists and counts come from the visibility store, which may lag; other reads are current. */
import { withoutValues } from '../../telemetry/redact.ts';
import { isUuid } from '../../domain/uuid.ts';
import {
  campaignStartOptions,
  type CampaignStart,
  type Orchestrator,
} from '../../orchestrator/orchestrator.ts';
import { getsWork, readRouting, type Routing } from '../../orchestrator/worker-deployment.ts';
import { campaignWorkflowId, workflowTypes } from '../../workflows/contract.ts';
import { campaignStatusKey, pauseReasonKey, workspaceIdKey } from '../../workflows/search-attributes.ts';

/** `ended`: failed, timed out, or was terminated or cancelled by hand. */
export type WorkflowState = 'running' | 'completed' | 'ended' | 'absent';

export interface WorkflowDescription {
  readonly state: WorkflowState;
  /** The campaign status that the workflow last published; may be undefined before its first step. */
  readonly status?: string | undefined;
  readonly pauseReason?: string | undefined;
  /** Why a running workflow cannot proceed: its queue has no poller, its task fails or times out, or a step is paused. */
  readonly stuck?: string | undefined;
  /** True if no worker has been able to replay the workflow for a minute. */
  readonly unreplayable?: boolean;
  /** The step that keeps failing, with its last failure. */
  readonly failing?: string | undefined;
  /** True if the next task waits behind others that workers are taking. */
  readonly queued?: boolean;
}

export interface WorkflowView {
  readonly describe: (workflowId: string) => Promise<WorkflowDescription>;
  /** Explains why no worker gets the work of this task queue; undefined if one does. */
  readonly findUnserved: (taskQueue: string) => Promise<string | undefined>;
  /** Resolves to the result of a completed workflow. */
  readonly result: (workflowId: string) => Promise<unknown>;
  /** Yields, in batches, the ids of the campaigns whose workflows meet the condition. */
  readonly listCampaigns: (condition: string) => AsyncIterable<readonly string[]>;
  /** Whether a workflow of any type started or closed after `from`, and not after `to`. */
  readonly hasActivityBetween: (from: Date, to: Date) => Promise<boolean>;
  readonly terminate: (workflowId: string, reason: string) => Promise<void>;
  /** Starts the workflow of a campaign, even if an earlier one failed or was terminated. */
  readonly startCampaignAgain: (campaign: CampaignStart) => Promise<void>;
}

const callTimeoutMs = 20_000;
const listBatch = 500;

export function viewWorkflows(
  { client }: Pick<Orchestrator, 'client'>,
  now: () => number = Date.now,
): WorkflowView {
  const limited = <T>(call: () => Promise<T>): Promise<T> =>
    client.connection.withDeadline(Date.now() + callTimeoutMs, call);

  const { workflowService } = client;
  const { namespace } = client.options;
  const polled = new Map<string, { readonly at: number; readonly answer: Promise<Pollers> }>();
  const findPollers = (name: string): Promise<Pollers> => {
    const known = polled.get(name);
    if (known !== undefined && Date.now() - known.at < polledForMs) return known.answer;
    const answer = limited(() =>
      workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType: 1 }),
    ).then(({ pollers }) =>
      (pollers ?? [])
        .filter(
          ({ lastAccessTime }) => Date.now() / 1000 - Number(lastAccessTime?.seconds ?? 0) < pollerSeconds,
        )
        .map(({ deploymentOptions }) => (deploymentOptions?.buildId ?? '') || undefined),
    );
    polled.set(name, { at: Date.now(), answer });
    return answer;
  };

  /** True while workers take workflow or activity tasks from the queue. */
  const isBusy = async (name: string): Promise<boolean> => {
    for (const taskQueueType of [1, 2]) {
      const { stats } = await limited(() =>
        workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          taskQueueType,
          reportStats: true,
        }),
      );
      // A server that keeps no statistics cannot tell.
      if ((stats?.tasksDispatchRate ?? 1) > 0) return true;
    }
    return false;
  };

  const failsToReplay = async (execution: { workflowId: string; runId: string }): Promise<boolean> => {
    const { history } = await limited(() =>
      workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: 10 }),
    );
    // Only the first failure of a task is an event, so its time is when the failures began.
    const failure = history?.events?.find(({ workflowTaskFailedEventAttributes: failed }) => failed);
    const { cause } = failure?.workflowTaskFailedEventAttributes ?? {};
    if (Number(cause ?? 0) !== nonDeterministic) return false;
    return now() - Number(failure?.eventTime?.seconds ?? 0) * 1000 > unreplayableMs;
  };

  return {
    async findUnserved(queue) {
      const none = `no worker serves the task queue ${queue}`;
      const buildIds = await findPollers(queue);
      if (buildIds.length === 0) return none;
      // Without a deployment no version is current.
      const routing = await limited(() => readRouting(workflowService, namespace)).catch((): Routing => ({}));
      if (buildIds.some((buildId) => getsWork(routing, buildId))) return undefined;
      const polling = new Set(
        buildIds.map((id) => (id === undefined ? 'without WORKER_BUILD_ID' : `of version ${id}`)),
      );
      const current = routing.current === undefined ? 'no version' : `version ${routing.current}`;
      return `${none}: those that poll it are ${[...polling].join(' and ')}, and ${current} is current`;
    },
    async describe(workflowId) {
      const found = await absentAsUndefined(limited(() => client.workflow.getHandle(workflowId).describe()));
      if (found === undefined) return { state: 'absent' };
      return {
        state: stateOf(found.status.name, found.type),
        status: found.typedSearchAttributes.get(campaignStatusKey),
        pauseReason: found.typedSearchAttributes.get(pauseReasonKey),
        ...(await classifyProgress(found.raw, {
          now: Date.now(),
          isPolled: async () => (await findPollers(found.taskQueue)).length > 0,
          isBusy: () => isBusy(found.taskQueue),
          failsToReplay: () => failsToReplay({ workflowId, runId: found.runId }),
        })),
      };
    },
    result: (workflowId) => limited(() => client.workflow.getHandle(workflowId).result()),
    async *listCampaigns(condition) {
      let batch: string[] = [];
      const query = `WorkflowType = '${workflowTypes.campaign}' AND ${condition}`;
      for await (const { workflowId } of client.workflow.list({ query, pageSize: listBatch })) {
        const id = workflowId.slice(campaignWorkflowId('').length);
        if (isUuid(id)) batch.push(id);
        if (batch.length < listBatch) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    async hasActivityBetween(from, to) {
      for (const time of ['StartTime', 'CloseTime']) {
        const query = `${time} > '${from.toISOString()}' AND ${time} <= '${to.toISOString()}'`;
        if ((await limited(() => client.workflow.count(query))).count > 0) return true;
      }
      return false;
    },
    async terminate(workflowId, reason) {
      await absentAsUndefined(limited(() => client.workflow.getHandle(workflowId).terminate(reason)));
    },
    async startCampaignAgain(campaign) {
      await limited(() =>
        client.workflow.start(workflowTypes.campaign, {
          ...campaignStartOptions(campaign),
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          workflowIdConflictPolicy: 'USE_EXISTING',
          typedSearchAttributes: [{ key: workspaceIdKey, value: campaign.workspaceId }],
        }),
      );
    },
  };
}

/** Build ids of the workers that poll a queue; undefined for an unversioned worker. */
type Pollers = readonly (string | undefined)[];

type Described = Awaited<
  ReturnType<ReturnType<Orchestrator['client']['workflow']['getHandle']>['describe']>
>['raw'];

// A task fails once when the worker that took it dies; a healthy worker takes the next attempt at once.
const failuresOfDying = 1;
const untakenMs = 60_000;
/** 90 s: longer than one long poll of a worker, which takes 60 s. */
const pollerSeconds = 90;
/** 5 s, so that one result serves all workflows of a check. */
const polledForMs = 5_000;
const noWorker = 'no worker takes the task of its workflow; docs/operations/repair.md, WorkerDown';
const noTasks =
  'Temporal gives its next task to no worker, although workers wait for one; docs/operations/repair.md, TemporalSlow';
const activityScheduled = 1;

/** WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR. */
const nonDeterministic = 24;
/** 1 min: during a rollout, a worker of the other build may take the task by then. */
const unreplayableMs = 60_000;
/** About 20 s of retries; shorter failures resolve themselves. */
const attemptsOfPassing = 5;
/** Type of the failure of a preparation for which a worker had no slot. */
const noSlotType = 'NoPreparationSlot';

/**
 * Distinguishes a workflow that cannot proceed, or whose step keeps failing, from one that waits behind others.
 * `isPolled`: a worker polls its task queue; `isBusy`: tasks of the queue are taken.
 */
export async function classifyProgress(
  {
    pendingWorkflowTask: task,
    pendingActivities,
  }: Pick<Described, 'pendingWorkflowTask' | 'pendingActivities'>,
  {
    now,
    isPolled,
    isBusy,
    failsToReplay,
  }: {
    readonly now: number;
    readonly isPolled: () => Promise<boolean>;
    readonly isBusy: () => Promise<boolean>;
    readonly failsToReplay: () => Promise<boolean>;
  },
): Promise<Pick<WorkflowDescription, 'stuck' | 'queued' | 'failing' | 'unreplayable'>> {
  const paused = pendingActivities?.find((activity) => activity.paused === true);
  if (paused !== undefined) {
    const { activityType, activityId } = paused;
    return {
      stuck: `its step ${activityType?.name} was paused by hand: temporal activity unpause --activity-id ${activityId}`,
    };
  }
  const failures = (task?.attempt ?? 1) - 1;
  if (failures > failuresOfDying)
    return {
      stuck: `the task of its workflow has failed ${failures} times: the code of a worker cannot go on with it; docs/operations/repair.md, WorkflowTasksFail`,
      unreplayable: await failsToReplay(),
    };
  const isRefused = ({ lastFailure }: { readonly lastFailure?: TypedFailure }): boolean =>
    lastFailure?.applicationFailureInfo?.type === noSlotType;
  const isScheduled = ({ state }: { readonly state?: unknown }): boolean =>
    Number(state ?? 0) === activityScheduled;
  // A refusal for lack of a slot is no failure: the step waits.
  if (pendingActivities?.some((step) => isRefused(step) && isScheduled(step)) === true)
    return { queued: true };
  const failing = pendingActivities?.find(
    (step) => (step.attempt ?? 1) > attemptsOfPassing && !isRefused(step),
  );
  if (failing !== undefined) {
    const { activityType, attempt, lastFailure } = failing;
    const times = (attempt ?? 1) - 1;
    return {
      failing: `its step ${activityType?.name} has failed ${times} times: ${withoutValues(textOf(lastFailure))}`,
    };
  }
  const isLate = (scheduled: { readonly seconds?: unknown } | null | undefined): boolean =>
    now - Number(scheduled?.seconds ?? now / 1000) * 1000 > untakenMs;
  const untaken = task !== undefined && task !== null && (task.startedTime ?? null) === null;
  const waits =
    (untaken && isLate(task.scheduledTime)) ||
    (pendingActivities ?? []).some((step) => isScheduled(step) && isLate(step.scheduledTime));
  if (!waits) return {};
  if (!(await isPolled())) return { stuck: noWorker };
  return (await isBusy()) ? { queued: true } : { stuck: noTasks };
}

type TypedFailure = Readonly<{ applicationFailureInfo?: Readonly<{ type?: string | null }> | null }> | null;

type Failure = Readonly<{ message?: string | null; cause?: Failure | null }> | null | undefined;

/** The messages of a failure and of its causes. */
function textOf(failure: Failure): string {
  const messages: string[] = [];
  for (let link = failure; link !== null && link !== undefined; link = link.cause)
    if (link.message) messages.push(link.message);
  return messages.join(': ') || 'no answer in time';
}

function stateOf(status: string, type: string): WorkflowState {
  if (status === 'RUNNING' || status === 'PAUSED') return 'running';
  // The workflow of a cancelled campaign ends as CANCELLED; the record says the same.
  const completes = status === 'COMPLETED' || (status === 'CANCELLED' && type === workflowTypes.campaign);
  return completes ? 'completed' : 'ended';
}

/** Recognises the client's errors by name, because only the orchestrator imports its package. */
async function absentAsUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'WorkflowNotFoundError') return undefined;
    // The raw gRPC service reports NOT_FOUND as code 5.
    if ((error as { readonly code?: unknown }).code === 5) return undefined;
    throw error;
  }
}
