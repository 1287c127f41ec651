/**
 * The largest records that can be stored pass through the whole service: checked, prepared, claimed, sent, reported, exported,
 * delivered to webhooks and erased. What each step makes of them is counted in bytes.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { beginCampaign } from '../../src/commands/campaigns/begin-campaign.ts';
import { stepErasure } from '../../src/commands/contacts/run-erasures.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { maxPayloadBytes } from '../../src/domain/webhooks/delivery.ts';
import { claimAttempts } from '../../src/records/webhooks/attempts.ts';
import { fanOutEvents } from '../../src/records/webhooks/events.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { createApplier, deliver, messagesCallback } from '../support/callback-fixtures.ts';
import { accept, createFakeProvider } from '../support/fake-provider.ts';
import { tablesWith } from '../support/tables-with.ts';
import { handOut, query } from '../support/webhook-fixtures.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const people = 12;
const variables = 20;
const numberOf = (at: number) => `+49151123450${String(at).padStart(2, '0')}`;
const names = Array.from({ length: variables }, (_, at) => String(at + 1));

let api: TestApi;
let workspace: SeededWorkspace;
const messageBytes: number[] = [];
beforeAll(async () => {
  const provider = createFakeProvider((message, count) => {
    messageBytes.push(Buffer.byteLength(JSON.stringify(message.template.components)));
    return accept(message, count);
  });
  api = await startTestApi({ config: { rateLimitPerSecond: 1_000_000 }, dependencies: { provider } });
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const send = async (method: string, path: string, body?: object) => {
  const answer = await api.send(method, path, { key: workspace.channelKey, ...(body && { body }) });
  expect([path, answer.status, answer.body?.error]).toEqual([path, expect.toBeOneOf([200, 201]), undefined]);
  return answer;
};
const bytesOf = async (method: string, path: string, body?: object) =>
  Buffer.byteLength((await send(method, path, body)).text);

async function largestTemplate(): Promise<string> {
  const body = { type: 'BODY', text: names.map((name) => `{{${name}}}`).join(' '), example: {} };
  const components = [
    { ...body, example: { body_text: ['e'.repeat(65_536 - JSON.stringify([body]).length - 40)] } },
  ];
  expect(JSON.stringify(components).length).toBeGreaterThan(65_000);
  const [template] = await query<{ id: string }>(
    api.database,
    `INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status,
       components)
     SELECT $1, $2, 'large' || n, rpad('large' || n, 512, 'n'), 'en_US', 'UTILITY', 'APPROVED', $3::jsonb
     FROM generate_series(1, 100) AS n RETURNING id`,
    [workspace.workspaceId, workspace.businessAccountId, JSON.stringify(components)],
  );
  return template?.id ?? '';
}

async function largestContacts(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at < people; at += 1) {
    const { body } = await send('POST', '/api/contacts', {
      phoneNumber: numberOf(at),
      firstName: 'F'.repeat(255),
      customFields: [
        ...names.map((name) => ({ fieldId: `long${name}`, value: 'v'.repeat(3_100) })),
        ...Array.from({ length: 180 }, (_, field) => ({ fieldId: `f${field}`, value: 'x' })),
      ],
    });
    ids.push(body.data.id);
  }
  return ids;
}

/** Reads a list by its cursor to the end; no page is larger than `most` bytes. */
async function readPages(path: string, most: number): Promise<number> {
  let rows = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body, text } = await send('GET', `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect([path, Buffer.byteLength(text) <= most]).toEqual([path, true]);
    rows += body.data.length;
    cursor = body.pagination.nextCursor;
  }
  return rows;
}

it('sends a campaign of the largest records, reports on it, and erases a person of it', async () => {
  const { database } = api.dependencies;
  await send('POST', '/api/external-webhooks', {
    title: 'Large',
    url: 'https://example.com/large',
    status: 'active',
    events: ['contact.created', 'contact.updated', 'incoming', 'sent'],
  });
  const templateId = await largestTemplate();
  const ids = await largestContacts();

  const campaign = {
    name: 'N'.repeat(255),
    description: 'D'.repeat(1_000),
    template_id: templateId,
    contact_selection_type: 'quick_contacts',
    quick_contacts: ids.map((_, at) => numberOf(at)),
    send_type: 'IMMEDIATE',
    variable_mapping: {
      body: Object.fromEntries(names.map((name) => [name, `custom.long${name}`])),
      header: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, 'a value of text'])),
    },
  };
  expect(await bytesOf('POST', '/api/campaigns/check', campaign)).toBeLessThan(64 * kibibyte);
  const created = await send('POST', '/api/campaigns/auto-trigger', campaign);
  const campaignId: string = created.body.data.campaign.id;
  await query(api.database, 'UPDATE wallet SET balance = 1000000000 WHERE workspace_id = $1', [
    workspace.workspaceId,
  ]);
  await prepareCampaign(api.dependencies, campaignId, {
    heartbeat: () => undefined,
    signal: new AbortController().signal,
  });
  const stored = await query<{ state: string; characters: number }>(
    api.database,
    `SELECT DISTINCT state, length(array_to_string(variables, '')) AS characters FROM recipient WHERE campaign_id = $1`,
    [campaignId],
  );
  expect(stored).toEqual([{ state: 'PENDING', characters: variables * 3_100 }]);

  await beginCampaign(api.dependencies, campaignId);
  await runSendStep(api.dependencies, campaignId, { budgetMs: 60_000, draining: () => false });
  expect(messageBytes).toHaveLength(people);
  expect(Math.max(...messageBytes)).toBeLessThan(80 * kibibyte);

  for (const path of ['', '/diagnosis', '/timeline?interval=minute'])
    expect(await bytesOf('GET', `/api/campaigns/${campaignId}${path}`)).toBeLessThan(300 * kibibyte);
  expect(await bytesOf('GET', '/api/campaigns?limit=100')).toBeLessThan(64 * kibibyte);
  expect(await bytesOf('GET', `/api/campaigns/${campaignId}/recipients?limit=1000`)).toBeLessThan(mebibyte);
  const [recipient] = (await send('GET', `/api/campaigns/${campaignId}/recipients?limit=1`)).body.data;
  expect(await bytesOf('GET', `/api/campaigns/${campaignId}/recipients/${recipient.id}`)).toBeLessThan(
    256 * kibibyte,
  );
  expect(await bytesOf('GET', `/api/templates/${templateId}`)).toBeLessThan(80 * kibibyte);
  expect(await bytesOf('GET', '/api/templates?limit=10')).toBeLessThan(mebibyte);
  const preview = { variable_mapping: campaign.variable_mapping, contact_id: ids[0] };
  expect(await bytesOf('POST', `/api/templates/${templateId}/preview`, preview)).toBeLessThan(256 * kibibyte);
  expect(await bytesOf('GET', '/api/notices?limit=100')).toBeLessThan(mebibyte);

  // Messages of the person, each as large as they are stored.
  await deliver(createApplier(database, { secrets: api.dependencies.secrets }), [
    messagesCallback(workspace.phoneNumberId, {
      contacts: [{ profile: { name: 'C'.repeat(5_000) }, wa_id: numberOf(0).slice(1) }],
      messages: Array.from({ length: 30 }, () => ({
        id: `wamid.${randomUUID()}`,
        from: numberOf(0).slice(1),
        timestamp: '1749416383',
        type: 'text',
        text: { body: 'long '.repeat(1_000) },
        more: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`more${at}`, 'm'.repeat(1_000)])),
      })),
    }),
  ]);
  expect(await readPages(`/api/contacts/${ids[0]}/history?limit=1000`, 1.2 * mebibyte)).toBe(31);
  expect(await readPages(`/api/messages?contact_id=${ids[0]}&limit=1000`, 1.2 * mebibyte)).toBe(30);
  const [conversation] = (await send('GET', `/api/conversations?contact_id=${ids[0]}`)).body.data;
  expect(await readPages(`/api/conversations/${conversation.id}/messages?limit=1000`, 1.2 * mebibyte)).toBe(
    31,
  );

  await fanOutEvents(database, 1_000);
  await handOut(database);
  const waiting = await query<{ id: string }>(
    api.database,
    `SELECT id FROM webhook_delivery WHERE state = 'pending'`,
  );
  const attempts = await claimAttempts(
    database,
    waiting.map(({ id }) => id),
    { leaseSeconds: 15, expiryHours: 24 },
  );
  const sizes = attempts.map(({ body }) => Buffer.byteLength(body));
  expect(sizes.filter((size) => size > 60 * kibibyte && size <= maxPayloadBytes).length).toBeGreaterThan(
    people,
  );

  const exported = await send('GET', `/api/contacts/${ids[0]}/export`);
  expect(exported.body.data.messages).toHaveLength(30);
  await send('DELETE', `/api/contacts/${ids[0]}?erase=true`);
  while (await stepErasure(api.dependencies, 0));
  expect(await tablesWith(database, numberOf(0).slice(1))).toEqual([]);
});
