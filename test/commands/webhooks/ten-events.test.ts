/**
 * The ten events of spec 6.2 from the change to a real receiver: the data of 6.3 field by field, in the transaction of the
 * change (a change whose event cannot be written does not happen), and once per actual change.
 */
import { randomUUID } from 'node:crypto';
import { isRight } from 'fp-ts/lib/Either.js';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWebhookActivities } from '../../../src/activities/deliver-webhook.ts';
import { eventEnvelope } from '../../../src/codecs/event.ts';
import { createApiKey } from '../../../src/commands/workspaces/api-keys.ts';
import { eventKeys, type EventKey } from '../../../src/domain/webhooks/event-key.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { recordOutcomes } from '../../../src/records/sending/outcomes.ts';
import { outcomesOf } from '../../support/outcomes.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import {
  createApplier,
  deliverAnyhow,
  fieldCallback,
  messagesCallback,
  rowsOf,
  status,
  type RecordingApplier,
} from '../../support/callback-fixtures.ts';
import {
  anyTokens,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { handOut, makeConfiguration, query } from '../../support/webhook-fixtures.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';

let api: TestApi;
let applier: RecordingApplier;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [api, receiver] = await Promise.all([startTestApi(), startWebhookReceiver()]);
  applier = createApplier(api.database.pool);
  await query(
    api.database,
    `CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'no event can be written'; END $$`,
  );
});
afterAll(async () => {
  await api.close();
  await receiver.close();
});

interface Fixture extends SeededCampaign {
  readonly key: string;
}

/** Creates a workspace with a running campaign of one recipient, and a webhook that subscribes to every event. */
async function seed(): Promise<Fixture> {
  const { pool } = api.database;
  const campaign = await seedCampaign(pool, { recipients: 1 });
  const { workspaceId, campaignId, channelId } = campaign;
  const { apiKey } = await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' });
  await makeConfiguration(pool, workspaceId, { url: receiver.url, events: [...eventKeys] });
  return { ...campaign, key: apiKey, channelId, campaignId };
}

async function acceptMessage({ campaignId, channelId }: Fixture): Promise<string> {
  const { pool } = api.database;
  const claimId = randomUUID();
  const prices = new Map([['', messagePrice]]);
  const claim = await claimBatch(pool, {
    ...anyTokens,
    claimId,
    campaignId,
    channelId,
    epoch: 0,
    limit: 1,
    prices,
  });
  if (claim.kind !== 'batch') throw new Error('nothing claimed');
  const providerMessageId = `wamid.${randomUUID()}`;
  const outcomes = new Map(
    claim.recipients.map(({ position }) => [position, { kind: 'accepted' as const, providerMessageId }]),
  );
  await recordOutcomes(pool, { campaignId, channelId, outcomes: outcomesOf(claimId, outcomes) });
  return providerMessageId;
}

interface ReceivedEvent {
  readonly eventKey: EventKey;
  readonly workspaceId: number;
  readonly timestamp: string;
  readonly data: unknown;
}

/** Delivers everything waiting and returns the requests for one event key of a workspace. */
async function deliverAndCollect(
  eventKey: EventKey,
  { workspaceId }: Fixture,
): Promise<readonly ReceivedEvent[]> {
  const { pool } = api.database;
  await fanOutEvents(pool, 1000);
  const { deliverWebhook } = createWebhookActivities(api.dependencies);
  const handedOut = await handOut(pool);
  await Promise.all(handedOut.map((deliveryId) => deliverWebhook({ deliveryId })));
  return receiver.received
    .filter(
      ({ headers }) =>
        headers['x-event-key'] === eventKey && headers['x-workspace-id'] === String(workspaceId),
    )
    .map(({ body }) => JSON.parse(body.toString()) as ReceivedEvent);
}

/**
 * Makes the change three times: while no event of the key can be written (it must not happen), normally, and once more
 * (nothing changes). Returns the data of the one event that was received.
 */
