/** One view of several Temporal clusters: campaigns run on the first, deliveries on any of them. */
import type { WorkflowDescription, WorkflowView } from './workflow-view.ts';

export function joinViews(main: WorkflowView, deliveries: readonly WorkflowView[]): WorkflowView {
  const isDelivery = (workflowId: string): boolean => workflowId.startsWith('webhook-delivery-');

  /** Finds the cluster where the workflow is running, else one that knows it. */
  async function find(workflowId: string): Promise<{ view: WorkflowView; found: WorkflowDescription }> {
    let known = { view: main, found: { state: 'absent' } as WorkflowDescription };
    for (const view of isDelivery(workflowId) ? deliveries : [main]) {
      const found = await view.describe(workflowId);
      if (found.state === 'running') return { view, found };
      if (found.state === 'completed' || known.found.state === 'absent') known = { view, found };
    }
    return known;
  }

  return {
    ...main,
    describe: async (workflowId) => (await find(workflowId)).found,
    result: async (workflowId) => (await find(workflowId)).view.result(workflowId),
    terminate: async (workflowId, reason) => (await find(workflowId)).view.terminate(workflowId, reason),
    async *list(type, condition) {
      for (const view of type === 'webhookDelivery' ? deliveries : [main]) yield* view.list(type, condition);
    },
    async hasActivityBetween(from, to) {
      for (const view of new Set([main, ...deliveries]))
        if (await view.hasActivityBetween(from, to)) return true;
      return false;
    },
  };
}
