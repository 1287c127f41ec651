/** Creates a workspace with the admin commands, as an operator does, and a webhook that receives `sent`. */
import { createDemoApi } from '../demo/api.ts';
import { StackError } from '../stack/error.ts';
import type { Admin } from '../cluster/admin.ts';

// The simulator's default business account.
const businessAccountId = '102290129340398';
const phoneNumberId = '106540352242922';

export interface SeededWorkspace {
  readonly apiKey: string;
  readonly templateId: string;
  readonly channelId: string;
}

export interface WorkspaceSeed {
  readonly admin: Admin;
  readonly apiUrl: string;
  /** Messages per second of its channel. */
  readonly rate: number;
  readonly receiverUrl: string;
  readonly name: string;
  /** Event keys that the receiver subscribes to. */
  readonly events?: readonly string[];
}

export async function seedWorkspace({
  admin,
  apiUrl,
  rate,
  receiverUrl,
  name,
  events = ['sent'],
}: WorkspaceSeed) {
  const { workspaceId = '' } = await admin('create-workspace', { name });
  const { channelId = '' } = await admin('create-channel', {
    'workspace-id': workspaceId,
    'phone-number-id': phoneNumberId,
    'display-phone-number': '+49 30 1234567',
    'business-account-id': businessAccountId,
    'access-token': 'any-token-of-the-simulator',
    'messages-per-second': String(rate),
  });
  await admin('recharge', { 'channel-id': channelId, amount: '1000000' });
  await admin('sync-templates', { 'workspace-id': workspaceId });
  const { apiKey = '' } = await admin('create-key', {
    'workspace-id': workspaceId,
    'channel-id': channelId,
    scope: 'channel',
  });
  const api = createDemoApi({ baseUrl: apiUrl, apiKey });
  await api.post('/api/external-webhooks', { title: name, url: receiverUrl, events });
  const listed = (await api.get('/api/templates?status=APPROVED&search=plain_notice')).data;
  const [template] = listed as readonly { readonly id: string }[];
  if (template === undefined) throw new StackError('The simulator has no template plain_notice');
  return { apiKey, templateId: template.id, channelId } satisfies SeededWorkspace;
}
