import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eraseContact } from '../../../src/commands/contacts/erase-contact.ts';
import { numberOfWaId } from '../../../src/domain/callbacks/provider-number.ts';
import { findAddressOfUser } from '../../../src/records/contacts/user-ids.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  createApplier,
  deliver,
  eventsOf,
  fieldCallback,
  messagesCallback,
  rowsOf,
  subscribeToAll,
  type RecordingApplier,
} from '../../support/callback-fixtures.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let applier: RecordingApplier;

beforeAll(async () => {
  database = await createTestDatabase();
  applier = createApplier(database.pool);
});
afterAll(() => database.drop());

type Json = Readonly<Record<string, unknown>>;

interface Fixture extends SeededCampaign {
  readonly contactId: string;
  readonly recipientId: string;
}

/** A contact to whom the campaign's one message went. */
async function seed(phoneNumber: string): Promise<Fixture> {
  const fixture = await seedCampaign(database.pool, { recipients: 1 });
  await subscribeToAll(database.pool, fixture.workspaceId);
  const contactId = await register(fixture, phoneNumber);
  await database.pool.query(sql.type(nothing)`
    UPDATE recipient SET contact_id = ${contactId}, phone_number = ${phoneNumber}, state = 'ACCEPTED',
      provider_message_id = 'wamid.' || id WHERE campaign_id = ${fixture.campaignId}`);
  await database.pool.query(sql.type(nothing)`
    UPDATE campaign_counter SET pending = 0, accepted = 1 WHERE campaign_id = ${fixture.campaignId}`);
  await database.pool.query(sql.type(nothing)`
    INSERT INTO provider_message (hash, recipient_id)
    SELECT hashtextextended(provider_message_id, 0), id FROM recipient WHERE campaign_id = ${fixture.campaignId}`);
  const [recipient] = await rowsOf<{ id: string }>(
    database.pool,
    sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${fixture.campaignId}`,
  );
  return { ...fixture, contactId, recipientId: recipient?.id ?? '' };
}

async function register({ workspaceId }: SeededCampaign, phoneNumber: string): Promise<string> {
  const id = randomUUID();
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact (id, workspace_id, phone_number, country_code, country, source)
    VALUES (${id}, ${workspaceId}, ${phoneNumber}, ${phoneNumber.slice(0, 2)}, 'MX', 'api')`);
  return id;
}

const contactsOf = ({ workspaceId }: Fixture) =>
  rowsOf<Json>(
    database.pool,
    sql.fragment`SELECT id, phone_number, subscribed FROM contact WHERE workspace_id = ${workspaceId}
      ORDER BY created_at`,
  );

const stop = (fixture: Fixture, sender: Json, rest: Json = {}) =>
  messagesCallback(fixture.channelId, {
    messages: [
      {
        id: `wamid.${randomUUID()}`,
        timestamp: '1749416383',
        type: 'text',
        text: { body: 'STOP' },
        ...sender,
        ...rest,
      },
    ],
  });

const sentStatus = (fixture: Fixture, ids: Json) =>
  messagesCallback(fixture.channelId, {
    statuses: [
      {
        id: `wamid.${fixture.recipientId}`,
        status: 'sent',
        timestamp: '1751142888',
        biz_opaque_callback_data: fixture.recipientId,
        ...ids,
      },
    ],
  });

const unsubscribed = (fixture: Fixture) => [{ id: fixture.contactId, subscribed: false }];

