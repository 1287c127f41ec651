/** Compares webhook deliveries with their workflows, and workflows with their deliveries. */
import { webhookErrorCodes } from '../../domain/webhooks/delivery.ts';
import {
  findKnownDeliveries,
  listDispatchedDeliveries,
  recordWorkflowOutcome,
  type OpenDelivery,
} from '../../records/operations/doctor-overdue.ts';
import type { Batch } from '../../records/operations/doctor-campaigns.ts';
import { failUndialled, returnDeliveries } from '../../records/webhooks/delivery-scheduler.ts';
import { webhookDeliveryWorkflowId } from '../../workflows/contract.ts';
import { isRunning } from './check-campaigns.ts';
import { batches, type Doctor, type Finding, type Repair } from './check.ts';
import type { WorkflowState } from './workflow-view.ts';

const batchSize = 500;
// 150 s: the timeout sweeper has put a lost start back into the queue long before, so what is younger is not reported.
const dispatchedSeconds = 150;

/** A delivery that was handed out is pending only as long as its workflow runs. */
export async function* checkDeliveries(doctor: Doctor, again?: readonly string[]): AsyncIterable<Finding> {
  const wanted = again === undefined ? undefined : new Set(again);
  const list = (batch: Batch) =>
    listDispatchedDeliveries(doctor.database, { ...batch, seconds: dispatchedSeconds });
  for await (const page of batches(batchSize, list, ({ id }) => id)) {
    for (const delivery of page) {
      if (wanted !== undefined && !wanted.has(delivery.id)) continue;
      const { state } = await doctor.workflows.describe(webhookDeliveryWorkflowId(delivery.id));
      if (state !== 'running') yield withoutWorkflow(doctor, delivery, state);
    }
  }
}

function withoutWorkflow(doctor: Doctor, { id, since }: OpenDelivery, state: WorkflowState): Finding {
  const how = state === 'absent' ? 'has no workflow' : 'its workflow has ended';
  return {
    kind: 'delivery-without-workflow',
    id,
    fingerprint: `${since} ${state}`,
    meaning: `the delivery was handed out at ${since}, is still pending, and ${how}`,
    repair: settleDelivery(doctor, id, state),
  };
}

/** A closed workflow's result is the outcome of the one attempt; without a workflow there was no attempt. */
export function settleDelivery({ database, workflows }: Doctor, id: string, state: WorkflowState): Repair {
  if (state === 'absent') {
    return {
      does: 'put it back into the queue: no request was made',
      run: () => returnDeliveries(database, [id]),
    };
  }
  if (state === 'ended') {
    return {
      does: 'record it as failed (interrupted): no request will be made',
      run: () => failUndialled(database, id),
    };
  }
  return {
    does: 'record the outcome that its workflow returned',
    run: async () => {
      const result = await workflows.result(webhookDeliveryWorkflowId(id));
      await recordWorkflowOutcome(database, { id, errorCode: errorCodeOf(result) });
    },
  };
}

function errorCodeOf(result: unknown): string | null {
  if (result === 'delivered') return null;
  const code = typeof result === 'string' ? result.replace(/^failed: /, '') : '';
  return webhookErrorCodes.find((known) => known === code) ?? 'interrupted';
}

/** Every running delivery workflow has a row. */
export async function* checkDeliveryWorkflows(
  doctor: Doctor,
  again?: readonly string[],
): AsyncIterable<Finding> {
  const pages = again === undefined ? doctor.workflows.list('webhookDelivery', isRunning) : [again];
  for await (const ids of pages) {
    const known = await findKnownDeliveries(doctor.database, ids);
    for (const id of ids) {
      if (known.has(id)) continue;
      const workflowId = webhookDeliveryWorkflowId(id);
      if ((await doctor.workflows.describe(workflowId)).state !== 'running') continue;
      yield {
        kind: 'delivery-workflow-without-row',
        id,
        fingerprint: '',
        meaning: `workflow ${workflowId} runs for a delivery that has no record`,
        repair: {
          does: 'terminate the workflow, which can make no request without a record',
          run: () => doctor.workflows.terminate(workflowId, 'doctor: the delivery has no record'),
        },
      };
    }
  }
}
