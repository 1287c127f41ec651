/** Creates what each API operation needs to succeed: a new record for every id in its path. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import type { Declaration } from '../../src/api/frame/endpoint.ts';
import { nothing } from '../../src/records/database/row.ts';
import type { SeededWorkspace, TestApi } from './api.ts';

interface TestServers {
  readonly api: TestApi;
  readonly workspace: SeededWorkspace;
}

export interface OperationFixtures {
  readonly template: (text?: string) => Promise<string>;
  readonly campaign: (status: string) => Promise<string>;
  readonly conversation: (state?: {
    readonly status?: string;
    readonly contactId?: string;
  }) => Promise<string>;
  /** Returns a phone number that no contact has yet. */
  readonly phoneNumber: () => string;
  readonly contact: () => Promise<{ readonly id: string; readonly phoneNumber: string }>;
  readonly prices: (form?: { readonly valid?: boolean; readonly dryRun?: boolean }) => {
    readonly body: Uint8Array;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly upload: (
    field?: string,
    type?: string,
  ) => {
    readonly body: Uint8Array;
    readonly headers: Record<string, string>;
  };
  /** Returns the operation's path with ids of newly created records. */
  readonly pathOf: (declaration: Declaration) => Promise<string>;
}

const boundary = 'a-boundary-of-the-tests';

/** Status of the campaign that an operation is tried on; RUNNING for the operations not listed. */
const statusFor: Readonly<Record<string, string>> = {
  startCampaign: 'PAUSED',
  testCampaign: 'SCHEDULED',
  // The campaign has ended, so that its stream ends.
  streamCampaign: 'COMPLETED',
};

