import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IncomingData } from '../../src/codecs/event.ts';
import { nothing } from '../../src/records/row.ts';
import {
  createApplier,
  deliver,
  eventsOf,
  fieldCallback,
  messagesCallback,
  rowsOf,
  subscribeToAll,
  type RecordingApplier,
} from '../support/callback-fixtures.ts';
import { seedCampaign, type SeededCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inboundKinds } from '../support/inbound-fixtures.ts';

let database: TestDatabase;
let applier: RecordingApplier;

beforeAll(async () => {
  database = await createTestDatabase();
  applier = createApplier(database.pool);
});
afterAll(() => database.drop());

async function seed(responder = 'none'): Promise<SeededCampaign> {
  const place = await seedCampaign(database.pool, { recipients: 1 });
  await subscribeToAll(database.pool, place.workspaceId);
  await database.pool.query(sql.type(nothing)`
    UPDATE channel SET responder = ${responder} WHERE id = ${place.channelId}`);
  return place;
}

type Json = Readonly<Record<string, unknown>>;

const number = '4915112345678';

function text(body: string, rest: Json = {}): Json {
  return {
    id: `wamid.${randomUUID()}`,
    from: number,
    timestamp: '1749416383',
    type: 'text',
    text: { body },
    ...rest,
  };
}

const contacts = (name = 'Ada Lovelace'): readonly Json[] => [{ profile: { name }, wa_id: number }];

const inbound = (place: SeededCampaign, message: Json, people: readonly Json[] = contacts()) =>
  messagesCallback(place.channelId, { contacts: people, messages: [message] });

const contactsOf = ({ workspaceId }: SeededCampaign) =>
  rowsOf<Json>(
    database.pool,
    sql.fragment`SELECT phone_number, country_code, country, provider_user_id, chat_name, source, subscribed,
        deleted_at IS NOT NULL AS deleted
      FROM contact WHERE workspace_id = ${workspaceId} ORDER BY created_at`,
  );

const conversationsOf = ({ channelId }: SeededCampaign) =>
  rowsOf<Json>(
    database.pool,
    sql.fragment`SELECT status, chat_mode, (SELECT count(*)::int FROM responder_session
        WHERE conversation_id = conversation.id AND status = 'active') AS sessions
      FROM conversation WHERE channel_id = ${channelId} ORDER BY created_at`,
  );

const messagesOf = ({ channelId }: SeededCampaign) =>
  rowsOf<Json>(
    database.pool,
    sql.fragment`SELECT type, state, direction, provider_message_id, phone_number, contact_id IS NOT NULL AS known,
        conversation_id IS NOT NULL AS placed
      FROM message WHERE channel_id = ${channelId} ORDER BY created_at, id`,
  );

const keysOf = async ({ workspaceId }: SeededCampaign) =>
  (await eventsOf(database.pool, workspaceId)).map(({ eventKey }) => eventKey);

const setConversations = ({ channelId }: SeededCampaign, status: string) =>
  database.pool.query(sql.type(nothing)`
    UPDATE conversation SET status = ${status} WHERE channel_id = ${channelId}`);

