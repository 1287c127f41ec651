import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateContact } from '../../../src/commands/contacts/change-contact.ts';
import { IncomingData } from '../../../src/codecs/event.ts';
import { messageText } from '../../../src/domain/conversations/conversation.ts';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  createApplier,
  deliver,
  deliverAnyhow,
  eventsOf,
  fieldCallback,
  messagesCallback,
  rowsOf,
  status as statusOf,
  subscribeToAll,
  type RecordingApplier,
} from '../../support/callback-fixtures.ts';
import { checkBooks, seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { inboundKinds } from '../../support/inbound-fixtures.ts';

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

  it('stores at most 64 KiB of a message, and keeps its text and its STOP', async () => {
    const place = await seed();
    const junk = { junk: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 'junk'])) };
    const tail = { more: 'm'.repeat(200_000) };
    const { id, ...stop } = text('STOP');
    await deliver(applier, [
      inbound(place, { ...junk, ...text('Hello'), ...tail }),
      inbound(place, { ...text('long '.repeat(20_000)) }),
      inbound(place, { ...junk, id: `${String(id)}${'i'.repeat(5_000)}`, ...stop }),
    ]);
    const stored = await rowsOf<{ content: string; provider_message_id: string }>(
      database.pool,
      sql.fragment`SELECT content, provider_message_id FROM message WHERE channel_id = ${place.channelId}
        ORDER BY created_at, id`,
    );
    expect(stored.map(({ content }) => messageText(content)?.slice(0, 10))).toEqual([
      'Hello',
      'long long ',
      'STOP',
    ]);
    for (const { content, provider_message_id: storedId } of stored) {
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(65_536);
      expect(JSON.parse(content)).toMatchObject({
        id: storedId,
        from: number,
        type: 'text',
        too_large: true,
      });
      expect(storedId.length).toBeLessThanOrEqual(255);
    }
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
  });

  it('emits an event with the specified data and the provider’s notification', async () => {
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
      messageId: expect.any(String),
      campaignId: null,
      contactId: expect.any(String),
      conversationId: expect.any(String),
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
    'is saved and emits an event when it is %s',
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

  it('is saved once, in however many callbacks it is repeated', async () => {
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

  it('registers one contact when several workers receive messages of the same new person', async () => {
    const place = await seed();
    const callbacks = Array.from({ length: 20 }, (_, n) => inbound(place, text(`Hello ${n}`)));
    // Where many wait for the same contact, a batch may be applied one by one.
    await Promise.all(callbacks.map((callback) => deliverAnyhow(createApplier(database.pool), [callback])));
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

  it('is not registered when the provider does not name them, and the message is saved', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, { id: 'wamid.nobody', type: 'text', text: { body: 'Hi' } }, [])]);
    expect(await messagesOf(place)).toMatchObject([{ known: false, placed: false }]);
    expect(await keysOf(place)).toEqual(['incoming']);
  });

  it('is restored when deleted, with one event for that and one for each change of name', async () => {
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

  it.each(['STOP', 'stop', '  Unsubscribe \n', 'Stop!', '“stop”.'])(
    'is unsubscribed by saying %j, once',
    async (word) => {
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
    },
  );

  it('stays subscribed when the word is part of a sentence', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('please do not stop'))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
  });

  it('is unsubscribed by the configured words, in a text or a tapped button, not by the default words', async () => {
    const place = await seed();
    const config = { ...applier.config, optOutWords: ['Abmeldung', 'no more'] };
    const own = createApplier(database.pool, { config });
    await deliver(own, [inbound(place, text('STOP'))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
    const button = text('', { type: 'button', text: undefined, button: { text: 'No  More', payload: 'x' } });
    await deliver(own, [inbound(place, button)]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
  });

  const tapped = (part: Json) => text('', { text: undefined, ...part });

  it.each([
    ['the button of the provider’s samples', tapped({ type: 'button', button: { text: 'Stop promotions' } })],
    [
      'a button whose payload says so',
      tapped({ type: 'button', button: { text: 'No, thanks', payload: 'STOP' } }),
    ],
    [
      'a reply whose id says so',
      tapped({
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: 'stop', title: 'No' } },
      }),
    ],
    ['the word of another language', text('Désabonner')],
    ['a word of a script with marks', text('रोकें')],
  ])('is unsubscribed by %s', async (_, message) => {
    const place = await seed();
    await deliver(applier, [inbound(place, message)]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
  });

  it('keeps a sentence that may be an opt-out for a person of the business', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('please stop sending me offers'))]);
    await deliver(applier, [inbound(place, text('I said stop sending!'))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
    expect(
      await rowsOf(
        database.pool,
        sql.fragment`SELECT labels FROM conversation WHERE workspace_id = ${place.workspaceId}`,
      ),
    ).toEqual([{ labels: ['asks_to_stop'] }]);
    const notices = await rowsOf(
      database.pool,
      sql.fragment`SELECT notice.kind, subject_id = conversation.id::text AS theirs, message FROM notice
        JOIN conversation ON conversation.workspace_id = notice.workspace_id WHERE notice.workspace_id = ${place.workspaceId}`,
    );
    expect(notices).toEqual([
      { kind: 'asks_to_stop', theirs: true, message: expect.stringContaining('Read the conversation') },
    ]);
  });

  it('counts a word of double meaning unless a recent message of ours offers it', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    await database.pool.query(sql.type(nothing)`
      INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, type, content, state)
      SELECT workspace_id, ${place.channelId}, 'outbound', 'app', id, 'text', '{"body": "Reply CANCEL to cancel"}', 'ACCEPTED'
      FROM contact WHERE workspace_id = ${place.workspaceId}`);
    await deliver(applier, [inbound(place, text('Cancel'))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
    await deliver(applier, [inbound(place, text('End'))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
    const entries = await rowsOf(
      database.pool,
      sql.fragment`SELECT category, consent, text FROM contact_consent WHERE workspace_id = ${place.workspaceId}`,
    );
    expect(entries).toEqual([{ category: 'ALL', consent: 'none', text: 'End' }]);
  });

  it('stays subscribed when the word is written in a group', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('STOP', { group_id: 'Y2FwaV9ncm91cA' }))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
  });

  it.each(['START', 'Unstop.'])('is subscribed again by %j', async (word) => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('STOP')), inbound(place, text(word))]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
    expect((await keysOf(place)).filter((key) => key === 'contact.updated')).toHaveLength(2);
  });

  it('applies the latest decision by the provider’s time, in any order of delivery', async () => {
    const place = await seed();
    const said = (word: string, timestamp: string) => inbound(place, text(word, { timestamp }));
    const stop = said('STOP', '1749416400');
    const earlier = said('START', '1749416390');
    const resumed = fieldCallback('1', 'user_preferences', {
      metadata: { phone_number_id: place.channelId },
      user_preferences: [
        { wa_id: number, category: 'marketing_messages', value: 'resume', timestamp: 1_749_416_395 },
      ],
    });
    await deliver(applier, [stop]);
    await deliver(applier, [earlier]);
    await deliver(applier, [resumed]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
    await deliver(applier, [said('START', '1749416401')]);
    await deliver(applier, [said('STOP', '1749416300')]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
  });

  it('stays unsubscribed by the API when an earlier START arrives late, not when a later one does', async () => {
    const place = await seed();
    const { workspaceId } = place;
    const current = createApplier(database.pool, { now: () => new Date() });
    const seconds = Math.floor(Date.now() / 1000);
    const said = (word: string, at: number) => inbound(place, text(word, { timestamp: String(at) }));
    await deliver(current, [said('Hello', seconds - 60)]);
    const [contact] = await rowsOf<{ readonly id: string }>(
      database.pool,
      sql.fragment`SELECT id FROM contact WHERE workspace_id = ${workspaceId}`,
    );
    const contactId = String(contact?.id);
    await updateContact({ database: database.pool, now: () => new Date() }, workspaceId, {
      contactId,
      subscribed: false,
    });
    await deliver(current, [said('START', seconds - 30)]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
    await deliver(current, [said('START', seconds + 1)]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: true }]);
  });

  it.each([
    ['a reaction', { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: '👍' } }],
    ['a message taken back', { type: 'revoke', revoke: { original_message_id: 'wamid.x' } }],
    ['a new identity', { type: 'system', system: { type: 'customer_identity_changed', body: 'changed' } }],
  ])('begins no conversation for %s when the last one is closed', async (_, part) => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    await setConversations(place, 'closed');
    await deliver(applier, [inbound(place, tapped(part))]);
    expect(await conversationsOf(place)).toHaveLength(1);
    expect(await messagesOf(place)).toMatchObject([{ placed: true }, { known: true, placed: false }]);
  });

  describe('a sender who announces a new number', () => {
    const changed = (place: SeededCampaign, system: Json) =>
      inbound(place, text('', { type: 'system', text: undefined, system }), []);
    const moved = { type: 'user_changed_number', wa_id: '33612345678', body: 'changed' };

    it.each([
      ['in the provider’s present form', moved],
      ['in the provider’s former form', { type: 'customer_changed_number', new_wa_id: '33612345678' }],
    ])('is the same contact under the new number, once, %s', async (_, system) => {
      const place = await seed();
      await deliver(applier, [inbound(place, text('STOP'))]);
      const callback = changed(place, system);
      await Promise.all([deliver(applier, [callback]), deliver(applier, [callback])]);
      await deliver(applier, [callback]);
      expect(await contactsOf(place)).toMatchObject([
        { phone_number: '33612345678', country_code: '33', country: 'FR', subscribed: false },
      ]);
      expect((await keysOf(place)).filter((key) => key === 'contact.updated')).toHaveLength(2);
      const after = text('Me again', { from: '33612345678' });
      await deliver(applier, [inbound(place, after, [])]);
      expect(await contactsOf(place)).toHaveLength(1);
      expect(await conversationsOf(place)).toHaveLength(1);
    });

    it('changes nothing when the new number belongs to another contact', async () => {
      const place = await seed();
      await deliver(applier, [
        inbound(place, text('one')),
        inbound(place, text('two', { from: '33612345678' }), []),
      ]);
      await deliver(applier, [changed(place, moved)]);
      expect((await contactsOf(place)).map((contact) => contact['phone_number']).toSorted()).toEqual([
        '33612345678',
        number,
      ]);
      expect(await keysOf(place)).not.toContain('contact.updated');
    });

    it('changes nothing when the new number is invalid', async () => {
      const place = await seed();
      await deliver(applier, [inbound(place, text('Hello'))]);
      await deliver(applier, [changed(place, { type: 'user_changed_number', wa_id: 'nobody' })]);
      expect(await contactsOf(place)).toMatchObject([{ phone_number: number }]);
    });
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

describe('the counters of a campaign', () => {
  const countersOf = async ({ workspaceId, campaignId }: SeededCampaign) => {
    const { replied, opted_out, buttons } = await getCampaignReport(database.pool, workspaceId, campaignId);
    return { replied, opted_out, buttons };
  };
  /** The campaign's message to the person was accepted so long ago. */
  const reach = async (place: SeededCampaign, ago: string, providerMessageId: string) => {
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'ACCEPTED', accepted_at = now() - ${ago}::interval, phone_number = ${number},
        provider_message_id = ${providerMessageId},
        contact_id = (SELECT id FROM contact WHERE workspace_id = ${place.workspaceId} AND phone_number = ${number})
      WHERE campaign_id = ${place.campaignId}`);
    await database.pool.query(sql.type(nothing)`
      INSERT INTO provider_message (hash, recipient_id)
      SELECT hashtextextended(provider_message_id, 0), id FROM recipient WHERE campaign_id = ${place.campaignId}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE template SET components = '[{"type":"BODY","text":"Hi {{1}}"},{"type":"BUTTONS","buttons":[
        {"type":"URL","text":"Shop"},{"type":"QUICK_REPLY","text":"Show me"}]}]'
      WHERE id = ${place.templateId}`);
  };

  it('has each recipient once, however often the person answers, taps or opts out', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    await reach(place, '29 days', 'wamid.offer');
    expect(await countersOf(place)).toEqual({ replied: 0, opted_out: 0, buttons: [] });
    const context = { id: 'wamid.offer' };
    const tap = () =>
      inbound(place, text('', { type: 'button', text: undefined, button: { text: 'Show me' }, context }));
    const same = inbound(place, text('Thanks'));
    await deliver(applier, [
      inbound(place, text('', { type: 'reaction', reaction: { message_id: 'wamid.offer', emoji: '👍' } })),
      inbound(
        place,
        text('', { type: 'system', system: { type: 'customer_identity_changed', body: 'new' } }),
      ),
      inbound(place, text('In a group', { group_id: 'Y2FwaV9ncm91cA' })),
    ]);
    expect(await countersOf(place)).toEqual({ replied: 0, opted_out: 0, buttons: [] });
    await deliver(applier, [same, same, tap()]);
    await deliver(applier, [tap(), inbound(place, text('STOP')), inbound(place, text('STOP'))]);
    expect(await countersOf(place)).toEqual({
      replied: 1,
      opted_out: 1,
      buttons: [{ index: 1, text: 'Show me', count: 1 }],
    });
  });

  it('has the provider’s own setting, and nothing after 30 days', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    await reach(place, '29 days', `wamid.${randomUUID()}`);
    const later = await seed();
    await deliver(applier, [inbound(later, text('Hello'))]);
    await reach(later, '31 days', `wamid.${randomUUID()}`);
    const stop = ({ channelId }: SeededCampaign) =>
      fieldCallback('1', 'user_preferences', {
        metadata: { display_phone_number: '15550100000', phone_number_id: channelId },
        user_preferences: [
          { wa_id: number, category: 'marketing_messages', value: 'stop', timestamp: 1_731_705_721 },
        ],
      });
    await deliver(applier, [stop(place), stop(later), inbound(later, text('Hello again'))]);
    expect(await countersOf(place)).toEqual({ replied: 0, opted_out: 1, buttons: [] });
    expect(await countersOf(later)).toEqual({ replied: 0, opted_out: 0, buttons: [] });
  });

  it('leaves out people whom the message did not reach', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    await reach(place, '1 day', `wamid.${randomUUID()}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'FAILED', reason = 'EXPIRED' WHERE campaign_id = ${place.campaignId}`);
    await deliver(applier, [inbound(place, text('STOP'))]);
    expect(await countersOf(place)).toEqual({ replied: 0, opted_out: 0, buttons: [] });
  });
});

describe('the conversation', () => {
  it('is reopened when it was resolved, and emits an event', async () => {
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

  it('is a new one when the last was closed', async () => {
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

  it('ends the previous session when it is reopened, and starts another', async () => {
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

  it('starts no session when it is assigned to a person', async () => {
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

describe('a message written in the provider’s own app', () => {
  const echo = (place: SeededCampaign, rest: Json = {}) =>
    fieldCallback('1', 'smb_message_echoes', {
      metadata: { display_phone_number: '15550100000', phone_number_id: place.channelId },
      message_echoes: [
        {
          from: '15550100000',
          to: number,
          id: 'wamid.echo',
          timestamp: '1749416383',
          type: 'text',
          text: { body: 'By hand' },
          ...rest,
        },
      ],
    });
  const receipt = (place: SeededCampaign, name: string) =>
    messagesCallback(place.channelId, {
      statuses: [statusOf({ status: name, providerMessageId: 'wamid.echo' })],
    });

  it('is saved once in the present conversation, costs nothing, and its receipts emit events', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, text('Hello'))]);
    await Promise.all([deliver(applier, [echo(place)]), deliver(applier, [echo(place)])]);
    expect((await messagesOf(place)).slice(1)).toEqual([
      {
        type: 'text',
        state: 'ACCEPTED',
        direction: 'outbound',
        provider_message_id: 'wamid.echo',
        phone_number: number,
        known: true,
        placed: true,
      },
    ]);
    await deliver(applier, [receipt(place, 'sent'), receipt(place, 'read'), receipt(place, 'read')]);
    const receipts = (await eventsOf(database.pool, place.workspaceId)).slice(2);
    expect(receipts.map(({ eventKey, data }) => [eventKey, data.messageSource])).toEqual([
      ['sent', 'app'],
      ['read', 'app'],
    ]);
    expect(await checkBooks(database.pool, place)).toMatchObject({ balance: 1_000_000_000n, reserved: 0n });
  });

  it('registers no contact', async () => {
    const place = await seed();
    await deliver(applier, [echo(place, { to: undefined, to_user_id: 'US.1' })]);
    expect(await contactsOf(place)).toEqual([]);
    expect(await conversationsOf(place)).toEqual([]);
    expect(await messagesOf(place)).toMatchObject([{ known: false, placed: false }]);
  });
});

describe('a conversation that another app holds', () => {
  const standby = (place: SeededCampaign, part: Json) =>
    fieldCallback('1', 'standby', {
      metadata: { display_phone_number: '15550100000', phone_number_id: place.channelId },
      standby: part,
    });

  it('is read as any other, once, and left to that app', async () => {
    const place = await seed('chatbot');
    const message = { id: 'wamid.standby', from: number, timestamp: '1749416383', type: 'text' };
    const messages = [{ ...message, text: { body: 'STOP' } }];
    await deliver(applier, [standby(place, { messages, contacts: [{ wa_id: number }] })]);
    await deliver(applier, [messagesCallback(place.channelId, { messages })]);
    expect(await contactsOf(place)).toMatchObject([{ subscribed: false }]);
    expect(await conversationsOf(place)).toMatchObject([{ status: 'open', sessions: 0 }]);
    expect(await messagesOf(place)).toMatchObject([{ direction: 'inbound', placed: true }]);
    const incoming = (await eventsOf(database.pool, place.workspaceId)).filter(
      ({ eventKey }) => eventKey === 'incoming',
    );
    expect(incoming.map(({ data }) => data.standby)).toEqual([true]);
  });

  it('keeps what that app sends, without a charge', async () => {
    const place = await seed();
    const message = { messaging_product: 'whatsapp', to: `+${number}`, type: 'text', text: { body: 'Hi' } };
    const echo = { id: 'wamid.other', timestamp: '1749416383', message };
    await deliver(applier, [standby(place, { message_echoes: [echo] })]);
    expect(await messagesOf(place)).toMatchObject([{ direction: 'outbound', phone_number: number }]);
    const statuses = ['wamid.other', 'wamid.unknown'].map((providerMessageId) =>
      statusOf({ status: 'sent', providerMessageId }),
    );
    await deliver(
      applier,
      statuses.map((status) => standby(place, { statuses: [status] })),
    );
    expect((await eventsOf(database.pool, place.workspaceId)).map(({ data }) => data.messageSource)).toEqual([
      'app',
    ]);
    expect(await checkBooks(database.pool, place)).toMatchObject({ balance: 1_000_000_000n, reserved: 0n });
  });
});

describe('the service window', () => {
  const inboundAt = async ({ channelId }: SeededCampaign): Promise<number> => {
    const [found] = await rowsOf<{ readonly ago: number }>(
      database.pool,
      sql.fragment`SELECT extract(epoch FROM now() - inbound_at)::float8 AS ago FROM conversation WHERE channel_id = ${channelId}`,
    );
    return found?.ago ?? Number.NaN;
  };
  const writtenAgo = (seconds: number) =>
    text('Hello', { timestamp: String(Math.floor(Date.now() / 1_000) - seconds) });

  it('begins when the person wrote, however late the message is applied', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, writtenAgo(2 * 86_400))]);
    expect(Math.abs((await inboundAt(place)) - 2 * 86_400)).toBeLessThan(3_600);
    await deliver(applier, [inbound(place, writtenAgo(60))]);
    const latest = await inboundAt(place);
    expect(latest).toBeLessThan(3_600);
    await deliver(applier, [inbound(place, writtenAgo(7_200))]);
    expect(Math.abs((await inboundAt(place)) - latest)).toBeLessThan(3_000);
  });

  it('begins at once for a message that is dated ahead of our clock', async () => {
    const place = await seed();
    await deliver(applier, [inbound(place, writtenAgo(-3_600))]);
    expect(Math.abs(await inboundAt(place))).toBeLessThan(600);
  });
});
