/** Common to all endpoints: they require a key, and accept their own documented example. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as t from 'io-ts';
import { toJsonSchema } from '../../../src/codecs/json-schema.ts';
import { routes } from '../../../src/api/routes.ts';
import { exampleTemplateId } from '../../../src/codecs/template.ts';
import { insertCampaign } from '../../../src/records/campaigns/creation.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { postLedgerEntry } from '../../../src/records/wallet/wallets.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';

let api: TestApi;
let workspace: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi({ dependencies: { provider: createFakeProvider() } });
  workspace = await api.seedWorkspace();
  const { channelId } = workspace;
  await postLedgerEntry(api.database.pool, { channelId, kind: 'recharge', amount: 10_000_000n });
});
afterAll(() => api.close());

const declarations = routes.map(({ declaration }) => declaration);
const protectedOnes = declarations
  .filter(({ access }) => access !== 'public')
  .map((declaration) => ({ title: `${declaration.method} ${declaration.path}`, declaration }));

describe.each(protectedOnes)('$title', ({ declaration: { method, path, bodyExample, apiKeyOnly } }) => {
  const target = path.replaceAll(/:\w+/g, randomUUID());
  const jwt = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.c2ln`;
  const general = 'Unauthorized access: Invalid or missing authentication credentials.';
  const send = (headers: Readonly<Record<string, string>>) =>
    api.send(method, target, { headers, ...(bodyExample !== undefined && { body: bodyExample }) });

  it('asks for a key', async () => {
    for (const headers of [{}, { 'X-API-Key': 'nonsense' }]) {
      expect((await send(headers)).body).toMatchObject({ status: 'error', code: 401, message: general });
    }
  });

  it('does not take a JWT', async () => {
    const message = apiKeyOnly ? 'This endpoint is restricted to API key usage only' : general;
    expect((await send({ Authorization: `Bearer ${jwt}` })).body).toMatchObject({ code: 401, message });
  });
});

const insertTemplate = (id: string, text: string) =>
  api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${id}, ${workspace.workspaceId}, ${workspace.businessAccountId}, ${id}, ${id}, 'en_US', 'UTILITY', 'APPROVED',
      ${JSON.stringify([{ type: 'BODY', text }])}::jsonb) ON CONFLICT DO NOTHING`);

const made = async (path: string, body: object): Promise<string> => {
  const { body: answer, text } = await api.send('POST', path, { key: workspace.channelKey, body });
  const id = answer.data?.tagId ?? answer.data?.id;
  if (id === undefined) throw new Error(text);
  return id;
};

let numbers = 20_000_000;
const aContact = () => made('/api/contacts', { phoneNumber: `+49151${(numbers += 1)}` });

async function aConversation(): Promise<string> {
  const id = randomUUID();
  const contactId = await aContact();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO conversation (id, workspace_id, channel_id, contact_id, status)
    VALUES (${id}, ${workspace.workspaceId}, ${workspace.channelId}, ${contactId}, 'open')`);
  return id;
}

async function aCampaign(): Promise<string> {
  const templateId = randomUUID();
  await insertTemplate(templateId, 'Hi {{1}}.');
  const { id } = await insertCampaign(api.database.pool, {
    workspaceId: workspace.workspaceId,
    channelId: workspace.channelId,
    templateId,
    name: 'Tested',
    description: null,
    selectionType: 'all_contacts',
    audience: {},
    variableMapping: null,
    sendType: 'IMMEDIATE',
    scheduledAt: null,
    status: 'DRAFT',
    createdBy: 'test',
    input: undefined,
  });
  return id;
}

async function aPausedCampaign(): Promise<string> {
  const id = await aCampaign();
  await api.database.pool.query(sql.type(nothing)`
    UPDATE campaign SET status = 'PAUSED', pause_reason = 'OPERATOR', preparation_status = 'READY' WHERE id = ${id}`);
  return id;
}

const aWebhook = () =>
  made('/api/external-webhooks', { title: 'Example', url: 'https://example.com/hook', events: ['sent'] });

/** Creates what each operation's example refers to: the id in its path, or ids in its body. */
const needs: Readonly<Record<string, () => Promise<string | undefined>>> = {
  createCampaign: async () => {
    await insertTemplate(exampleTemplateId, 'Hi {{1}}.');
    return undefined;
  },
  sendTemplateMessage: async () => {
    await insertTemplate(exampleTemplateId, 'Hi {{1}}.');
    return undefined;
  },
  testCampaign: aCampaign,
  startCampaign: aPausedCampaign,
  updateCampaign: aCampaign,
  updateTag: () => made('/api/tags', { name: 'Example' }),
  updateContact: aContact,
  recordContactConsent: aContact,
  updateContactField: async () => {
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO contact_field (workspace_id, id, type) VALUES (${workspace.workspaceId}, 'turnover', 'text')`);
    return 'turnover';
  },
  updateSegment: () =>
    made('/api/segments', {
      name: 'Example',
      conditions: [{ field: 'subscribed', operator: 'eq', value: true }],
    }),
  assignConversation: aConversation,
  changeConversationStatus: aConversation,
  updateWebhook: aWebhook,
  resendFailedDeliveries: aWebhook,
  resendMissed: aWebhook,
  previewTemplate: async () => {
    const id = randomUUID();
    await insertTemplate(id, 'Hi {{1}}.');
    return id;
  },
  previewCampaignCsv: async () => {
    const form = new FormData();
    form.set('file', new Blob(['phone,country,name\n15112345678,49,Ada\n']), 'a.csv');
    const headers = { 'X-API-Key': workspace.channelKey };
    const uploaded = await fetch(`${api.baseUrl}/api/campaigns/csv-files`, {
      method: 'POST',
      headers,
      body: form,
    });
    return ((await uploaded.json()) as { data: { csv_file_key: string } }).data.csv_file_key;
  },
  testWebhook: aWebhook,
};

const withExample = declarations.filter(({ body }) => typeof body === 'object');

describe('the example of a body', () => {
  it.each(withExample)('of $operationId is accepted unchanged', async (declaration) => {
    const { method, path, access, operationId, bodyExample, responses } = declaration;
    const id = await needs[operationId]?.();
    const answer = await api.send(method, path.replace(/:\w+/, id ?? ''), {
      key: access === 'operator' ? workspace.operatorKey : workspace.channelKey,
      body:
        operationId === 'rechargeWallet'
          ? { ...(bodyExample as object), channel_id: workspace.channelId }
          : bodyExample,
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(Object.keys(responses)).toContain(String(answer.status));
  });

  it('is there for every endpoint that takes one', () => {
    const without = withExample.filter(({ bodyExample }) => bodyExample === undefined);
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
    expect(withExample.length).toBeGreaterThan(10);
  });
});

it('is held to the document: another status or another shape fails the test that meets it', () => {
  const exchange = { method: 'GET', path: '/api/tags', contentType: 'application/json' };
  expect(() => api.contract.check({ ...exchange, status: 418, body: {} })).toThrow('not in the document');
  expect(() => api.contract.check({ ...exchange, status: 200, body: { status: 'success' } })).toThrow(
    'breaks its schema',
  );
});

/** The `limit` parameter as the OpenAPI document describes it. */
const limitOf = (query: unknown) =>
  (toJsonSchema(query as t.Mixed)['properties'] as Record<string, { default?: number }>)['limit'];
const lists = declarations.filter(
  ({ method, path, query }) =>
    method === 'GET' && !path.includes(':') && query !== undefined && limitOf(query) !== undefined,
);

it.each(lists)('$path holds as many as it says, without a limit', async ({ path, query }) => {
  const { body } = await api.send('GET', path, { key: workspace.workspaceKey });
  expect(body.pagination.limit).toBe(limitOf(query)?.default);
});
