import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { fanOutEvents } from '../../src/records/webhooks/events.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stepErasure } from '../../src/commands/contacts/run-erasures.ts';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { row } from '../../src/records/database/row.ts';
import { tablesWith } from '../support/tables-with.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import {
  createApplier,
  deliver,
  messagesCallback,
  rowsOf,
  status,
  subscribeToAll,
} from '../support/callback-fixtures.ts';
import { checkBooks, seedCampaign, type SeededCampaign } from '../support/campaign-factory.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const digits = '525512345678';
const waId = '5215512345678';
const userId = 'MX.13491208655302741918';

const numbered = { phoneNumber: '5512345678', countryCode: '52' };

const query = (statement: ReturnType<typeof sql.fragment>) =>
  api.dependencies.database.query(sql.type(row(t.type({})))`${statement}`);

interface Person {
  readonly key: string;
  readonly contactId: string;
  readonly campaign: SeededCampaign;
}

/** A person who received a campaign, replied under another form of the number, and appears in every table. */
async function aPerson(body = 'STOP'): Promise<Person> {
  const { database } = api.dependencies;
  const campaign = await seedCampaign(database, { recipients: 2 });
  const { workspaceId } = campaign;
  const { apiKey: key } = await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' });
  await subscribeToAll(database, workspaceId);
  const created = await api.send('POST', '/api/contacts', {
    key,
    body: { ...numbered, firstName: 'Frida', email: 'frida@example.com' },
  });
  const contactId: string = created.body.data.id;
  await query(sql.fragment`UPDATE recipient SET contact_id = ${contactId}, phone_number = ${digits}, state = 'DELIVERED',
      variables = ARRAY['Frida'], provider_message_id = ${`wamid.${waId}`}
    WHERE campaign_id = ${campaign.campaignId} AND position = 1`);
  await query(sql.fragment`INSERT INTO provider_message (hash, recipient_id)
    SELECT hashtextextended(provider_message_id, 0), id FROM recipient
    WHERE campaign_id = ${campaign.campaignId} AND position = 1`);
  await query(sql.fragment`UPDATE recipient SET contact_id = ${contactId}, phone_number = ${digits}, state = 'SKIPPED',
      sendable = false, reason = 'DUPLICATE' WHERE campaign_id = ${campaign.campaignId} AND position = 2`);
  await deliver(createApplier(database, { secrets: api.dependencies.secrets }), [
    messagesCallback(campaign.channelId, {
      contacts: [{ profile: { name: 'Frida K.' }, wa_id: waId, user_id: userId }],
      messages: [
        {
          id: `wamid.${randomUUID()}`,
          from: waId,
          from_user_id: userId,
          timestamp: '1749416383',
          type: 'text',
          text: { body },
        },
      ],
      statuses: [{ id: `wamid.stranger.${waId}`, status: 'sent', timestamp: '1', recipient_id: waId }],
    }),
  ]);
  return { key, contactId, campaign };
}

const erase = ({ key, contactId }: Person) =>
  api.send('DELETE', `/api/contacts/${contactId}?erase=true`, { key });

async function runErasures(): Promise<void> {
  while (await stepErasure(api.dependencies, 0));
}

it('forgets a person: nothing is left in the database but a hash', async () => {
  const person = await aPerson();
  expect(await tablesWith(api.dependencies.database, digits)).toContain('recipient');
  expect(await tablesWith(api.dependencies.database, waId)).toContain('provider_callback');
  expect(await erase(person)).toMatchObject({
    status: 200,
    body: { message: 'Contact erased successfully' },
  });
  await runErasures();
  for (const text of [digits, waId, userId, '5512345678', 'Frida', 'frida@']) {
    expect([text, await tablesWith(api.dependencies.database, text)]).toEqual([text, []]);
  }
  expect(await erase(person)).toMatchObject({ status: 404 });
  const audit = await api.send('GET', '/api/audit', { key: person.key });
  expect(audit.body.data[0]).toMatchObject({
    action: 'contact.erase',
    object_id: person.contactId,
    command: null,
    key_id: expect.any(String),
    request_id: expect.any(String),
  });
});