export function createOperationFixtures({ api, workspace }: TestServers): OperationFixtures {
  const { workspaceId, channelId, businessAccountId, channelKey: key } = workspace;
  let phones = 20_000_000;

  async function made(path: string, body: object): Promise<string> {
    const { body: answer, text } = await api.send('POST', path, { key, body });
    const id = answer.data?.tagId ?? answer.data?.id;
    if (id === undefined) throw new Error(text);
    return id;
  }

  async function template(text = 'Hi {{1}}.'): Promise<string> {
    const id = randomUUID();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
        components)
      VALUES (${id}, ${workspaceId}, ${businessAccountId}, ${id}, ${id}, 'en_US', 'UTILITY', 'APPROVED',
        ${JSON.stringify([{ type: 'BODY', text }])}::jsonb)`);
    return id;
  }

  async function campaign(status: string): Promise<string> {
    const id = randomUUID();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO campaign (id, workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type,
        scheduled_at, status, pause_reason, preparation_status, created_by)
      VALUES (${id}, ${workspaceId}, ${channelId}, ${await template()}, 'A campaign', 'all_contacts', '{}', 'SCHEDULED',
        now() + interval '1 day', ${status}, ${status === 'PAUSED' ? 'OPERATOR' : null}, 'READY', 'test')`);
    await api.database.pool.query(
      sql.type(nothing)`INSERT INTO campaign_counter (campaign_id) VALUES (${id})`,
    );
    return id;
  }

  const newNumber = () => `+49151${(phones += 1)}`;

  async function contact() {
    const phoneNumber = newNumber();
    return { id: await made('/api/contacts', { phoneNumber }), phoneNumber };
  }

  async function conversation({ status = 'open', contactId = '' } = {}): Promise<string> {
    const id = randomUUID();
    const person = contactId === '' ? (await contact()).id : contactId;
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO conversation (id, workspace_id, channel_id, contact_id, status)
      VALUES (${id}, ${workspaceId}, ${channelId}, ${person}, ${status})`);
    return id;
  }

  async function message(): Promise<string> {
    const id = randomUUID();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO message (id, workspace_id, channel_id, direction, source, type, state)
      VALUES (${id}, ${workspaceId}, ${channelId}, 'outbound', 'api', 'template', 'ACCEPTED')`);
    return id;
  }

  const webhook = () =>
    made('/api/external-webhooks', { title: 'A', url: 'https://example.com/hook', events: ['sent'] });

  const delivery = (webhookId: string) =>
    made(`/api/external-webhooks/${webhookId}/test`, { eventKey: 'sent' });

  async function recipient(campaignId: string): Promise<string> {
    const id = randomUUID();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO recipient (campaign_id, position, id, phone_number, country, sendable, state)
      VALUES (${campaignId}, 1, ${id}, '4915112345678', 'DE', true, 'PENDING')`);
    return id;
  }

  function upload(field = 'file', type = 'text/csv') {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="a.csv"\r\nContent-Type: ${type}\r\n\r\n`;
    const body = new TextEncoder().encode(`${head}phone,cc\n15112345678,49\n\r\n--${boundary}--\r\n`);
    return { body, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } };
  }

  /** The form of a price card; `valid: false` names a day that does not exist. */
  function prices({ valid = true, dryRun = false } = {}) {
    const field = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const fields = [
      field('currency', 'EUR'),
      field('effective_on', valid ? '2026-10-01' : '2026-13-01'),
      field('dry_run', String(dryRun)),
    ].join('');
    const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n`;
    const csv =
      'Market,Currency,Marketing,Utility,Authentication,Service\nIndia,EUR,0.0099,0.0012,0.0012,n/a\nOther,EUR,0.05,0.0064,0.0064,n/a\n';
    const body = new TextEncoder().encode(`${fields}${file}${csv}\r\n--${boundary}--\r\n`);
    return { body, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } };
  }

  async function fileKey(): Promise<string> {
    const { body } = await api.send('POST', '/api/campaigns/csv-files', { key, ...upload() });
    return body.data.csv_file_key;
  }

  async function idFor(kind: string, { operationId }: Declaration): Promise<string> {
    switch (kind) {
      case 'tags':
        return made('/api/tags', { name: 'A tag' });
      case 'contacts':
        return (await contact()).id;
      case 'segments':
        return made('/api/segments', { name: 'A', conditions: [{ field: 'email', operator: 'exists' }] });
      case 'templates':
        return template();
      case 'campaigns':
        return campaign(statusFor[operationId] ?? 'RUNNING');
      case 'conversations':
        return conversation();
      case 'messages':
        return message();
      case 'external-webhooks':
        return webhook();
      case 'channels':
        return channelId;
      case 'prices': {
        const { body } = await api.send('GET', '/api/prices', { key });
        return body.data[0].id;
      }
      case 'csv-files':
        return fileKey();
      case 'contact-fields':
        await api.database.pool.query(sql.type(nothing)`
          INSERT INTO contact_field (workspace_id, id, type) VALUES (${workspaceId}, 'size', 'number') ON CONFLICT DO NOTHING`);
        return 'size';
      case 'imports':
        return made('/api/contacts/imports', { csv_file_key: await fileKey() });
      default:
        throw new Error(`No fixture creates a ${kind}`);
    }
  }

  const resend = async (webhookId: string): Promise<string> => {
    const { body } = await api.send('POST', `/api/external-webhooks/${webhookId}/resend-missed`, {
      key: workspace.channelKey,
      body: { since: '2026-01-01T00:00:00Z' },
    });
    return body.data.id;
  };

  async function pathOf(declaration: Declaration): Promise<string> {
    let path: string = declaration.path;
    const [, kind, parameter] = /([\w-]+)\/(:\w+)/.exec(path) ?? [];
    if (kind === undefined || parameter === undefined) return path;
    const id = await idFor(kind, declaration);
    path = path.replace(parameter, id);
    if (path.includes(':recipientId')) path = path.replace(':recipientId', await recipient(id));
    if (path.includes(':resendId')) path = path.replace(':resendId', await resend(id));
    return path.includes(':deliveryId') ? path.replace(':deliveryId', await delivery(id)) : path;
  }

  return { template, campaign, conversation, phoneNumber: newNumber, contact, upload, prices, pathOf };
}
