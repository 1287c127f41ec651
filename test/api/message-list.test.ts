/** Reading messages, replies to a campaign, and the consents of a contact. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aTemplate } from '../support/audience-campaign.ts';
import { createApplier, deliver, messagesCallback } from '../support/callback-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const number = '4915166131026';

async function call(workspace: SeededWorkspace, method: string, path: string, body?: unknown) {
  const answer = await api.send(method, path, {
    key: workspace.channelKey,
    ...(body !== undefined && { body }),
  });
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

const createContact = async (workspace: SeededWorkspace, fields: object): Promise<string> =>
  (await call(workspace, 'POST', '/api/contacts', fields)).data.id;

const inbound = (workspace: SeededWorkspace, text: string, context?: object) => ({
  ...messagesCallback(workspace.phoneNumberId, {
    contacts: [{ profile: { name: 'Ada' }, wa_id: number }],
    messages: [
      {
        id: `wamid.${randomUUID()}`,
        from: number,
        timestamp: String(Math.floor(Date.now() / 1000)),
        type: 'text',
        text: { body: text },
        ...(context !== undefined && { context }),
      },
    ],
  }),
});

it('explains a message by the consent that was in force when it left', async () => {
  const workspace = await api.seedWorkspace();
  const { pool } = api.database;
  const contactId = await createContact(workspace, { phoneNumber: '+4915112345678' });
  const evidence = { text: 'Yes, please', category: 'MARKETING' };
  await call(workspace, 'POST', `/api/contacts/${contactId}/consents`, evidence);
  const templateId = await aTemplate(pool, workspace);
  const { campaign } = (
    await call(workspace, 'POST', '/api/campaigns/auto-trigger', {
      name: 'Winter',
      template_id: templateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678'],
      send_type: 'IMMEDIATE',
    })
  ).data;
  const [sent, unsent, late] = [randomUUID(), randomUUID(), randomUUID()];
  const insert = (id: string, position: number, seconds: number | null) =>
    pool.query(sql.type(nothing)`
      INSERT INTO recipient (campaign_id, position, id, contact_id, phone_number, sendable, state, price, settlement, accepted_at)
      VALUES (${campaign.id}, ${position}, ${id}, ${contactId}, ${`491511234567${position}`}, true, 'PENDING', 10700, 'charged',
        clock_timestamp() + make_interval(secs => ${seconds}))`);
  await insert(sent, 1, 0.01);
  await insert(unsent, 2, null);
  await call(workspace, 'PUT', `/api/contacts/${contactId}`, { consent: 'none' });
  await insert(late, 3, 60);
  const explain = async (id: string) =>
    (await call(workspace, 'GET', `/api/messages/${id}/explanation`)).data;
  expect(await explain(sent)).toMatchObject({
    message: { id: sent, contactId },
    consent: { consent: 'all', entry: { text: 'Yes, please', source: 'api' } },
    campaign: { id: campaign.id, name: 'Winter' },
    template: { id: templateId, category: 'MARKETING' },
    price: { amount: '0.0107', settlement: 'charged' },
    receipts: { accepted_at: expect.stringMatching(/Z$/), sent_at: null },
  });
  expect((await explain(unsent)).consent).toEqual({ consent: null, entry: null });
  expect((await explain(late)).consent).toMatchObject({ consent: 'none', entry: { text: null } });
});

it('lists single sends and replies, reads a message by its id, and lists opt-outs and opt-ins', async () => {
  const workspace = await api.seedWorkspace();
  const { pool } = api.database;
  const contactId = await createContact(workspace, { phoneNumber: `+${number}`, firstName: 'Ada' });
  const { campaign } = (
    await call(workspace, 'POST', '/api/campaigns/auto-trigger', {
      name: 'Winter',
      template_id: await aTemplate(pool, workspace),
      contact_selection_type: 'quick_contacts',
      quick_contacts: [`+${number}`],
      send_type: 'IMMEDIATE',
    })
  ).data;
  const recipientId = randomUUID();
  await pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, id, contact_id, phone_number, sendable, state, provider_message_id)
    VALUES (${campaign.id}, 1, ${recipientId}, ${contactId}, ${number}, true, 'READ', ${`wamid.${recipientId}`})`);
  await pool.query(sql.type(nothing)`
    INSERT INTO provider_message (hash, recipient_id) VALUES (hashtextextended(${`wamid.${recipientId}`}, 0), ${recipientId})`);
  const applier = createApplier(pool);
  await deliver(applier, [inbound(workspace, 'Hello')]);
  await deliver(applier, [inbound(workspace, 'Is it still there?', { id: `wamid.${recipientId}` })]);
  await deliver(applier, [inbound(workspace, 'STOP')]);
  await call(workspace, 'PUT', `/api/contacts/${contactId}`, { subscribed: true });

  const texts = (body: { data: readonly { text: string }[] }) => body.data.map(({ text }) => text);
  const all = await call(workspace, 'GET', `/api/messages?contact_id=${contactId}`);
  expect(texts(all)).toEqual(['STOP', 'Is it still there?', 'Hello']);
  const first = await call(workspace, 'GET', `/api/messages?phone_number=%2B49%20151%2066131026&limit=2`);
  const rest = await call(workspace, 'GET', `/api/messages?limit=2&cursor=${first.pagination.nextCursor}`);
  expect([...texts(first), ...texts(rest)]).toEqual(texts(all));
  expect(texts(await call(workspace, 'GET', '/api/messages?state=RECEIVED&state=FAILED'))).toEqual(
    texts(all),
  );
  expect(texts(await call(workspace, 'GET', '/api/messages?state=FAILED'))).toEqual([]);
  expect(texts(await call(workspace, 'GET', `/api/messages?to=2020-01-01T00:00:00Z`))).toEqual([]);
  const replies = await call(workspace, 'GET', `/api/messages?campaign_id=${campaign.id}&state=RECEIVED`);
  expect(texts(replies)).toEqual(['Is it still there?']);

  const { data: reply } = await call(workspace, 'GET', `/api/messages/${replies.data[0].id}`);
  expect(reply).toMatchObject({
    contactId,
    campaignId: campaign.id,
    direction: 'inbound',
    source: 'contact',
  });
  const { data: sent } = await call(workspace, 'GET', `/api/messages/${recipientId}`);
  expect(sent).toMatchObject({
    id: recipientId,
    contactId,
    campaignId: campaign.id,
    state: 'READ',
    phoneNumber: number,
    phoneNumberId: workspace.phoneNumberId,
  });
  const other = await api.seedWorkspace();
  for (const id of [recipientId, reply.id])
    expect((await api.send('GET', `/api/messages/${id}`, { key: other.channelKey })).status).toBe(404);

  const { data: consents } = await call(workspace, 'GET', `/api/contacts/${contactId}/consents`);
  expect(consents).toMatchObject([
    { subscribed: true, source: 'api' },
    { subscribed: false, source: 'person' },
  ]);
});