it('deletes the stored callbacks of a former number of the person', async () => {
  const { key, contactId, campaign } = await aPerson();
  const former = '4915100004711';
  await query(sql.fragment`UPDATE contact SET phone_number = ${former} WHERE id = ${contactId}`);
  await deliver(createApplier(api.dependencies.database, { secrets: api.dependencies.secrets }), [
    messagesCallback(campaign.channelId, {
      messages: [
        { id: 'wamid.former', from: former, timestamp: '1749416383', type: 'text', text: { body: 'Hi' } },
      ],
    }),
  ]);
  const moveTo = (number: string) =>
    query(sql.fragment`UPDATE contact SET phone_number = ${number} WHERE id = ${contactId}`);
  for (const number of [digits, former, digits]) await moveTo(number);
  const kept = sql.fragment`SELECT former_numbers FROM contact WHERE id = ${contactId}`;
  expect(await rowsOf(api.dependencies.database, kept)).toEqual([{ former_numbers: [digits, former] }]);
  expect(await tablesWith(api.dependencies.database, former)).toContain('provider_callback');
  await erase({ key, contactId, campaign });
  await runErasures();
  expect(await tablesWith(api.dependencies.database, former)).toEqual([]);
});

it('streams the export of a person who wrote a lot, in order', async () => {
  const { key, contactId, campaign } = await aPerson();
  await query(sql.fragment`INSERT INTO message (workspace_id, channel_id, contact_id, phone_number, direction, source, state,
      content, created_at)
    SELECT ${campaign.workspaceId}, ${campaign.channelId}, ${contactId}, ${digits}, 'inbound', 'unknown', 'RECEIVED',
      n || repeat('x', 50000), now() + n * interval '1 second'
    FROM generate_series(1, 100) AS n`);
  const { headers, body } = await api.send('GET', `/api/contacts/${contactId}/export`, { key });
  expect([headers.get('content-type'), headers.get('content-length')]).toEqual([
    'application/json; charset=utf-8',
    null,
  ]);
  const written = body.data.messages.map(({ content }: { content: string }) => Number.parseInt(content, 10));
  // The first is the reply of `aPerson`, which is JSON.
  expect(written).toEqual([Number.NaN, ...Array.from({ length: 100 }, (_, at) => at + 1)]);
  const gone = await api.send('GET', `/api/contacts/${randomUUID()}/export`, { key });
  expect(gone.status).toBe(404);
});

it('clears every column of a contact but those that say nothing about the person', async () => {
  const kept = [
    'id',
    'workspace_id',
    'source',
    'subscribed',
    'consent_at',
    'consent',
    'stop_all',
    'stop_all_at',
    'stop_marketing',
    'stop_marketing_at',
    'created_at',
    'updated_at',
    'deleted_at',
    'erased_at',
  ];
  const { contactId, ...person } = await aPerson();
  const columns = sql.fragment`
    SELECT key, value FROM contact, jsonb_each_text(to_jsonb(contact))
    WHERE id = ${contactId} AND COALESCE(value, '') NOT IN ('', '{}') ORDER BY key`;
  const filled = async () => {
    const rows = await rowsOf<{ readonly key: string }>(api.dependencies.database, columns);
    return rows.map(({ key }) => key).filter((key) => !kept.includes(key));
  };
  await query(sql.fragment`UPDATE contact SET former_numbers = ARRAY['5215500000000'], last_name = 'Kahlo', chat_name = 'Frida K.', username = 'frida.k',
    custom_fields = '{"city": "Coyoacán"}', dob = '1907-07-06' WHERE id = ${contactId}`);
  const all = await rowsOf<{ readonly name: string }>(
    api.dependencies.database,
    sql.fragment`SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'contact' ORDER BY 1`,
  );
  // A column that this test leaves empty could not be seen to be cleared.
  expect(await filled()).toEqual(all.map(({ name }) => name).filter((name) => !kept.includes(name)));
  expect((await erase({ contactId, ...person })).status).toBe(200);
  await runErasures();
  expect(await filled()).toEqual([]);
});