async function expectOneEvent(
  eventKey: EventKey,
  fixture: Fixture,
  change: () => Promise<unknown>,
): Promise<unknown> {
  await query(
    api.database,
    `CREATE TRIGGER refuse BEFORE INSERT ON event FOR EACH ROW WHEN (NEW.key = '${eventKey}')
     EXECUTE FUNCTION refuse_event()`,
  );
  await change();
  await query(api.database, 'DROP TRIGGER refuse ON event');
  expect(await deliverAndCollect(eventKey, fixture)).toEqual([]);

  await change();
  await change();
  const received = await deliverAndCollect(eventKey, fixture);
  expect(received).toHaveLength(1);
  caused.add(eventKey);
  const [event] = received;
  // The codec keeps what it names: nothing is left out and nothing is beside it.
  const decoded = eventEnvelope(eventKey).decode(event);
  expect(isRight(decoded) && decoded.right).toEqual(event);
  expect(event).toMatchObject({
    eventKey,
    workspaceId: fixture.workspaceId,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
  });
  return event?.data;
}

const caused = new Set<EventKey>();

const person = {
  phoneNumber: '0151 1234 5678',
  countryCode: '49',
  firstName: 'Grace',
  lastName: 'Hopper',
  chatName: 'Gracie',
  username: '',
  consent: 'all',
  email: 'grace@example.com',
  customFields: [{ fieldId: 'city', value: 'Berlin' }],
  dob: '1906-12-09T00:00:00Z',
};
const contactData = {
  ...person,
  id: expect.any(String),
  phoneNumber: '15112345678',
  source: 'api',
  subscribed: true,
  tagsId: [],
  dob: '1906-12-09T00:00:00.000Z',
  createdAt: expect.stringMatching(/Z$/),
  updatedAt: expect.stringMatching(/Z$/),
};

const createContact = ({ key }: Fixture) => api.send('POST', '/api/contacts', { key, body: person });

it('contact.created', async () => {
  const fixture = await seed();
  const data = await expectOneEvent('contact.created', fixture, () => createContact(fixture));
  expect(data).toEqual({ contact: contactData });
});

it('contact.updated, by an edit', async () => {
  const fixture = await seed();
  const { id } = (await createContact(fixture)).body.data;
  const data = await expectOneEvent('contact.updated', fixture, () =>
    api.send('PUT', `/api/contacts/${id}`, { key: fixture.key, body: { lastName: 'Murray', chatName: 'G' } }),
  );
  expect(data).toEqual({ contact: { ...contactData, id, lastName: 'Murray', chatName: 'G' } });
});

it('contact.updated, by the restoration of a deleted contact', async () => {
  const fixture = await seed();
  const { id } = (await createContact(fixture)).body.data;
  await api.send('DELETE', `/api/contacts/${id}`, { key: fixture.key });
  const data = await expectOneEvent('contact.updated', fixture, () => createContact(fixture));
  expect(data).toEqual({ contact: { ...contactData, id } });
});

const inbound = ({ channelId }: Fixture) => {
  const message = {
    id: `wamid.${randomUUID()}`,
    from: '4915112345678',
    timestamp: '1751142888',
    type: 'text',
    text: { body: 'Hello' },
  };
  const contacts = [{ profile: { name: 'Grace' }, wa_id: message.from }];
  return { message, contacts, callback: messagesCallback(channelId, { contacts, messages: [message] }) };
};

it('incoming', async () => {
  const fixture = await seed();
  const { message, contacts, callback } = inbound(fixture);
  const data = await expectOneEvent('incoming', fixture, () => deliverAnyhow(applier, [callback]));
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550100000', phone_number_id: fixture.channelId },
    contacts,
    messages: [message],
  };
  expect(data).toEqual({
    message,
    phoneNumberId: fixture.channelId,
    contactId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    conversationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    campaignId: null,
    providerEvent: {
      object: 'whatsapp_business_account',
      entry: [{ id: expect.any(String), changes: [{ field: 'messages', value }] }],
    },
  });
  // Beside it: the message is saved, and its conversation is there.
  const saved = await query(
    api.database,
    `SELECT FROM message JOIN conversation ON conversation.id = message.conversation_id
     WHERE message.workspace_id = $1 AND conversation.status = 'open'`,
    [fixture.workspaceId],
  );
  expect(saved).toHaveLength(1);
});

const pricing = { billable: true, pricing_model: 'PMP', category: 'utility' };

