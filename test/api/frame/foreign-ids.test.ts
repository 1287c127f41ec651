import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Declaration } from '../../../src/api/frame/endpoint.ts';
import { routes } from '../../../src/api/routes.ts';
import { insertCampaignFile } from '../../../src/records/campaigns/files.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let owner: SeededWorkspace;
let intruder: SeededWorkspace;
let client: pg.Client;
let owned: Ids;
let intruders: Ids;

type Ids = Readonly<Record<string, string>>;

beforeAll(async () => {
  api = await startTestApi();
  owner = await api.seedWorkspace();
  intruder = await api.seedWorkspace();
  client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  owned = await seedResources(owner);
  intruders = await seedResources(intruder);
});
afterAll(async () => {
  await client.end();
  await api.close();
});

const operations = routes
  .map(({ declaration }) => declaration)
  // Price cards belong to the installation, not to a workspace.
  .filter(({ path }) => path.includes(':') && path !== '/api/prices/:id')
  .map((declaration) => ({ title: `${declaration.method} ${declaration.path}`, declaration }));

/** Maps each parameter to the kind of resource it names, which is the path segment before it. */
function kindsOf(path: string): readonly { readonly parameter: string; readonly kind: string }[] {
  return [...path.matchAll(/([\w-]+)\/(:\w+)/g)].map(([, kind = '', parameter = '']) => ({
    parameter,
    kind,
  }));
}

function fill(path: string, idOf: (kind: string) => string | undefined): string {
  return kindsOf(path).reduce((made, { parameter, kind }) => {
    const id = idOf(kind);
    if (id === undefined) throw new Error(`The test seeds nothing for ${kind}/${parameter}`);
    return made.replace(parameter, id);
  }, path);
}

const send = ({ method, bodyExample }: Declaration, target: string, key: string) =>
  api.send(method, target, { key, ...(bodyExample !== undefined && { body: bodyExample }) });

/** The intruder's keys that the operation accepts. */
function keysFor({ access }: Declaration): readonly string[] {
  if (access === 'operator') return [intruder.operatorKey];
  const keys = [intruder.channelKey, intruder.workspaceKey];
  return access === 'channel' ? keys : [...keys, intruder.operatorKey];
}

describe('ids of another workspace', () => {
  it.each(operations)(
    'are answered like unknown ids by $title, and nothing changes',
    async ({ declaration }) => {
      const { path } = declaration;
      const before = await digestOf(owner.workspaceId);
      for (const key of keysFor(declaration)) {
        const missing = await send(
          declaration,
          fill(path, () => randomUUID()),
          key,
        );
        const foreign = await send(
          declaration,
          fill(path, (kind) => owned[kind]),
          key,
        );
        expect(missing.status, missing.text).toBe(404);
        expect(foreign.status, foreign.text).toBe(404);
        expect(foreign.body.message).toBe(missing.body.message);
      }
      expect(await digestOf(owner.workspaceId)).toBe(before);
    },
  );

  const nested = operations.filter(({ declaration }) => kindsOf(declaration.path).length > 1);
  it.each(nested)(
    'are not found under an id of the caller’s own workspace by $title',
    async ({ declaration }) => {
      const [first] = kindsOf(declaration.path);
      const mixed = fill(declaration.path, (kind) => (kind === first?.kind ? intruders : owned)[kind]);
      expect((await send(declaration, mixed, intruder.workspaceKey)).status).toBe(404);
    },
  );

  // A stream does not end; test/api/campaigns/follow.test.ts follows one.
  const reads = operations.filter(
    ({ declaration }) => declaration.method === 'GET' && declaration.operationId !== 'streamCampaign',
  );
  it.each(reads)('are found for their owner by $title', async ({ declaration }) => {
    const response = await send(
      declaration,
      fill(declaration.path, (kind) => owned[kind]),
      owner.channelKey,
    );
    expect(response.status, response.text).toBe(200);
  });
});

async function insert(text: string, values: readonly unknown[]): Promise<string> {
  const { rows } = await client.query<{ id: string }>(`${text} RETURNING id`, [...values]);
  return rows[0]?.id ?? '';
}