it('delivers no event of an erased person any more', async () => {
  const person = await aPerson();
  const { database } = api.dependencies;
  const created = await api.send('POST', '/api/external-webhooks', {
    key: person.key,
    body: { title: 'all', url: 'https://receiver.example/', status: 'active', events: ['contact.updated'] },
  });
  const change = (firstName: string) =>
    api.send('PUT', `/api/contacts/${person.contactId}`, { key: person.key, body: { firstName } });
  const deliveries = async (): Promise<readonly string[]> => {
    await fanOutEvents(database, 100);
    const path = `/api/external-webhooks/${created.body.data.id}/deliveries`;
    const { body } = await api.send('GET', path, { key: person.key });
    return body.data.map(
      ({ state, errorCode }: { state: string; errorCode: string | null }) => `${state} ${errorCode}`,
    );
  };
  await change('Frida Kahlo');
  const before = await deliveries();
  expect(new Set(before)).toEqual(new Set(['pending null']));
  // This event has no delivery yet.
  await change('Frida K.');
  expect((await erase(person)).status).toBe(200);
  await runErasures();
  expect(await deliveries()).toEqual(before.map(() => 'failed erased'));
});

it('skips an erased person who waits in a campaign', async () => {
  const { key, contactId, campaign } = await aPerson();
  const { database } = api.dependencies;
  await query(sql.fragment`UPDATE recipient SET state = 'PENDING' WHERE campaign_id = ${campaign.campaignId}
    AND position = 1`);
  await query(sql.fragment`UPDATE campaign_counter SET pending = 1, skipped = 1
    WHERE campaign_id = ${campaign.campaignId}`);
  await query(sql.fragment`UPDATE campaign SET total_contacts = 1, total_contacts_skipped = 1
    WHERE id = ${campaign.campaignId}`);
  const foreign = await seedCampaign(database, { recipients: 2 });
  await api.send('DELETE', `/api/contacts/${contactId}?erase=true`, { key });
  const fitting = { counters_fit: true, totals_fit: true };
  expect(await checkBooks(database, campaign)).toMatchObject(fitting);
  expect(await checkBooks(database, foreign)).toMatchObject(fitting);
  const totals = sql.fragment`SELECT total_contacts, total_contacts_skipped FROM campaign
    WHERE id = ANY (${sql.array([campaign.campaignId, foreign.campaignId], 'uuid')}) ORDER BY workspace_id`;
  expect(await rowsOf(database, totals)).toEqual([
    { total_contacts: 0, total_contacts_skipped: 2 },
    { total_contacts: 2, total_contacts_skipped: 0 },
  ]);
  const state = sql.fragment`SELECT state, reason FROM recipient WHERE campaign_id = ${campaign.campaignId}
    AND position = 1`;
  expect(await rowsOf(database, state)).toEqual([{ state: 'SKIPPED', reason: 'CONTACT_DELETED' }]);
});

