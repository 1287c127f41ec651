/** The only importer of @temporalio/client: starts, signals and schedules. "Already started" is success. */
import { Client, Connection, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Config } from './config.ts';
import {
  campaignWorkflowId,
  searchAttributeNames,
  signalNames,
  taskQueues,
  workflowTypes,
  type CampaignWorkflowInput,
} from './workflows/contract.ts';

export interface Orchestrator {
  /** Starts the workflow of a campaign unless it runs or ran already. `name` is shown to operators. */
  readonly startCampaign: (campaign: { id: string; workspaceId: number; name: string }) => Promise<void>;
  /** Tells a campaign's workflow that its record changed. False when no workflow runs. */
  readonly refreshCampaign: (campaignId: string) => Promise<boolean>;
  /** Resolves when the server answers, rejects within `timeoutMs` otherwise. */
  readonly ping: (timeoutMs: number) => Promise<void>;
  /** For the parts that start other workflows; still only from here. */
  readonly client: Client;
  readonly close: () => Promise<void>;
}

const workspaceIdKey = defineSearchAttributeKey(searchAttributeNames.workspaceId, SearchAttributeType.INT);
const campaignStatusKey = defineSearchAttributeKey(searchAttributeNames.campaignStatus, SearchAttributeType.KEYWORD);

// A call to a server that is gone must not hold a request of the API for long; the reconciler delivers later.
const callTimeoutMs = 5_000;

export async function createOrchestrator(
  config: Pick<Config, 'temporalAddress' | 'temporalNamespace'>,
): Promise<Orchestrator> {
  const connection = Connection.lazy({ address: config.temporalAddress });
  return orchestratorFor(new Client({ connection, namespace: config.temporalNamespace }), () => connection.close());
}

/** Also for tests, which bring the client of their own environment. */
export function orchestratorFor(client: Client, close: () => Promise<void>): Orchestrator {
  const limited = <T>(call: () => Promise<T>, timeoutMs = callTimeoutMs) =>
    client.connection.withDeadline(Date.now() + timeoutMs, call);

  return {
    client,
    close,
    async startCampaign({ id, workspaceId, name }) {
      const input: CampaignWorkflowInput = { campaignId: id };
      try {
        await limited(() =>
          client.workflow.start(workflowTypes.campaign, {
            workflowId: campaignWorkflowId(id),
            taskQueue: taskQueues.campaigns,
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            args: [input],
            staticSummary: name.slice(0, 200),
            typedSearchAttributes: [
              { key: workspaceIdKey, value: workspaceId },
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
        await limited(() => client.workflow.getHandle(campaignWorkflowId(campaignId)).signal(signalNames.refresh));
        return true;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
    async ping(timeoutMs) {
      await limited(() => client.connection.workflowService.getSystemInfo({}), timeoutMs);
    },
  };
}