/** Creates one resource of every kind; returns their ids by the path segment before the id. */
async function seedResources({ workspaceId, channelId, businessAccountId }: SeededWorkspace): Promise<Ids> {
  const template = await insert(
    `INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status, components)
     VALUES ($1, $2, $3, 'greeting', 'en_US', 'MARKETING', 'APPROVED', '[{"type": "BODY", "text": "Hello"}]')`,
    [workspaceId, businessAccountId, `provider-${businessAccountId}`],
  );
  const contact = await insert(
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, source) VALUES ($1, $2, '49', 'DE', 'manual')`,
    [workspaceId, '4915112345678'],
  );
  const tag = await insert(
    `INSERT INTO tag (workspace_id, name, text_color, background_color, created_by) VALUES ($1, 'vip', '#000000', '#ffffff', 'me')`,
    [workspaceId],
  );
  const segment = await insert(
    `INSERT INTO segment (workspace_id, name, match, conditions) VALUES ($1, 'all', 'all', '[{"field": "email", "operator": "exists"}]')`,
    [workspaceId],
  );
  const conversation = await insert(
    'INSERT INTO conversation (workspace_id, channel_id, contact_id) VALUES ($1, $2, $3)',
    [workspaceId, channelId, contact],
  );
  const campaign = await insert(
    `INSERT INTO campaign (workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type, scheduled_at,
       status, preparation_status, created_by)
     VALUES ($1, $2, $3, 'spring', 'all_contacts', '{}', 'SCHEDULED', now() + interval '1 day', 'SCHEDULED', 'READY', 'me')`,
    [workspaceId, channelId, template],
  );
  await client.query('INSERT INTO campaign_counter (campaign_id) VALUES ($1)', [campaign]);
  const recipient = await insert(
    `INSERT INTO recipient (campaign_id, position, phone_number, country, sendable, state)
     VALUES ($1, 1, '4915112345678', 'DE', true, 'PENDING')`,
    [campaign],
  );
  const message = await insert(
    `INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, type, content, state,
       provider_message_id)
     VALUES ($1, $2, 'inbound', 'contact', $3, $4, 'text', '{}', 'RECEIVED', 'wamid.of-the-test')`,
    [workspaceId, channelId, contact, conversation],
  );
  const webhook = await insert(
    `INSERT INTO webhook_configuration (workspace_id, title, url, status, events) VALUES ($1, 'mine', 'https://example.com', 'active', '{sent}')`,
    [workspaceId],
  );
  const event = await insert(
    `INSERT INTO event (workspace_id, key, body, fanned_out_at) VALUES ($1, 'sent', '{}', now())`,
    [workspaceId],
  );
  const delivery = await insert(
    `INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state) VALUES ($1, $2, $3, 'sent', 'failed')`,
    [workspaceId, webhook, event],
  );
  const resend = await insert(
    `INSERT INTO webhook_resend (workspace_id, webhook_id, since, until, state) VALUES ($1, $2, now(), now(), 'completed')`,
    [workspaceId, webhook],
  );
  const field = await insert(`INSERT INTO contact_field (workspace_id, id, type) VALUES ($1, $2, 'text')`, [
    workspaceId,
    `size-${workspaceId}`,
  ]);
  const fileKey = `csv_${randomUUID()}.csv`;
  const size = await api.dependencies.storage.write(fileKey, Readable.from([Buffer.from('phone\n')]));
  const most = { files: 1, bytes: size };
  await insertCampaignFile(api.database.pool, workspaceId, { key: fileKey, size, headers: ['phone'], most });
  const contactImport = await insert(
    `INSERT INTO contact_import (workspace_id, csv_file_key, size, mapping, mode, dry_run)
     VALUES ($1, $2, $3, '{"phone_column": 0}', 'both', false)`,
    [workspaceId, `csv_${randomUUID()}.csv`, size],
  );
  return {
    'contact-fields': field,
    imports: contactImport,
    'csv-files': fileKey,
    templates: template,
    contacts: contact,
    tags: tag,
    segments: segment,
    conversations: conversation,
    messages: message,
    campaigns: campaign,
    recipients: recipient,
    channels: channelId,
    'external-webhooks': webhook,
    deliveries: delivery,
    'resend-missed': resend,
  };
}

/** A digest of the workspace's rows in every table but `api_key` and `request_log`, which record the requests themselves. */
async function digestOf(workspaceId: number): Promise<string> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT table_name AS name FROM information_schema.columns
    WHERE column_name = 'workspace_id' AND table_schema = 'public' AND table_name NOT IN ('api_key', 'request_log') ORDER BY 1`);
  const parts: string[] = [];
  for (const { name } of rows) {
    const found = await client.query<{ digest: string }>(
      `SELECT md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) AS digest FROM ${name} t WHERE workspace_id = $1`,
      [workspaceId],
    );
    parts.push(`${name} ${found.rows[0]?.digest}`);
  }
  return parts.join('\n');
}