describe('an inbound message', () => {
  it('saves the message and registers contact and conversation', async () => {
    const place = await seed();
    const message = text('Hello');
    await deliver(applier, [inbound(place, message)]);
    expect(await contactsOf(place)).toEqual([
      {
        phone_number: number,
        country_code: '49',
        country: 'DE',
        provider_user_id: null,
        chat_name: 'Ada Lovelace',
        source: 'incoming',
        subscribed: true,
        deleted: false,
      },
    ]);
    expect(await conversationsOf(place)).toEqual([{ status: 'open', chat_mode: 'manual', sessions: 0 }]);
    expect(await messagesOf(place)).toEqual([
      {
        type: 'text',
        state: 'RECEIVED',
        direction: 'inbound',
        provider_message_id: message['id'],
        phone_number: number,
        known: true,
        placed: true,
      },
    ]);
    expect(await keysOf(place)).toEqual(['contact.created', 'incoming']);
  });

  it('gives the event the data of the contract, with the provider’s notification inside', async () => {
    const place = await seed();
    const message = text('Hello');
    const callback = inbound(place, message);
    await deliver(applier, [callback]);
    const event = (await eventsOf(database.pool, place.workspaceId)).find(
      ({ eventKey }) => eventKey === 'incoming',
    );
    expect(event?.data).toEqual({
      message,
      phoneNumberId: place.channelId,
      providerEvent: {
        object: 'whatsapp_business_account',
        entry: [
          {
            id: '1000200030004000',
            changes: [
              {
                field: 'messages',
                value: {
                  messaging_product: 'whatsapp',
                  metadata: { display_phone_number: '15550100000', phone_number_id: place.channelId },
                  contacts: contacts(),
                  messages: [message],
                },
              },
            ],
          },
        ],
      },
    });
  });

  it.each(inboundKinds.map((kind) => [kind.name, kind] as const))(
    'is saved and told when it is %s',
    async (_, kind) => {
      const place = await seed();
      const message = { id: `wamid.${randomUUID()}`, from: number, timestamp: '1749416383', ...kind.message };
      await deliver(applier, [inbound(place, message, kind.contacts ?? contacts())]);
      expect(await messagesOf(place)).toMatchObject([{ type: kind.type, state: 'RECEIVED' }]);
      const incoming = (await eventsOf(database.pool, place.workspaceId)).filter(
        ({ eventKey }) => eventKey === 'incoming',
      );
      expect(incoming).toHaveLength(1);
      expect(IncomingData.is(incoming[0]?.data)).toBe(true);
    },
  );

  it('is saved once however often and in how many callbacks it is told', async () => {
    const place = await seed();
    const message = text('Hello');
    const callback = inbound(place, message);
    await deliver(applier, [callback, callback]);
    await Promise.all([deliver(applier, [callback]), deliver(applier, [callback])]);
    await deliver(applier, [
      messagesCallback(place.channelId, { contacts: contacts(), messages: [message, message] }),
    ]);
    expect(await messagesOf(place)).toHaveLength(1);
    expect(await keysOf(place)).toEqual(['contact.created', 'incoming']);
  });

  it('registers one contact when several workers hear of the same new person', async () => {
    const place = await seed();
    const callbacks = Array.from({ length: 20 }, (_, n) => inbound(place, text(`Hello ${n}`)));
    await Promise.all(callbacks.map((callback) => deliver(applier, [callback])));
    expect(await contactsOf(place)).toHaveLength(1);
    expect(await conversationsOf(place)).toHaveLength(1);
    expect(await messagesOf(place)).toHaveLength(20);
    expect((await keysOf(place)).filter((key) => key === 'contact.created')).toHaveLength(1);
  });

  it('keeps what neither text nor jsonb can hold', async () => {
    const place = await seed();
    const callback = JSON.stringify(inbound(place, text('PLACE'), contacts('NAME')))
      .replace('PLACE', 'nul \\u0000 and half \\ud83d')
      .replace('NAME', 'Ada\\u0000');
    await deliver(applier, [Buffer.from(callback)]);
    expect(await messagesOf(place)).toHaveLength(1);
    const event = (await eventsOf(database.pool, place.workspaceId)).find(
      ({ eventKey }) => eventKey === 'incoming',
    );
    expect(event?.data.message.text.body).toBe('nul \u0000 and half \ud83d');
  });
});

