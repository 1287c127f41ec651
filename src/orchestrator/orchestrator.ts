/** Starts and signals workflows, and creates schedules. "Already started" counts as success. */
import {
  type Client,
  Connection,
  type ConnectionLike,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptionsAction,
  ScheduleOverlapPolicy,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { isDeepStrictEqual } from 'node:util';
import {
  campaignWorkflowId,
  type CampaignWorkflowInput,
  type ContactImportInput,
  contactImportWorkflowId,
  priceComparisonScheduleId,
  retentionScheduleId,
  signalNames,
  taskQueues,
  type TemplateSyncInput,
  templateSyncScheduleId,
  templateSyncWorkflowId,
  type WebhookDeliveryInput,
  webhookDeliveryWorkflowId,
  workflowTypes,
} from '../workflows/contract.ts';
import { campaignStatusKey, workspaceIdKey } from '../workflows/search-attributes.ts';
import { clientOn, temporalConnectionOptions, type TemporalSettings } from './connection.ts';

export interface Orchestrator {
  /** Starts the workflow of a campaign unless it is running or has completed. A terminated or failed workflow starts again. */
  readonly startCampaign: (campaign: CampaignStart) => Promise<void>;
  /** Tells a campaign's workflow that its record has changed. Resolves to false if no workflow is running. */
  readonly refreshCampaign: (campaignId: string) => Promise<boolean>;
  /**
   * Starts the workflow of a delivery unless it is running. `here`: it starts in this process; `closed`: it has already ended
   * and will not run again.
   */
  readonly startWebhookDelivery: (deliveryId: string) => Promise<'started' | 'here' | 'closed'>;
  /** Schedules an hourly sync of a business account's templates; changes nothing if that schedule exists. */
  readonly scheduleTemplateSync: (account: { id: string; workspaceId: number }) => Promise<void>;
  /** Syncs the templates of a business account once, now, unless such a sync is running. */
  readonly startTemplateSync: (businessAccountId: string) => Promise<void>;
  /** Starts the workflow of an import of contacts unless it is running or has completed. */
  readonly startContactImport: (contactImport: {
    readonly id: string;
    readonly workspaceId: number;
  }) => Promise<void>;
  /** Schedules retention to run every hour; changes nothing if that schedule exists. */
  readonly scheduleRetention: () => Promise<void>;
  /** Schedules the comparison of prices, which is made once a night, to look every hour; changes nothing if that schedule exists. */
  readonly schedulePriceComparison: () => Promise<void>;
  /**
   * Resolves to the namespace with the id that Temporal gave it. Rejects within `timeoutMs` if the server does not respond or
   * has no such namespace.
   */
  readonly namespace: (timeoutMs?: number) => Promise<{ readonly id: string; readonly name: string }>;
  /** The underlying client, for modules that make other calls. Only this file imports its package. */
  readonly client: Client;
  readonly close: () => Promise<void>;
}

export interface CampaignStart {
  readonly id: string;
  readonly workspaceId: number;
  /** Name of the campaign, shown to operators. */
  readonly name: string;
}

/** Options shared by the first and any repeated start of a campaign's workflow. */
export function campaignStartOptions({ id, name }: CampaignStart) {
  const input: CampaignWorkflowInput = { campaignId: id };
  return {
    workflowId: campaignWorkflowId(id),
    taskQueue: taskQueues.campaigns,
    args: [input],
    staticSummary: name.slice(0, 200),
  };
}

// 5 s: an unreachable server must not delay an API request for long; the workflow outbox delivers later.
const defaultCallTimeoutMs = 5_000;

export async function createOrchestrator(
  config: TemporalSettings & { readonly temporalNamespace: string },
): Promise<Orchestrator> {
  const connection = Connection.lazy(await temporalConnectionOptions(config));
  return orchestratorFor(clientOn(connection, config.temporalNamespace), () => connection.close());
}

/** Uses the worker's own connection, so that a started workflow may run in this process. The worker closes the connection. */
export function createWorkerOrchestrator(connection: ConnectionLike, namespace: string): Orchestrator {
  return orchestratorFor(clientOn(connection, namespace), () => Promise.resolve(), { eager: true });
}

export interface OrchestratorOptions {
  /**
   * The client uses the worker's NativeConnection, so that a started workflow may run in this process without a detour
   * through the task queue.
   */
  readonly eager?: boolean;
  readonly callTimeoutMs?: number;
}

/** Creates the orchestrator for a given client; workers and tests pass a client with their own connection. */
export function orchestratorFor(
  client: Client,
  close: () => Promise<void>,
  { eager = false, callTimeoutMs = defaultCallTimeoutMs }: OrchestratorOptions = {},
): Orchestrator {
  const limited = <T>(call: () => Promise<T>, timeoutMs = callTimeoutMs) =>
    client.connection.withDeadline(Date.now() + timeoutMs, call);

  const keepHourly = (scheduleId: string, action: ScheduleOptionsAction) =>
    limited(() => keepHourlySchedule(client, scheduleId, action));

  return {
    client,
    close,
    async startCampaign(campaign) {
      try {
        await limited(() =>
          client.workflow.start(workflowTypes.campaign, {
            ...campaignStartOptions(campaign),
            workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
            typedSearchAttributes: [
              { key: workspaceIdKey, value: campaign.workspaceId },
              { key: campaignStatusKey, value: 'DRAFT' },
            ],
          }),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    async refreshCampaign(campaignId) {
      try {
        await limited(() =>
          client.workflow.getHandle(campaignWorkflowId(campaignId)).signal(signalNames.refresh),
        );
        return true;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
    async startWebhookDelivery(deliveryId) {
      const input: WebhookDeliveryInput = { deliveryId };
      try {
        const { eagerlyStarted } = await limited(() =>
          client.workflow.start(workflowTypes.webhookDelivery, {
            workflowId: webhookDeliveryWorkflowId(deliveryId),
            taskQueue: taskQueues.webhooks,
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            workflowIdConflictPolicy: 'USE_EXISTING',
            ...(eager && { requestEagerStart: true }),
            args: [input],
          }),
        );
        return eagerlyStarted ? 'here' : 'started';
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return 'closed';
        throw error;
      }
    },
    scheduleTemplateSync({ id, workspaceId }) {
      const input: TemplateSyncInput = { businessAccountId: id };
      return keepHourly(templateSyncScheduleId(id), {
        type: 'startWorkflow',
        workflowType: workflowTypes.templateSync,
        taskQueue: taskQueues.maintenance,
        args: [input],
        typedSearchAttributes: [{ key: workspaceIdKey, value: workspaceId }],
      });
    },
    async startTemplateSync(businessAccountId) {
      const input: TemplateSyncInput = { businessAccountId };
      await limited(() =>
        client.workflow.start(workflowTypes.templateSync, {
          workflowId: templateSyncWorkflowId(businessAccountId),
          taskQueue: taskQueues.maintenance,
          workflowIdConflictPolicy: 'USE_EXISTING',
          args: [input],
        }),
      );
    },
    async startContactImport({ id, workspaceId }) {
      const input: ContactImportInput = { importId: id };
      try {
        await limited(() =>
          client.workflow.start(workflowTypes.contactImport, {
            workflowId: contactImportWorkflowId(id),
            taskQueue: taskQueues.maintenance,
            workflowIdReusePolicy: 'ALLOW_DUPLICATE',
            workflowIdConflictPolicy: 'USE_EXISTING',
            args: [input],
            staticSummary: 'Import of contacts',
            typedSearchAttributes: [{ key: workspaceIdKey, value: workspaceId }],
          }),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    scheduleRetention: () =>
      keepHourly(retentionScheduleId, {
        type: 'startWorkflow',
        workflowType: workflowTypes.retention,
        taskQueue: taskQueues.maintenance,
        args: [],
      }),
    schedulePriceComparison: () =>
      keepHourly(priceComparisonScheduleId, {
        type: 'startWorkflow',
        workflowType: workflowTypes.priceComparison,
        taskQueue: taskQueues.maintenance,
        args: [],
      }),
    async namespace(timeoutMs) {
      const { namespace: name } = client.options;
      const { namespaceInfo } = await limited(
        () => client.connection.workflowService.describeNamespace({ namespace: name }),
        timeoutMs,
      );
      return { id: namespaceInfo?.id ?? '', name };
    },
  };
}

/** Creates a schedule, or updates it if an earlier release defined it differently. A paused schedule stays paused. */
async function keepHourlySchedule(
  { schedule }: Client,
  scheduleId: string,
  action: ScheduleOptionsAction,
): Promise<void> {
  const handle = schedule.getHandle(scheduleId);
  try {
    const present = await handle.describe();
    if (!isHourly(present, action)) await handle.update(({ state }) => ({ ...hourly, action, state }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await schedule.create({ scheduleId, ...hourly, action }).catch(unlessMadeMeanwhile);
  }
}

const hourMs = 3_600_000;
const hourly = {
  // 10 minutes of jitter, so that the accounts do not all sync at once.
  spec: { intervals: [{ every: hourMs, offset: 0 }], jitter: hourMs / 6 },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: hourMs / 6 },
};

function isHourly({ spec, policies, action }: ScheduleDescription, wanted: ScheduleOptionsAction): boolean {
  const { intervals, jitter } = spec;
  const { overlap, catchupWindow } = policies;
  const { workflowType, taskQueue, args } = action;
  return isDeepStrictEqual(
    [
      { spec: { intervals, jitter }, policies: { overlap, catchupWindow } },
      workflowType,
      taskQueue,
      args,
      shown(action),
    ],
    [hourly, wanted.workflowType, wanted.taskQueue, wanted.args, shown(wanted)],
  );
}

/** Returns search attributes as pairs: a description contains a map, a definition contains pairs. */
function shown({ typedSearchAttributes = [] }: Pick<ScheduleOptionsAction, 'typedSearchAttributes'>) {
  return typedSearchAttributes instanceof TypedSearchAttributes
    ? typedSearchAttributes.getAll()
    : typedSearchAttributes;
}

function unlessMadeMeanwhile(error: unknown): void {
  if (!(error instanceof ScheduleAlreadyRunning)) throw error;
}
