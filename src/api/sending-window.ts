/** The sending window of a workspace: quiet hours for MARKETING templates. */
import { SendingWindow, sendingWindowExample } from '../codecs/sending-window.ts';
import { nullish } from '../codecs/struct.ts';
import { deliverWorkflowOutboxes } from '../commands/campaigns/deliver-workflow-outbox.ts';
import { setSendingWindow } from '../commands/workspaces/workspaces.ts';
import type { Dependencies } from '../dependencies.ts';
import { getWorkspaceWindow } from '../records/workspaces/workspace-window.ts';
import { endpoint } from './frame/endpoint.ts';
import { acknowledge, acknowledgement, answer, answerWith, succeed, succeedWith } from './frame/envelope.ts';

const path = '/api/workspace/sending-window';
const tag = 'Workspace';
const saved = 'Sending window saved successfully';
const removed = 'Sending window removed successfully';

export const getSendingWindow = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'getSendingWindow',
    summary: 'Read the sending window of the workspace',
    description:
      'Applies to campaigns with MARKETING templates. `data` is null if they may send at any time.',
    tag,
    access: 'workspace',
    responses: { 200: answer('The window', nullish(SendingWindow), sendingWindowExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed(await getWorkspaceWindow(database, workspaceId)),
  }),
);

export const putSendingWindow = endpoint(
  {
    method: 'PUT',
    path,
    operationId: 'putSendingWindow',
    summary: 'Set the sending window of the workspace',
    description:
      'Needs an operator’s key. Applies to campaigns with MARKETING templates, running ones included. A campaign’s own window narrows it further.',
    tag,
    access: 'operator',
    body: SendingWindow,
    bodyExample: sendingWindowExample,
    responses: { 200: answerWith('Window after the change', saved, SendingWindow, sendingWindowExample) },
  },
  async ({ dependencies, principal: { workspaceId }, body }) => {
    await apply(dependencies, workspaceId, body);
    return { status: 200, body: succeedWith(saved, body) };
  },
);

export const deleteSendingWindow = endpoint(
  {
    method: 'DELETE',
    path,
    operationId: 'deleteSendingWindow',
    summary: 'Remove the sending window of the workspace',
    description: 'Needs an operator’s key. Campaigns keep their own windows.',
    tag,
    access: 'operator',
    responses: { 200: acknowledgement('Removed', removed) },
  },
  async ({ dependencies, principal: { workspaceId } }) => {
    await apply(dependencies, workspaceId, null);
    return { status: 200, body: acknowledge(removed) };
  },
);

async function apply(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>,
  workspaceId: number,
  window: SendingWindow | null,
): Promise<void> {
  const campaignIds = await setSendingWindow(dependencies, workspaceId, window);
  await deliverWorkflowOutboxes(dependencies, campaignIds);
}