describe('a person whom the provider knows by another id', () => {
  it.each([
    ['Mexico', '525512345678', '5215512345678'],
    ['Brazil', '5511987654321', '551187654321'],
    ['a country of one form', '4915112345678', '4915112345678'],
  ])('is the contact of the number in %s', async (_, phoneNumber, waId) => {
    const fixture = await seed(phoneNumber);
    await deliver(applier, [stop(fixture, { from: waId })]);
    expect(await contactsOf(fixture)).toMatchObject(unsubscribed(fixture));
  });

  it('is registered by the number that can be dialled', async () => {
    const fixture = await seed('4915112345678');
    await deliver(applier, [stop(fixture, { from: '5215512345678' })]);
    expect(await contactsOf(fixture)).toMatchObject([
      {},
      { phone_number: '525512345678', subscribed: false },
    ]);
  });

  it.each([
    ['the number of a status', { recipient_id: '9991234567' }, { from: '9991234567' }],
    ['the user id of a status', { recipient_id: '', recipient_user_id: 'MX.77' }, { from_user_id: 'MX.77' }],
  ])('is known by %s', async (_, ids, sender) => {
    const fixture = await seed('525512345678');
    await deliver(applier, [sentStatus(fixture, ids)]);
    await deliver(applier, [stop(fixture, sender)]);
    expect(await contactsOf(fixture)).toMatchObject(unsubscribed(fixture));
  });

  it('is known by the message that is answered, and from then on', async () => {
    const fixture = await seed('525512345678');
    const context = { from: '15550100000', id: `wamid.${fixture.recipientId}` };
    await deliver(applier, [stop(fixture, { from: '9991234567' }, { context })]);
    expect(await contactsOf(fixture)).toMatchObject(unsubscribed(fixture));
    const saved = await rowsOf(
      database.pool,
      sql.fragment`SELECT campaign_id FROM message WHERE workspace_id = ${fixture.workspaceId} AND direction = 'inbound'`,
    );
    expect(saved).toEqual([{ campaign_id: fixture.campaignId }]);
    await deliver(applier, [stop(fixture, { from: '9991234567' }, { text: { body: 'START' } })]);
    expect(await contactsOf(fixture)).toMatchObject([{ id: fixture.contactId, subscribed: true }]);
  });

  it('is not the sender of an answer in a group', async () => {
    const fixture = await seed('525512345678');
    const context = { from: '15550100000', id: `wamid.${fixture.recipientId}` };
    await deliver(applier, [stop(fixture, { from: '9991234567' }, { context, group_id: 'g' })]);
    expect(await contactsOf(fixture)).toMatchObject([{ subscribed: true }, { phone_number: '9991234567' }]);
  });

  it('is unsubscribed when it stops marketing messages in the app under that id', async () => {
    const fixture = await seed('525512345678');
    const preference = { wa_id: '5215512345678', category: 'marketing_messages', value: 'stop' };
    const metadata = { phone_number_id: fixture.channelId };
    await deliver(applier, [
      fieldCallback('1', 'user_preferences', { metadata, user_preferences: [preference] }),
    ]);
    expect(await contactsOf(fixture)).toMatchObject(unsubscribed(fixture));
  });

  it.each([
    [['stop'], false],
    [['stop', 'resume'], true],
  ])(
    'is created with the choice made in the app before there was a contact: %j',
    async (values, subscribed) => {
      const fixture = await seed('525512345678');
      const metadata = { phone_number_id: fixture.channelId };
      for (const value of values) {
        const preference = { wa_id: '4915112345678', category: 'marketing_messages', value };
        await deliver(applier, [
          fieldCallback('1', 'user_preferences', { metadata, user_preferences: [preference] }),
        ]);
      }
      await deliver(applier, [stop(fixture, { from: '4915112345678' }, { text: { body: 'Hello' } })]);
      expect(await contactsOf(fixture)).toMatchObject([{}, { phone_number: '4915112345678', subscribed }]);
    },
  );

  it('is unsubscribed everywhere when registered twice before', async () => {
    const fixture = await seed('525512345678');
    const other = await register(fixture, '5215512345678');
    await deliver(applier, [stop(fixture, { from: '5215512345678' })]);
    expect(await contactsOf(fixture)).toMatchObject([
      { id: fixture.contactId, subscribed: false },
      { id: other, subscribed: false },
    ]);
  });

  it.each([
    [
      'by a message of the system',
      (fixture: Fixture) =>
        stop(
          fixture,
          { from: '4915112345678', from_user_id: 'DE.1' },
          { type: 'system', system: { type: 'user_changed_user_id', user_id: 'DE.2', body: 'changed' } },
        ),
    ],
    [
      'by a field of its own',
      (fixture: Fixture) => ({
        ...fieldCallback('1', 'user_id_update', {
          metadata: { phone_number_id: fixture.channelId },
          user_id_update: [{ user_id: { previous: 'DE.1', current: 'DE.2' } }],
        }),
      }),
    ],
  ])('is the same under a new user id, announced %s', async (_, changed) => {
    const fixture = await seed('4915112345678');
    await deliver(applier, [
      stop(fixture, { from: '4915112345678', from_user_id: 'DE.1' }, { text: { body: 'Hi' } }),
    ]);
    await deliver(applier, [changed(fixture)]);
    await deliver(applier, [stop(fixture, { from_user_id: 'DE.2' })]);
    expect(await contactsOf(fixture)).toMatchObject(unsubscribed(fixture));
  });

  it.each([[['DE.2', 'DE.1']], [['DE.2', 'DE.3', 'DE.2']], [['DE.2', 'DE.1', 'DE.2', 'DE.1']]])(
    'is addressed by the newest user id, also an earlier one: %j',
    async (ids) => {
      for (const together of [false, true]) {
        const fixture = await seed('4915112345678');
        await deliver(applier, [stop(fixture, { from_user_id: 'DE.1' }, { text: { body: 'Hi' } })]);
        const changes = ids.map((current, at) =>
          fieldCallback('1', 'user_id_update', {
            metadata: { phone_number_id: fixture.channelId },
            user_id_update: [{ user_id: { previous: ids[at - 1] ?? 'DE.1', current } }],
          }),
        );
        for (const callbacks of together ? [changes] : changes.map((change) => [change]))
          await deliver(applier, callbacks);
        for (const id of ['DE.1', ...ids])
          expect(await findAddressOfUser(database.pool, fixture.workspaceId, id)).toMatchObject({
            to: ids.at(-1),
          });
      }
    },
  );

  describe('whose user id has changed', () => {
    const hello = { type: 'text', text: { body: 'Hi' } };
    const said = (fixture: Fixture, sender: Json, body: string) => stop(fixture, sender, { text: { body } });
    const announced = (fixture: Fixture, system: Json, sender: Json = {}) =>
      stop(fixture, sender, {
        type: 'system',
        text: undefined,
        system: { type: 'user_changed_user_id', user_id: 'DE.2', ...system },
      });
    const people = ({ workspaceId }: Fixture) =>
      rowsOf<{ provider_user_id: string; subscribed: boolean }>(
        database.pool,
        sql.fragment`SELECT provider_user_id, subscribed FROM contact
          WHERE workspace_id = ${workspaceId} AND phone_number IS NULL AND erased_at IS NULL ORDER BY id`,
      );

    it.each([
      ['the previous id', { previous_user_id: 'DE.1' }, {}],
      ['the previous id and an empty number', { previous_user_id: 'DE.1' }, { from: '' }],
      ['the previous id, sent by the new one', { previous_user_id: 'DE.1' }, { from_user_id: 'DE.2' }],
      ['the sender', {}, { from_user_id: 'DE.1' }],
      ['the text', { body: 'User Ada changed from DE.1 to DE.2' }, { from_user_id: 'DE.2' }],
      [
        'a changed number',
        { type: 'user_changed_number', wa_id: '4915112345679', previous_user_id: 'DE.1' },
        { from: '' },
      ],
    ])('stays unsubscribed, known by %s', async (_, system, sender) => {
      const fixture = await seed('525512345678');
      await deliver(applier, [said(fixture, { from_user_id: 'DE.1' }, 'STOP')]);
      const callback = announced(fixture, system, sender);
      await deliver(applier, [callback]);
      await deliver(applier, [callback]);
      await deliver(applier, [stop(fixture, { from_user_id: 'DE.2' }, hello)]);
      expect(await contactsOf(fixture)).toMatchObject([{ subscribed: true }, { subscribed: false }]);
    });

    it('is not created by the change', async () => {
      const fixture = await seed('525512345678');
      await deliver(applier, [announced(fixture, { previous_user_id: 'DE.1', wa_id: '4915112345678' })]);
      await deliver(applier, [announced(fixture, {}, { from_user_id: 'DE.2' })]);
      expect(await contactsOf(fixture)).toHaveLength(1);
      expect(
        await rowsOf(
          database.pool,
          sql.fragment`SELECT contact_id FROM message WHERE workspace_id = ${fixture.workspaceId}`,
        ),
      ).toEqual([{ contact_id: null }, { contact_id: null }]);
    });

    it.each([
      ['STOP', 'Hi'],
      ['Hi', 'STOP'],
    ])('gives both contacts the stricter consent: %s, %s', async (before, after) => {
      const fixture = await seed('525512345678');
      await deliver(applier, [said(fixture, { from_user_id: 'DE.1' }, before)]);
      await deliver(applier, [said(fixture, { from_user_id: 'DE.2' }, after)]);
      await deliver(applier, [announced(fixture, { previous_user_id: 'DE.1' })]);
      expect(await people(fixture)).toEqual([
        { provider_user_id: 'DE.1', subscribed: false },
        { provider_user_id: 'DE.2', subscribed: false },
      ]);
      const timestamp = String(Math.ceil(Date.now() / 1_000));
      await deliver(applier, [said(fixture, { from_user_id: 'DE.2', timestamp }, 'START')]);
      expect(await people(fixture)).toMatchObject([{ subscribed: true }, { subscribed: true }]);
    });

    it('stays opted out after an erasure', async () => {
      const fixture = await seed('525512345678');
      await deliver(applier, [said(fixture, { from_user_id: 'DE.1' }, 'STOP')]);
      const [, erased] = await contactsOf(fixture);
      await eraseContact(applier, { workspaceId: fixture.workspaceId, contactId: String(erased?.['id']) });
      await deliver(applier, [announced(fixture, { previous_user_id: 'DE.1' })]);
      await deliver(applier, [said(fixture, { from_user_id: 'DE.2' }, 'Hi')]);
      expect(await people(fixture)).toEqual([{ provider_user_id: 'DE.2', subscribed: false }]);
    });

    it.each([['one after the other'], ['announced by the number']])(
      'keeps the newest id when an earlier change comes late: %s',
      async (way) => {
        const fixture = await seed('4915112345678');
        const sender = way === 'announced by the number' ? { from: '4915112345678' } : {};
        await deliver(applier, [said(fixture, { from: '4915112345678', from_user_id: 'DE.1' }, 'STOP')]);
        const first = { previous_user_id: 'DE.1' };
        const second = { user_id: 'DE.3', previous_user_id: 'DE.2' };
        if (way !== 'announced by the number') await deliver(applier, [announced(fixture, first)]);
        await deliver(applier, [announced(fixture, second, sender)]);
        await deliver(applier, [announced(fixture, first, sender)]);
        expect(await findAddressOfUser(database.pool, fixture.workspaceId, 'DE.1')).toMatchObject({
          to: '4915112345678',
        });
        await database.pool.query(sql.type(nothing)`
          UPDATE contact SET phone_number = NULL, provider_user_id = 'DE.1' WHERE id = ${fixture.contactId}`);
        for (const id of ['DE.1', 'DE.2', 'DE.3'])
          expect(await findAddressOfUser(database.pool, fixture.workspaceId, id)).toMatchObject({
            to: 'DE.3',
          });
        for (const id of ['DE.2', 'DE.3'])
          await deliver(applier, [said(fixture, { from_user_id: id }, 'Hi')]);
        expect(await contactsOf(fixture)).toMatchObject(unsubscribed(fixture));
      },
    );
  });

  it('is one person in linked portfolios, where a typed word counts and a setting does not', async () => {
    const fixture = await seed('525512345678');
    const parent = { from_parent_user_id: 'DE.ENT.9' };
    await deliver(applier, [stop(fixture, { from_user_id: 'DE.1', ...parent })]);
    await deliver(applier, [stop(fixture, { from_user_id: 'DE.2', ...parent }, { text: { body: 'Hi' } })]);
    const [, contact] = await contactsOf(fixture);
    expect(await contactsOf(fixture)).toMatchObject([{}, { subscribed: false }]);
    expect(await findAddressOfUser(database.pool, fixture.workspaceId, 'DE.ENT.9')).toMatchObject({
      to: 'DE.2',
      contactId: contact?.['id'],
    });
  });

  it('is shown by username, and priced by the country that the provider names', async () => {
    const fixture = await seed('525512345678');
    const contacts = [{ user_id: 'IN.1', profile: { username: 'ada.l' }, country_code: 'US' }];
    const message = {
      id: 'wamid.U',
      from_user_id: 'IN.1',
      timestamp: '1',
      type: 'text',
      text: { body: 'x' },
    };
    await deliver(applier, [messagesCallback(fixture.channelId, { contacts, messages: [message] })]);
    expect(
      await rowsOf(
        database.pool,
        sql.fragment`SELECT chat_name, username, country FROM contact
          WHERE workspace_id = ${fixture.workspaceId} AND phone_number IS NULL`,
      ),
    ).toEqual([{ chat_name: '', username: 'ada.l', country: 'US' }]);
    expect(await findAddressOfUser(database.pool, fixture.workspaceId, 'IN.1')).toMatchObject({
      to: 'IN.1',
      country: 'US',
    });
  });

  it('is a new contact under a number that now belongs to another person', async () => {
    const fixture = await seed('525512345678');
    await deliver(applier, [sentStatus(fixture, { recipient_id: '9991234567' })]);
    await database.pool.query(sql.type(nothing)`
      UPDATE contact SET phone_number = '525587654321' WHERE id = ${fixture.contactId}`);
    await deliver(applier, [stop(fixture, { from: '9991234567' })]);
    expect(await contactsOf(fixture)).toMatchObject([{ subscribed: true }, { subscribed: false }]);
  });

  it('is named in the event, with the conversation', async () => {
    const fixture = await seed('525512345678');
    await deliver(applier, [stop(fixture, { from: '5215512345678' })]);
    const [conversation] = await rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT id FROM conversation WHERE contact_id = ${fixture.contactId}`,
    );
    const incoming = (await eventsOf(database.pool, fixture.workspaceId)).find(
      ({ eventKey }) => eventKey === 'incoming',
    );
    expect(incoming?.data).toMatchObject({
      contactId: fixture.contactId,
      conversationId: conversation?.id,
      message: { from: '5215512345678' },
    });
  });
});

it.each([
  ['5215512345678', '525512345678', 'MX'],
  ['525512345678', '525512345678', 'MX'],
  ['551187654321', '5511987654321', 'BR'],
  ['551132345678', '551132345678', 'BR'],
  ['5491123456789', '5491123456789', 'AR'],
  ['99900000', '99900000', ''],
  ['123', null, ''],
  [null, null, ''],
])('%s stands for the number %s', (waId, phoneNumber, country) => {
  expect(numberOfWaId(waId)).toMatchObject({ phoneNumber, country });
});