it.each(['sent', 'delivered', 'read', 'failed'] as const)('%s', async (name) => {
  const fixture = await seed();
  const providerMessageId = await acceptMessage(fixture);
  const given = status({
    status: name,
    providerMessageId,
    ...(name === 'failed' ? { code: 131026 } : { pricing }),
  });
  const data = await expectOneEvent(name, fixture, () =>
    deliverAnyhow(applier, [messagesCallback(fixture.channelId, { statuses: [given] })]),
  );
  const expected = {
    id: providerMessageId,
    status: name,
    timestamp: '1751142888',
    recipient_id: '4915100000001',
    ...(name === 'failed'
      ? {
          errors: [
            {
              code: 131026,
              title: 'Refused',
              message: 'Refused',
              error_data: { details: 'because of 131026' },
            },
          ],
        }
      : { pricing }),
  };
  expect(data).toEqual({
    status: expected,
    phoneNumberId: fixture.channelId,
    messageSource: 'campaign',
    messageId: expect.any(String),
    campaignId: fixture.campaignId,
    contactId: null,
    providerEvent: { statuses: [expected] },
  });
});

it.each([
  ['STATUS', 'message_template_status_update', { event: 'PAUSED', reason: 'LOW_QUALITY' }, 'PAUSED'],
  [
    'CATEGORY',
    'template_category_update',
    { previous_category: 'UTILITY', new_category: 'MARKETING' },
    'APPROVED',
  ],
])('template, when its %s changes', async (type, field, news, newStatus) => {
  const fixture = await seed();
  const providerTemplateId = String(BigInt(`0x${randomUUID().slice(0, 8)}`) + 1_000_000_000_000n);
  await query(api.database, 'UPDATE template SET provider_template_id = $1 WHERE id = $2', [
    providerTemplateId,
    fixture.templateId,
  ]);
  const [account] = await rowsOf<{ id: string }>(
    api.database.pool,
    sql.fragment`SELECT id FROM business_account WHERE workspace_id = ${fixture.workspaceId}`,
  );
  const callback = fieldCallback(account?.id ?? '', field, {
    message_template_id: Number(providerTemplateId),
    message_template_name: 'hello',
    message_template_language: 'en-US',
    ...news,
  });
  const data = await expectOneEvent('template', fixture, () => deliverAnyhow(applier, [callback]));
  expect(data).toEqual({
    type,
    providerTemplateId,
    newStatus,
    name: 'hello',
    language: 'en_US',
    reason: type === 'STATUS' ? 'LOW_QUALITY' : null,
    template: {
      id: fixture.templateId,
      name: 'hello',
      language: 'en_US',
      provider_template_id: providerTemplateId,
      provider_template_status: newStatus,
    },
  });
});

async function converse(fixture: Fixture) {
  await deliverAnyhow(applier, [inbound(fixture).callback]);
  const { body } = await api.send('GET', '/api/conversations', { key: fixture.key });
  const [{ id, contactId }] = body.data as [{ id: string; contactId: string }];
  const where = {
    conversationId: id,
    channelId: fixture.channelId,
    phoneNumberId: fixture.channelId,
    contactId,
  };
  return { id, where };
}

const ada = {
  id: 'user-17',
  name: 'Ada Lovelace',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
};
const grace = { id: 'user-18', name: 'Grace Hopper', email: 'grace@example.com' };

it('conversation.assigned', async () => {
  const fixture = await seed();
  const { id, where } = await converse(fixture);
  const assignment = {
    assignmentType: 'user',
    assignedTo: ada,
    assignedBy: grace,
    chatMode: 'manual',
    source: 'manual',
  };
  const data = await expectOneEvent('conversation.assigned', fixture, () =>
    api.send('POST', `/api/conversations/${id}/assign`, { key: fixture.key, body: assignment }),
  );
  expect(data).toEqual({ ...where, ...assignment });
});

it('conversation.status_changed', async () => {
  const fixture = await seed();
  const { id, where } = await converse(fixture);
  await query(
    api.database,
    `INSERT INTO responder_session (workspace_id, conversation_id, kind) VALUES ($1, $2, 'chatbot')`,
    [fixture.workspaceId, id],
  );
  const data = await expectOneEvent('conversation.status_changed', fixture, () =>
    api.send('PATCH', `/api/conversations/${id}/status`, {
      key: fixture.key,
      body: { status: 'closed', changedBy: grace },
    }),
  );
  expect(data).toEqual({
    ...where,
    previousStatus: 'open',
    newStatus: 'closed',
    closedAt: expect.stringMatching(/Z$/),
    changedBy: grace,
  });
  const sessions = await query(
    api.database,
    'SELECT status FROM responder_session WHERE conversation_id = $1',
    [id],
  );
  expect(sessions).toEqual([{ status: 'exited' }]);
});

it('caused every event of the catalogue, so that none is offered that never happens', () => {
  expect(eventKeys.filter((key) => !caused.has(key))).toEqual([]);
});