describe('the sender', () => {
  it('may be known by the provider’s user id alone, and by number later', async () => {
    const place = await seed();
    const hidden = {
      id: 'wamid.h1',
      from_user_id: 'US.13491208655302741918',
      timestamp: '1749416383',
      type: 'text',
      text: { body: 'Hi' },
    };
    const people = [{ profile: { name: 'Grace' }, user_id: 'US.13491208655302741918' }];
    await deliver(applier, [inbound(place, hidden, people)]);
    expect(await contactsOf(place)).toMatchObject([
      {
        phone_number: null,
        provider_user_id: 'US.13491208655302741918',
        chat_name: 'Grace',
        country_code: '',
      },
    ]);
    const shown = { ...hidden, id: 'wamid.h2', from: number };
    await deliver(applier, [inbound(place, shown, [{ ...people[0], wa_id: number }])]);
    expect(await contactsOf(place)).toMatchObject([
      { phone_number: number, provider_user_id: 'US.13491208655302741918', country_code: '49' },
    ]);
    expect(await keysOf(place)).toEqual(['contact.created', 'incoming', 'contact.updated', 'incoming']);
  });

  it('is saved with the message even when the provider names nobody', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, { id: 'wamid.nobody', type: 'text', text: { body: 'Hi' } }, [])]);
    expect(await messagesOf(place)).toMatchObject([{ known: false, placed: false }]);
    expect(await keysOf(place)).toEqual(['incoming']);
  });

  it('is restored when deleted, and told of once per change of name', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('one'))]);
    await database.pool.query(sql.type(nothing)`
      UPDATE contact SET deleted_at = now() WHERE workspace_id = ${place.workspaceId}`);
    await deliver(applier, [inbound(place, text('two')), inbound(place, text('three'))]);
    await deliver(applier, [inbound(place, text('four'), contacts('Ada King'))]);
    await deliver(applier, [inbound(place, text('five'), contacts('Ada King'))]);
    expect(await contactsOf(place)).toMatchObject([{ deleted: false, chat_name: 'Ada King' }]);
    expect((await keysOf(place)).filter((key) => key === 'contact.updated')).toHaveLength(2);
  });

  it.each(['STOP', 'stop', '  Unsubscribe \n'])('is unsubscribed by saying %j, once', async (word) => {
    const place = await seed();
    await deliver(applier, [
      inbound(place, text('Hello')),
      inbound(place, text(word)),
      inbound(place, text(word)),
    ]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
    const updates = (await eventsOf(database.pool, place.workspaceId)).filter(
      ({ eventKey }) => eventKey === 'contact.updated',
    );
    expect(updates.map(({ data }) => data.contact.subscribed)).toEqual([false]);
  });

  it('stays subscribed when the word is part of a sentence', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('please do not stop'))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
  });

  it('stops and resumes marketing messages by the provider’s own setting', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    const metadata = { display_phone_number: '15550100000', phone_number_id: place.channelId };
    const preference = (value: string) =>
      fieldCallback('1', 'user_preferences', {
        metadata,
        user_preferences: [
          { wa_id: number, category: 'marketing_messages', value, timestamp: 1_731_705_721 },
        ],
      });
    await deliver(applier, [preference('stop'), preference('stop')]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
    await deliver(applier, [preference('resume')]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
    expect((await keysOf(place)).filter((key) => key === 'contact.updated')).toHaveLength(2);
  });
});

describe('the conversation', () => {
  it('is open again when it was resolved, and says so', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('one'))]);
    await setConversations(place, 'resolved');
    await deliver(applier, [inbound(place, text('two')), inbound(place, text('three'))]);
    expect(await conversationsOf(place)).toMatchObject([{ status: 'open' }]);
    const changes = (await eventsOf(database.pool, place.workspaceId)).filter(
      ({ eventKey }) => eventKey === 'conversation.status_changed',
    );
    expect(changes.map(({ data }) => data)).toEqual([
      {
        conversationId: expect.any(String),
        channelId: place.channelId,
        phoneNumberId: place.channelId,
        contactId: expect.any(String),
        previousStatus: 'resolved',
        newStatus: 'open',
        closedAt: null,
        changedBy: null,
      },
    ]);
  });

  it('begins anew when it was closed', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('one'))]);
    await setConversations(place, 'closed');
    await deliver(applier, [inbound(place, text('two'))]);
    expect((await conversationsOf(place)).map(({ status }) => status)).toEqual(['closed', 'open']);
    expect(await keysOf(place)).not.toContain('conversation.status_changed');
  });

  it.each([
    ['chatbot', 'bot'],
    ['assistant', 'assistant'],
  ])('starts one session of the %s when the channel has one', async (responder, chatMode) => {
    const place = await seed(responder);
    await deliver(applier, [inbound(place, text('one')), inbound(place, text('two'))]);
    expect(await conversationsOf(place)).toEqual([{ status: 'open', chat_mode: chatMode, sessions: 1 }]);
  });

  it('ends the session of before when it is open again, and starts another', async () => {
    const place = await seed('chatbot');
    await deliver(applier, [inbound(place, text('one'))]);
    await setConversations(place, 'resolved');
    await deliver(applier, [inbound(place, text('two'))]);
    expect(await conversationsOf(place)).toMatchObject([{ sessions: 1 }]);
    const sessions = await rowsOf<Json>(
      database.pool,
      sql.fragment`SELECT responder_session.status FROM responder_session
        JOIN conversation ON conversation.id = conversation_id WHERE channel_id = ${place.channelId}`,
    );
    expect(sessions.map(({ status }) => status).toSorted()).toEqual(['active', 'exited']);
  });

  it('is left to the person who looks after it', async () => {
    const place = await seed('chatbot');
    await deliver(applier, [inbound(place, text('one'))]);
    await database.pool.query(sql.type(nothing)`
      UPDATE conversation SET assignment_type = 'user', chat_mode = 'manual' WHERE channel_id = ${place.channelId}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE responder_session SET status = 'exited' WHERE workspace_id = ${place.workspaceId}`);
    await deliver(applier, [inbound(place, text('two'))]);
    expect(await conversationsOf(place)).toMatchObject([{ chat_mode: 'manual', sessions: 0 }]);
  });
});