it('keeps an erased person erased when their statuses and replies come later', async () => {
  const person = await aPerson();
  const { database } = api.dependencies;
  const { campaignId, channelId, workspaceId } = person.campaign;
  await query(sql.fragment`UPDATE campaign_counter SET pending = 0, delivered = 1, skipped = 1
    WHERE campaign_id = ${campaignId}`);
  await erase(person);
  await runErasures();
  const [recipient] = await rowsOf<{ id: string }>(
    database,
    sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${campaignId} AND position = 1`,
  );
  const [sent, late] = [`wamid.of.${waId}`, `wamid.${randomUUID()}`];
  const applier = createApplier(database, { secrets: api.dependencies.secrets });
  await deliver(applier, [
    messagesCallback(channelId, {
      statuses: [status({ status: 'read', providerMessageId: late, callbackData: recipient?.id ?? '' })],
    }),
  ]);
  expect(await tablesWith(database, late)).toEqual([]);
  expect(
    await rowsOf(
      database,
      sql.fragment`SELECT state, provider_message_id FROM recipient WHERE id = ${recipient?.id ?? ''}`,
    ),
  ).toEqual([{ state: 'READ', provider_message_id: null }]);
  // The message that is answered names the erased contact, as one does whose outcome was recorded late.
  await query(
    sql.fragment`UPDATE recipient SET provider_message_id = ${sent} WHERE id = ${recipient?.id ?? ''}`,
  );
  await query(sql.fragment`INSERT INTO provider_message (hash, recipient_id)
    VALUES (hashtextextended(${sent}, 0), ${recipient?.id ?? ''})`);
  const reply = { id: `wamid.${randomUUID()}`, from: waId, timestamp: '1749416383', context: { id: sent } };
  await deliver(applier, [
    messagesCallback(channelId, { messages: [{ ...reply, type: 'text', text: { body: 'Hello' } }] }),
  ]);
  const contacts = await rowsOf<{ id: string; erased: boolean }>(
    database,
    sql.fragment`SELECT id, erased_at IS NOT NULL AS erased, deleted_at IS NOT NULL AS deleted, phone_number
      FROM contact WHERE workspace_id = ${workspaceId} AND (phone_number = ${digits} OR id = ${person.contactId})
      ORDER BY erased DESC`,
  );
  expect(contacts).toEqual([
    { id: person.contactId, erased: true, deleted: true, phone_number: null },
    { id: expect.any(String), erased: false, deleted: false, phone_number: digits },
  ]);
});

it.each([
  ['STOP', false],
  ['Hello', true],
])(
  'registers a person again who wrote %s before the erasure, as subscribed: %s',
  async (said, subscribed) => {
    const person = await aPerson(said);
    await erase(person);
    const again = await api.send('POST', '/api/contacts', { key: person.key, body: numbered });
    expect(again.body.data).toMatchObject({ subscribed });
    expect(again.body.data.id).not.toBe(person.contactId);
  },
);

it('exports the stored data of a person', async () => {
  const { key, contactId } = await aPerson();
  for (const number of ['4915100004711', digits])
    await query(sql.fragment`UPDATE contact SET phone_number = ${number} WHERE id = ${contactId}`);
  const { body } = await api.send('GET', `/api/contacts/${contactId}/export`, { key });
  expect(body.data).toMatchObject({
    contact: { id: contactId, firstName: 'Frida', subscribed: false },
    formerNumbers: ['4915100004711'],
    providerIds: [userId],
    consents: [{ subscribed: false, source: 'person', at: expect.any(String) }],
    conversations: [{ status: 'open' }],
    messages: [{ direction: 'inbound', content: expect.stringContaining('STOP') }],
    campaignMessages: [{ variables: ['Frida'] }, { state: 'SKIPPED' }],
  });
  const other = await api.seedWorkspace();
  expect(await api.send('GET', `/api/contacts/${contactId}/export`, { key: other.channelKey })).toMatchObject(
    {
      status: 404,
    },
  );
});

it('lists the ledger and who paid, page by page', async () => {
  const workspace = await api.seedWorkspace();
  for (const amount of ['5', '7']) {
    await api.send('POST', '/api/wallet/recharge', {
      key: workspace.operatorKey,
      body: { channel_id: workspace.channelId, amount },
    });
  }
  const page = (cursor = '') =>
    api.send('GET', `/api/wallet/entries?limit=1${cursor}`, { key: workspace.channelKey });
  const first = await page();
  expect(first.body.data).toMatchObject([{ kind: 'recharge', amount: '7' }]);
  const second = await page(`&cursor=${first.body.pagination.nextCursor}`);
  expect(second.body).toMatchObject({ data: [{ amount: '5' }], pagination: { nextCursor: null } });
  const audit = await api.send('GET', '/api/audit?limit=2', { key: workspace.workspaceKey });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'wallet.recharge',
    'wallet.recharge',
  ]);
  const stranger = await api.seedWorkspace();
  const foreign = `/api/wallet/entries?channel_id=${workspace.channelId}`;
  expect((await api.send('GET', foreign, { key: stranger.channelKey })).status).toBe(404);
  expect(
    await rowsOf(
      api.dependencies.database,
      sql.fragment`SELECT count(*)::int AS n FROM audit_entry
    WHERE workspace_id = ${stranger.workspaceId} AND action = 'wallet.recharge'`,
    ),
  ).toEqual([{ n: 0 }]);
});
