import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventDataCodecs } from '../../../src/codecs/event.ts';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import type { EventKey } from '../../../src/domain/webhooks/event-key.ts';
import { FileFetchError } from '../../../src/outbound/outbound.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import type { ConsentPolicy } from '../../../src/domain/contacts/consent.ts';
import type { FrequencyCap } from '../../../src/domain/campaigns/frequency-cap.ts';
import { findFieldTypes } from '../../../src/records/contacts/contact-fields.ts';
import { saveConsentPolicy, saveFrequencyCap } from '../../../src/records/workspaces/workspaces.ts';
import { saveWorkspaceCountry } from '../../../src/records/workspaces/workspaces.ts';
import { createFolderStorage } from '../../../src/storage/folder-storage.ts';
import { nothing, nullable, row } from '../../../src/records/database/row.ts';
import {
  aCampaignToPrepare,
  aSender,
  aTemplate,
  type CampaignOptions,
  type Sender,
} from '../../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'prepare-campaign-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const hasLetters = 'it has letters, and a text with letters is no WhatsApp number';
const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

function dependencies(overrides: Partial<Dependencies> = {}): Dependencies {
  return {
    config: { databaseUrl: database.url, publicUrl: 'https://campaigns.example.com', host: '', port: 0 },
    database: database.pool,
    logger: silent,
    now: () => new Date(),
    storage: createFolderStorage(folder),
    outbound: {},
    ...overrides,
  } as unknown as Dependencies;
}

async function prepare(
  campaignId: string,
  {
    overrides = {},
    signal = new AbortController().signal,
  }: { overrides?: Partial<Dependencies>; signal?: AbortSignal } = {},
): Promise<void> {
  await prepareCampaign(dependencies(overrides), campaignId, { heartbeat: () => undefined, signal });
}

const Recipient = row(
  t.type({
    position: t.number,
    phone_number: nullable(t.string),
    contact_id: nullable(t.string),
    country: t.string,
    state: t.string,
    reason: nullable(t.string),
    reason_detail: nullable(t.string),
    line_number: nullable(t.number),
    variables: nullable(t.array(t.string)),
  }),
);

const recipientsOf = (campaignId: string) =>
  database.pool.any(sql.type(Recipient)`
    SELECT position, phone_number, contact_id, country, state, reason, reason_detail, line_number, variables
    FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position`);

const Preparation = row(
  t.type({
    status: t.string,
    preparation_status: t.string,
    code: nullable(t.string),
    message: nullable(t.string),
    total_contacts: t.number,
    total_contacts_skipped: t.number,
    pending: t.number,
    skipped: t.number,
    preparation_version: t.number,
    epoch: t.number,
    reasons: nullable(t.UnknownRecord),
    has_plan: t.boolean,
    has_input: t.boolean,
  }),
);

const preparationOf = (campaignId: string) =>
  database.pool.one(sql.type(Preparation)`
    SELECT status, preparation_status, preparation_error_code AS code, preparation_error_message AS message,
      total_contacts, total_contacts_skipped, pending, skipped, preparation_version, epoch,
      (SELECT jsonb_object_agg(reason, count) FROM campaign_reason WHERE campaign_id = id) AS reasons,
      message_plan IS NOT NULL AS has_plan,
      EXISTS (SELECT FROM campaign_input WHERE campaign_id = id) AS has_input
    FROM campaign JOIN campaign_counter ON campaign_id = id WHERE id = ${campaignId}`);

const Contact = row(
  t.type({
    id: t.string,
    phone_number: nullable(t.string),
    country_code: t.string,
    country: t.string,
    first_name: t.string,
    last_name: t.string,
    email: t.string,
    source: t.string,
    custom_fields: t.UnknownRecord,
    deleted: t.boolean,
  }),
);

const contactsOf = ({ workspaceId }: Sender) =>
  database.pool.any(sql.type(Contact)`
    SELECT id, phone_number, country_code, country, first_name, last_name, email, source, custom_fields,
      deleted_at IS NOT NULL AS deleted
    FROM contact WHERE workspace_id = ${workspaceId} ORDER BY phone_number`);

interface ContactFields {
  phone: string;
  firstName?: string;
  email?: string;
  subscribed?: boolean;
  deleted?: boolean;
  customFields?: object;
}

const Id = row(t.type({ id: t.string }));

const aContact = ({ workspaceId }: Sender, fields: ContactFields) =>
  database.pool.oneFirst(sql.type(Id)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, first_name, email, source, subscribed,
      custom_fields, deleted_at)
    VALUES (${workspaceId}, ${fields.phone}, '49', 'DE', ${fields.firstName ?? ''}, ${fields.email ?? ''}, 'manual',
      ${fields.subscribed ?? true}, ${JSON.stringify(fields.customFields ?? {})}::jsonb,
      CASE WHEN ${fields.deleted === true} THEN now() END)
    RETURNING id`);

const EventRow = row(t.type({ key: t.string, body: t.string }));
const eventsOf = async ({ workspaceId }: Sender) => {
  const events = await database.pool.any(sql.type(EventRow)`
    SELECT key, body FROM event WHERE workspace_id = ${workspaceId} ORDER BY id`);
  return events.map(({ key, body }) => ({ key, data: JSON.parse(body).data }));
};

const subscribe = ({ workspaceId }: Sender, ...events: readonly string[]) =>
  database.pool.query(sql.type(nothing)`
    INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    VALUES (${workspaceId}, 'all', 'https://example.com', 'active', ${sql.array(events, 'text')})`);

const mapping = { phone_column: 0, country_code_column: 1 };
const nameMapping = { ...mapping, name_column: 2, email_column: 3, custom_field_mapping: { city: 4 } };

const aCsv = (sender: Sender, content: string, options: CampaignOptions = {}) =>
  aCampaignToPrepare(database.pool, sender, { audience: { csv_mapping: mapping }, content, ...options });

describe('a CSV', () => {
  test('becomes recipients in its order, with reason and line for those skipped', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const lines = [
      'phone,country,name',
      '+4915112345678,49,Anna',
      '015112345679,DE,"Bert,',
      'the ""second"""',
      '',
      'nonsense,49,Cara',
      '4915112345678,49,Again',
      '+4915112345670,49,',
      '+4915112345671,49,"x',
      '+4915112345673,49,"z"',
      '+4915112345672,49,Dora,surplus',
      '+14155552671,,Emil',
    ];
    const id = await aCsv(sender, lines.join('\r\n'), {
      audience: { csv_mapping: { ...mapping, name_column: 2 } },
      variableMapping: { body: { 1: 'name_column' } },
    });
    await prepare(id);
    const rows = (await recipientsOf(id)).map(({ contact_id: _, ...rest }) => rest);
    const sendable = (position: number, phone: string, country: string, line: number, name: string) => ({
      position,
      phone_number: phone,
      country,
      state: 'PENDING',
      reason: null,
      reason_detail: null,
      line_number: line,
      variables: [name],
    });
    const skipped = (
      position: number,
      phone: string | null,
      line: number,
      reason: string,
      detail: string | null,
    ) => ({
      position,
      phone_number: phone,
      country: phone === null ? '' : 'DE',
      state: 'SKIPPED',
      reason,
      reason_detail: detail,
      line_number: line,
      variables: null,
    });
    expect(rows).toEqual([
      sendable(1, '4915112345678', 'DE', 2, 'Anna'),
      sendable(2, '4915112345679', 'DE', 3, 'Bert, the "second"'),
      skipped(3, null, 6, 'INVALID_PHONE', `nonsense: ${hasLetters}`),
      skipped(4, '4915112345678', 7, 'DUPLICATE', null),
      skipped(5, '4915112345670', 8, 'MISSING_VARIABLE', 'body.1'),
      skipped(
        6,
        null,
        9,
        'MALFORMED_ROW',
        'A quote that is opened on line 9 and not closed there joins the lines 9 to 10: close it, or write it twice',
      ),
      skipped(7, null, 11, 'MALFORMED_ROW', 'The row has more cells than the header'),
      sendable(8, '14155552671', 'US', 12, 'Emil'),
    ]);
    expect(await preparationOf(id)).toMatchObject({
      status: 'DRAFT',
      preparation_status: 'READY',
      code: null,
      total_contacts: 3,
      total_contacts_skipped: 5,
      pending: 3,
      skipped: 5,
      preparation_version: 1,
      epoch: 0,
      has_plan: true,
      has_input: false,
      reasons: { INVALID_PHONE: 1, DUPLICATE: 1, MISSING_VARIABLE: 1, MALFORMED_ROW: 2 },
    });
  });

  test('reads numbers without a country by the request, else by the workspace', async () => {
    const sender = await aSender(database.pool);
    await saveWorkspaceCountry(database.pool, sender.workspaceId, 'DE');
    const numbersOf = async (options: CampaignOptions) => {
      const id = await aCampaignToPrepare(database.pool, sender, options);
      await prepare(id);
      return (await recipientsOf(id)).map(({ phone_number }) => phone_number);
    };
    const quick = { selectionType: 'quick_contacts', content: '["015123920101","9876543210"]' } as const;
    expect(await numbersOf(quick)).toEqual(['4915123920101', null]);
    const indian = { default_country: 'IN' };
    expect(await numbersOf({ ...quick, audience: indian })).toEqual([null, '919876543210']);
    const csv = 'phone,country\n015123920101,\n9876543210,\n9876543211,IN';
    expect(await numbersOf({ audience: { csv_mapping: mapping }, content: csv })).toEqual([
      '4915123920101',
      null,
      '919876543211',
    ]);
    const own = { csv_mapping: { ...mapping, ...indian } };
    expect(await numbersOf({ audience: own, content: csv })).toEqual([null, '919876543210', '919876543211']);
  });

  test('registers unknown people, and fills only empty fields of known ones', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}} {{2}}');
    const named = await aContact(sender, {
      phone: '4915100000001',
      firstName: 'Ada',
      email: 'ada@example.com',
      customFields: { city: 'Bonn' },
    });
    const bare = await aContact(sender, { phone: '4915100000002' });
    await subscribe(sender, 'contact.created', 'contact.updated');
    const id = await aCsv(
      sender,
      'phone,country,name,email,city\n+4915100000001,49,Other Name,o@example.com,Berlin\n+4915100000002,49,Bea de Vries,b@example.com,Köln\n+4915100000003,49,Cleo,,\n',
      {
        audience: { csv_mapping: nameMapping },
        variableMapping: { body: { 1: 'firstName', 2: 'name_column' } },
      },
    );
    await prepare(id);
    const contacts = await contactsOf(sender);
    expect(
      contacts.map(({ first_name, last_name, email, custom_fields, source }) => [
        first_name,
        last_name,
        email,
        custom_fields,
        source,
      ]),
    ).toEqual([
      ['Ada', '', 'ada@example.com', { city: 'Bonn' }, 'manual'],
      ['Bea', 'de Vries', 'b@example.com', { city: 'Köln' }, 'manual'],
      ['Cleo', '', '', {}, 'csv_import'],
    ]);
    expect(contacts[2]).toMatchObject({ phone_number: '4915100000003', country_code: '49', country: 'DE' });
    const recipients = await recipientsOf(id);
    expect(recipients.map(({ contact_id }) => contact_id)).toEqual([named, bare, contacts[2]?.id]);
    expect(recipients.map(({ variables }) => variables)).toEqual([
      ['Ada', 'Other Name'],
      ['Bea', 'Bea de Vries'],
      ['Cleo', 'Cleo'],
    ]);
    const events = await eventsOf(sender);
    expect(
      events.map(({ key, data }) => [key, data.contact.id, data.contact.phoneNumber]).toSorted(),
    ).toEqual([
      ['contact.created', contacts[2]?.id, '15100000003'],
      ['contact.updated', bare, '15100000002'],
    ]);
    // An import writes the contact of an event in SQL, where no type checks that every field is there.
    for (const { key, data } of events)
      expect([key, eventDataCodecs[key as EventKey].is(data)]).toEqual([key, true]);
    const updated = events.find(({ key }) => key === 'contact.updated');
    expect(updated?.data.contact).toMatchObject({
      firstName: 'Bea',
      countryCode: '49',
      customFields: [{ fieldId: 'city', value: 'Köln' }],
      tagsId: [],
      dob: null,
    });
  });

  test('fills custom fields of known people up to 64 KiB', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const letters = (count: number) => 'ü'.repeat(count);
    const full = { old: letters(32_400), city: 'Bonn' };
    await aContact(sender, { phone: '4915112345678', customFields: full });
    await aContact(sender, { phone: '4915112345679', customFields: { old: letters(100) } });
    const id = await aCsv(
      sender,
      `phone,country,city,note,zip\n+4915112345678,49,Ulm,${letters(255)},1\n+4915112345679,49,Ulm,${letters(255)},2\n`,
      {
        audience: { csv_mapping: { ...mapping, custom_field_mapping: { city: 2, note: 3, x: 3, zip: 4 } } },
        variableMapping: { body: { 1: '{{custom.old}}' } },
      },
    );
    await prepare(id);
    const [one, other] = await contactsOf(sender);
    expect(one?.custom_fields).toEqual({ ...full, x: letters(255), zip: '1' });
    expect(other?.custom_fields).toEqual({
      old: letters(100),
      city: 'Ulm',
      note: letters(255),
      x: letters(255),
      zip: '2',
    });
    expect((await recipientsOf(id))[1]?.variables).toEqual([letters(100)]);
  });

  test('restores the deleted, and skips the unsubscribed and blocked countries', async () => {
    const sender = await aSender(database.pool);
    const deleted = await aContact(sender, { phone: '4915100000001', deleted: true });
    await aContact(sender, { phone: '4915100000002', subscribed: false });
    await subscribe(sender, 'contact.updated');
    await database.pool.query(sql.type(nothing)`
      UPDATE channel SET blocked_countries = '{US}' WHERE id = ${sender.channelId}`);
    const id = await aCsv(sender, 'p,c\n+4915100000001,\n+4915100000002,\n+14155552671,\n');
    await prepare(id);
    expect((await recipientsOf(id)).map(({ state, reason }) => reason ?? state)).toEqual([
      'PENDING',
      'UNSUBSCRIBED',
      'BLOCKED_COUNTRY',
    ]);
    expect((await contactsOf(sender)).map(({ deleted: gone }) => gone)).toEqual([false, false, false]);
    expect((await eventsOf(sender)).map(({ key, data }) => [key, data.contact.id])).toEqual([
      ['contact.updated', deleted],
    ]);
  });

  test('skips the listed countries to which the provider delivers no marketing', async () => {
    const sender = await aSender(database.pool);
    const people = ['+14155552671', '+12025550123', '+14165550123', '+17875550123'];
    const config = { ...dependencies().config, marketingSkipCountries: ['US'] };
    const statesOf = async (category: string) => {
      const id = await aCsv(sender, `p,c\n${people.map((number) => `${number},\n`).join('')}`);
      await database.pool.query(sql.type(nothing)`
        UPDATE template SET category = ${category} WHERE id = (SELECT template_id FROM campaign WHERE id = ${id})`);
      await prepare(id, { overrides: { config } });
      return (await recipientsOf(id)).map(({ state, reason }) => reason ?? state);
    };
    const skipped = 'MARKETING_NOT_DELIVERED_TO_COUNTRY';
    expect(await statesOf('MARKETING')).toEqual([skipped, skipped, 'PENDING', 'PENDING']);
    expect(await statesOf('UTILITY')).toEqual(people.map(() => 'PENDING'));
  });

  test('skips rows that say that the person opted out, who does not become a contact', async () => {
    const sender = await aSender(database.pool);
    const csv = 'p,c,Opt-out\n+4915100000001,,ja\n+4915100000002,,\n+4915100000003,,who knows\n';
    const id = await aCsv(sender, csv, { audience: { csv_mapping: { ...mapping, consent: 2 } } });
    await prepare(id);
    expect((await recipientsOf(id)).map(({ state, reason }) => reason ?? state)).toEqual([
      'UNSUBSCRIBED',
      'PENDING',
      'UNSUBSCRIBED',
    ]);
    expect((await contactsOf(sender)).length).toBe(1);
  });

  test('skips people of whom only a later row, with any spelling of the number, says that they opted out', async () => {
    const rows = [
      '+523312345601,,',
      '+4915100000002,,no marketing',
      '+4915100000003,,',
      '+4915100000004,,',
      '+5213312345601,,ja',
      '+4915100000003,,no marketing',
      '+4915100000004,,?',
      '+4915100000005,,',
    ];
    const statesOf = async (category: string) => {
      const sender = await aSender(database.pool);
      await database.pool.query(sql.type(nothing)`
        UPDATE template SET category = ${category} WHERE id = ${sender.templateId}`);
      const csv = `p,c,Opt-out\n${rows.join('\n')}\n`;
      const id = await aCsv(sender, csv, { audience: { csv_mapping: { ...mapping, consent: 2 } } });
      await prepare(id);
      const found = await recipientsOf(id);
      const counted = await preparationOf(id);
      expect(counted.pending).toBe(found.filter(({ state }) => state === 'PENDING').length);
      expect((await contactsOf(sender)).length).toBe(counted.pending);
      return found.map(({ state, reason }) => reason ?? state);
    };
    const [stop, again] = ['UNSUBSCRIBED', 'DUPLICATE'];
    expect(await statesOf('MARKETING')).toEqual([stop, stop, stop, stop, again, again, again, 'PENDING']);
    expect(await statesOf('UTILITY')).toEqual([
      stop,
      'PENDING',
      'PENDING',
      stop,
      again,
      again,
      again,
      'PENDING',
    ]);
  });

  test('skips people who are no contacts where the workspace requires consent', async () => {
    const statesOf = async (policy: ConsentPolicy, category: string) => {
      const sender = await aSender(database.pool);
      await aContact(sender, { phone: '4915100000001' });
      await aContact(sender, { phone: '4915100000002', deleted: true });
      await saveConsentPolicy(database.pool, sender.workspaceId, policy);
      await database.pool.query(sql.type(nothing)`
        UPDATE template SET category = ${category} WHERE id = ${sender.templateId}`);
      const id = await aCsv(sender, 'p,c\n+4915100000001,\n+4915100000002,\n+4915100000003,\n');
      await prepare(id);
      const states = (await recipientsOf(id)).map(({ state, reason }) => reason ?? state);
      return [...states, (await contactsOf(sender)).length];
    };
    const skipped = ['PENDING', 'NO_CONSENT', 'NO_CONSENT', 2];
    const sent = ['PENDING', 'PENDING', 'PENDING', 3];
    expect(await statesOf('off', 'MARKETING')).toEqual(sent);
    expect(await statesOf('marketing', 'MARKETING')).toEqual(skipped);
    expect(await statesOf('marketing', 'UTILITY')).toEqual(sent);
    expect(await statesOf('all', 'UTILITY')).toEqual(skipped);
  });

  test('learns the custom fields of its columns with their types', async () => {
    const sender = await aSender(database.pool);
    const id = await aCsv(sender, 'p,c,x,y\n+4915100000001,,7,Bonn\n+4915100000002,,"8,5",\n', {
      audience: { csv_mapping: { ...mapping, custom_field_mapping: { size: 2, city: 3 } } },
    });
    await prepare(id);
    expect(await findFieldTypes(database.pool, sender.workspaceId, ['size', 'city', 'other'])).toEqual(
      new Map([
        ['size', 'number'],
        ['city', 'text'],
      ]),
    );
  });

  test('skips contacts that have got as many messages as the frequency cap allows', async () => {
    const sender = await aSender(database.pool);
    const csv = 'p,c\n+4915100000001,\n+4915100000002,\n';
    const first = await aCsv(sender, csv);
    await prepare(first);
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign SET started_at = now() WHERE id = ${first}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'READ', accepted_at = now() WHERE campaign_id = ${first} AND position = 1`);
    const category = await database.pool.oneFirst(sql.type(row(t.type({ category: t.string })))`
      SELECT category FROM template WHERE id = ${sender.templateId}`);
    const reasons = async (change: Partial<FrequencyCap> = {}) => {
      const cap = { messages: 1, days: 7, categories: [category], ...change } as FrequencyCap;
      await saveFrequencyCap(database.pool, sender.workspaceId, cap);
      const id = await aCsv(sender, csv);
      await prepare(id);
      return (await recipientsOf(id)).map(({ state, reason }) => reason ?? state);
    };
    expect(await reasons()).toEqual(['FREQUENCY_CAP', 'PENDING']);
    expect(await reasons({ messages: 2 })).toEqual(['PENDING', 'PENDING']);
    expect(await reasons({ categories: ['AUTHENTICATION'] })).toEqual(['PENDING', 'PENDING']);
  });

  test('writes no event without a subscriber', async () => {
    const sender = await aSender(database.pool);
    const id = await aCsv(sender, 'p,c\n+4915100000001,\n');
    await prepare(id);
    expect(await eventsOf(sender)).toEqual([]);
    expect((await contactsOf(sender)).length).toBe(1);
  });

  test('is read in many batches without losing or repeating a row', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const count = 23_456;
    const rows = Array.from({ length: count }, (_, i) => `+49151${10_000_000 + (i % 20_000)},49,N${i}`);
    const id = await aCsv(sender, `phone,country,name\n${rows.join('\n')}`, {
      audience: { csv_mapping: { ...mapping, name_column: 2 } },
      variableMapping: { body: { 1: 'Dear {{name_column}}' } },
    });
    await prepare(id);
    expect(await preparationOf(id)).toMatchObject({
      total_contacts: 20_000,
      total_contacts_skipped: 3_456,
      reasons: { DUPLICATE: 3_456 },
    });
    const recipients = await recipientsOf(id);
    expect(
      recipients.every(
        ({ position, line_number: line }, index) => position === index + 1 && line === index + 2,
      ),
    ).toBe(true);
    expect(recipients[19_999]?.variables).toEqual(['Dear N19999']);
    expect((await contactsOf(sender)).length).toBe(20_000);
    expect(recipients.slice(0, 20_000).every(({ contact_id }) => contact_id !== null)).toBe(true);
  });
});

describe('a CSV that cannot be used', () => {
  const long = 'x'.repeat(10 * 1024 * 1024);
  test.each([
    ['is empty', '', 'CSV_UNREADABLE', /empty/],
    ['is blank', '\n \n', 'CSV_UNREADABLE', /empty/],
    [
      'leaves a quote open',
      'p,c\n+4915100000001,49\n"+4915100000002,49\n+4915100000003,49\n',
      'CSV_UNREADABLE',
      /^Line 3: /,
    ],
    [
      'has 10 MB in one field',
      `p,c\n+4915100000001,49\n+4915100000002,"${long}"\n`,
      'CSV_UNREADABLE',
      /^Line 3: /,
    ],
    ['has too few columns', 'p\n+4915100000001\n', 'CSV_COLUMN_OUT_OF_RANGE', /country_code_column/],
    ['has only a header', 'p,c\n', 'AUDIENCE_EMPTY', /nobody/],
  ])('ends in FAILED when it %s, and leaves nothing', async (_, content, code, message) => {
    const sender = await aSender(database.pool);
    const id = await aCsv(sender, content);
    await prepare(id);
    const preparation = await preparationOf(id);
    expect(preparation).toMatchObject({
      status: 'FAILED',
      preparation_status: 'FAILED',
      code,
      pending: 0,
      has_input: false,
    });
    expect(preparation.message).toMatch(message);
    expect(await recipientsOf(id)).toEqual([]);
    expect(await contactsOf(sender)).toEqual([]);
  });

  test('ends in FAILED with a mapping that only an earlier release took', async () => {
    const sender = await aSender(database.pool);
    const custom = { ['x'.repeat(256)]: 2 };
    const id = await aCsv(sender, 'phone,country,city\n+4915112345678,49,Bonn\n', {
      audience: { csv_mapping: { ...mapping, custom_field_mapping: custom } },
    });
    await prepare(id);
    const { status, code, message } = await preparationOf(id);
    expect({ status, code }).toEqual({ status: 'FAILED', code: 'CSV_UNREADABLE' });
    expect(message).toContain('csv_mapping.custom_field_mapping must have names of 1 to 255 characters');
  });

  test('keeps the skipped rows when no recipient is left', async () => {
    const sender = await aSender(database.pool);
    const id = await aCsv(sender, 'p,c\nnonsense,49\n030901820,Atlantis\n');
    await prepare(id);
    expect(await preparationOf(id)).toMatchObject({
      message: 'The audience holds nobody to send to: all 2 rows were skipped: 2 INVALID_PHONE',
      status: 'FAILED',
      preparation_status: 'FAILED',
      code: 'AUDIENCE_EMPTY',
      total_contacts: 0,
      total_contacts_skipped: 2,
      skipped: 2,
      reasons: { INVALID_PHONE: 2 },
    });
    expect((await recipientsOf(id)).map(({ reason_detail: detail }) => detail)).toEqual([
      `nonsense: ${hasLetters}`,
      '******820: the country "Atlantis" is not known',
    ]);
  });

  test('reports that the mapping no longer fits the template', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}} and {{2}}');
    const id = await aCsv(sender, 'p,c\n+4915100000001,49\n', { variableMapping: { body: { 1: 'x' } } });
    await prepare(id);
    expect(await preparationOf(id)).toMatchObject({ status: 'FAILED', code: 'TEMPLATE_NOT_FOUND' });
  });
});

describe('a CSV file', () => {
  const key = 'csv_0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11.csv';
  const storage = {
    read: async (asked: string) =>
      asked === key ? Readable.from([Buffer.from('p,c\n+4915100'), Buffer.from('000001,49\n')]) : undefined,
  } as unknown as Dependencies['storage'];

  test.each([
    ['its key', { csv_file_key: key }],
    ['our own URL', { csv_file_url: `https://campaigns.example.com/api/campaigns/csv-files/${key}` }],
  ])('is read from the storage by %s', async (_, source) => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, ...source },
    });
    await prepare(id, { overrides: { storage } });
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', total_contacts: 1 });
  });

  test('fails the preparation when the storage does not have it', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_key: 'other' },
    });
    await prepare(id, { overrides: { storage } });
    expect(await preparationOf(id)).toMatchObject({ status: 'FAILED', code: 'FILE_NOT_FOUND' });
  });

  test('is downloaded again when the download breaks off', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_url: 'https://files.example.com/a.csv' },
    });
    let downloads = 0;
    const broken = async function* () {
      yield Buffer.from('p,c\n+4915100000001,49\n');
      throw new FileFetchError('FILE_NOT_FOUND', 'The download was cut off', true);
    };
    const fetchFile = async () => {
      downloads += 1;
      return {
        ok: true,
        stream: Readable.from(downloads === 1 ? broken() : [Buffer.from('p,c\n+4915100000002,49\n')]),
      };
    };
    await prepare(id, { overrides: { outbound: { fetchFile } as unknown as Dependencies['outbound'] } });
    expect(downloads).toBe(2);
    expect((await recipientsOf(id)).map(({ phone_number }) => phone_number)).toEqual(['4915100000002']);
    expect((await contactsOf(sender)).map(({ phone_number }) => phone_number)).toEqual(['4915100000002']);
  });

  /** Sends its beginning and then nothing until `finish` is called. */
  function aSlowDownload() {
    const stream = new Readable({ read: () => undefined });
    stream.push('p,c\n+4915100000001,49\n');
    const outbound = { fetchFile: async () => ({ ok: true, stream }) } as unknown as Dependencies['outbound'];
    return { outbound, finish: () => stream.push(null) };
  }

  const Count = row(t.type({ count: t.number }));
  const connectionsOfPreparation = () =>
    database.pool.oneFirst(sql.type(Count)`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'prepare-%'`);

  test('that arrives slowly holds no connection, and is deleted afterwards', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_url: 'https://files.example.com/a.csv' },
    });
    const { outbound, finish } = aSlowDownload();
    const prepared = prepare(id, { overrides: { outbound } });
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    await sleep(500);
    expect(await connectionsOfPreparation()).toBe(0);
    finish();
    await prepared;
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', total_contacts: 1 });
    expect(await readdir(folder)).toEqual([]);
  });

  test('is not waited for when the campaign is cancelled', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_url: 'https://files.example.com/a.csv' },
    });
    const { outbound } = aSlowDownload();
    const prepared = prepare(id, { overrides: { outbound } });
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    await database.pool.query(sql.type(nothing)`UPDATE campaign SET status = 'CANCELLED' WHERE id = ${id}`);
    await prepared;
    expect(await readdir(folder)).toEqual([]);
  });

  test('whose address is not permitted ends in FAILED', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_url: 'https://files.example.com/a.csv' },
    });
    const fetchFile = async () => ({ ok: false, error: new FileFetchError('FILE_FETCH_REFUSED', 'refused') });
    await prepare(id, { overrides: { outbound: { fetchFile } as unknown as Dependencies['outbound'] } });
    expect(await preparationOf(id)).toMatchObject({ status: 'FAILED', code: 'FILE_FETCH_REFUSED' });
  });
});

describe('quick contacts', () => {
  test('bring their own values, and fall back to the mapping', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}, {{2}}');
    const entries = [
      '+49 151 00000001, Grace, Berlin',
      '4915100000002|Ada, Countess|',
      '+4915100000003',
      '+4915100000001',
    ];
    const id = await aCampaignToPrepare(database.pool, sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify(entries),
      variableMapping: {
        body: { 1: 'firstName', 2: 'your town' },
        default_values: { body: { 1: 'friend' } },
      },
    });
    await prepare(id);
    expect(
      (await recipientsOf(id)).map(({ phone_number, variables, reason, line_number }) => [
        phone_number,
        variables,
        reason,
        line_number,
      ]),
    ).toEqual([
      // The third entry is the inline value: the first is resolved again from it if the contact changes.
      ['4915100000001', ['Grace', 'Berlin', 'Grace'], null, null],
      ['4915100000002', ['Ada, Countess', 'your town', 'Ada, Countess'], null, null],
      ['4915100000003', ['friend', 'your town', ''], null, null],
      ['4915100000001', null, 'DUPLICATE', null],
    ]);
    expect((await contactsOf(sender)).map(({ source }) => source)).toEqual([
      'quick_contacts',
      'quick_contacts',
      'quick_contacts',
    ]);
  });
});

describe('contacts as the audience', () => {
  test('are all contacts that are not deleted; those that cannot be sent to are skipped', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const ada = await aContact(sender, { phone: '4915100000001', firstName: 'Ada' });
    await aContact(sender, { phone: '4915100000002', firstName: 'Bert', subscribed: false });
    await aContact(sender, { phone: '4915100000003', deleted: true });
    await aContact(sender, { phone: '4915100000004' });
    await aContact(sender, { phone: '4915100000006', firstName: 'x'.repeat(3_000) });
    await database.pool.query(sql.type(nothing)`
      UPDATE template SET components = components || '[{"type": "FOOTER", "text": "Bye"}]'
      WHERE workspace_id = ${sender.workspaceId}`);
    await aContact(await aSender(database.pool), { phone: '4915100000005' });
    const id = await aCampaignToPrepare(database.pool, sender, {
      selectionType: 'all_contacts',
      variableMapping: { body: { 1: '{{firstName}} {{phoneNumber}}' } },
    });
    await prepare(id);
    expect(
      (await recipientsOf(id)).map(({ contact_id, variables, reason, reason_detail: detail }) => [
        contact_id === ada,
        variables,
        reason,
        detail,
      ]),
    ).toEqual([
      [true, ['Ada 15100000001'], null, null],
      [false, null, 'UNSUBSCRIBED', null],
      [false, null, 'MISSING_VARIABLE', 'body.1'],
      [false, null, 'TEXT_TOO_LONG', 'body: 3,015 of 1,024'],
    ]);
  });

  test('are those of any segment that match the filters', async () => {
    const sender = await aSender(database.pool);
    await aContact(sender, { phone: '4915100000001', firstName: 'Ada', email: 'a@example.com' });
    await aContact(sender, { phone: '4915100000002', firstName: 'Bert', email: 'b@example.com' });
    await aContact(sender, { phone: '4915100000003', firstName: 'Cleo' });
    await aContact(sender, { phone: '4915100000004', firstName: 'Dora', email: 'd@example.com' });
    const segment = (value: string) =>
      database.pool.oneFirst(sql.type(Id)`
        INSERT INTO segment (workspace_id, name, match, conditions) VALUES (${sender.workspaceId}, 's', 'all',
          ${JSON.stringify([{ field: 'firstName', operator: 'in', value: value.split(',') }])}::jsonb) RETURNING id`);
    const segments = [await segment('Ada,Bert'), await segment('Bert,Cleo')];
    const id = await aCampaignToPrepare(database.pool, sender, {
      selectionType: 'segmented',
      audience: {
        segments,
        contact_filters: {
          match: 'any',
          conditions: [
            { field: 'email', operator: 'exists' },
            { field: 'firstName', operator: 'eq', value: 'nobody' },
          ],
        },
      },
    });
    await prepare(id);
    expect((await recipientsOf(id)).map(({ phone_number }) => phone_number)).toEqual([
      '4915100000001',
      '4915100000002',
    ]);
  });

  test('end in FAILED when the segments have grown beyond what one statement takes', async () => {
    const sender = await aSender(database.pool);
    const conditions = Array.from({ length: 66_000 }, () => ({
      field: 'firstName',
      operator: 'eq',
      value: 'A',
    }));
    const segment = await database.pool.oneFirst(sql.type(Id)`
      INSERT INTO segment (workspace_id, name, match, conditions)
      VALUES (${sender.workspaceId}, 's', 'any', ${JSON.stringify(conditions)}::jsonb) RETURNING id`);
    const id = await aCampaignToPrepare(database.pool, sender, {
      selectionType: 'segmented',
      audience: { segments: [segment] },
    });
    await prepare(id);
    expect(await preparationOf(id)).toMatchObject({
      status: 'FAILED',
      code: 'AUDIENCE_EMPTY',
      message: expect.stringMatching(
        /^The audience cannot be read: segments .* 66001 values; 10000 are allowed$/,
      ),
    });
  });
});

describe('failed contacts', () => {
  /** A campaign of four: one failed, one unknown with a reservation, one read, one failed for another reason. */
  async function aFailedCampaign(sender: Sender): Promise<string> {
    const rows = [1, 2, 3, 4].map((i) => `+491510000000${i},49,N${i}`).join('\n');
    const id = await aCsv(sender, `p,c,n\n${rows}\n`, {
      audience: { csv_mapping: { ...mapping, name_column: 2 } },
      variableMapping: { body: { 1: 'name_column' } },
    });
    await prepare(id);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = CASE position WHEN 2 THEN 'UNKNOWN' WHEN 3 THEN 'READ' ELSE 'FAILED' END,
        reason = CASE position WHEN 1 THEN 'PROVIDER_131047' WHEN 2 THEN 'OUTCOME_UNKNOWN' WHEN 4 THEN 'PROVIDER_131049' END,
        settlement = CASE position WHEN 2 THEN 'reserved' ELSE 'none' END, price = 50000, updated_at = now() - interval '25 hours'
      WHERE campaign_id = ${id}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE wallet SET balance = 1000000, reserved = 60000 WHERE channel_id = ${sender.channelId}`);
    return id;
  }

  const Reserved = row(t.type({ reserved: t.bigint, settlement: t.string }));
  const reservedOf = ({ channelId }: Sender, campaignId: string) =>
    database.pool.one(sql.type(Reserved)`
      SELECT reserved, settlement FROM wallet JOIN recipient ON campaign_id = ${campaignId} AND position = 2
      WHERE channel_id = ${channelId}`);

  const resend = async (sender: Sender, audience: object, options: CampaignOptions = {}) => {
    const id = await aCampaignToPrepare(database.pool, sender, {
      selectionType: 'failed_contacts',
      audience,
      ...options,
    });
    await prepare(id);
    return id;
  };

  test('are those that failed, with the values they had', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    const id = await resend(sender, { failed_campaign_id: failed });
    expect((await recipientsOf(id)).map(({ phone_number, variables }) => [phone_number, variables])).toEqual([
      ['4915100000001', ['N1']],
      ['4915100000004', ['N4']],
    ]);
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', has_plan: true });
    expect(await reservedOf(sender, failed)).toEqual({ reserved: 60_000n, settlement: 'reserved' });
  });

  test('are left alone for a day after the provider held marketing to them back', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    const ago = (hours: number) =>
      database.pool.query(sql.type(nothing)`
        UPDATE recipient SET updated_at = now() - make_interval(hours => ${hours}) WHERE campaign_id = ${failed}`);
    const resent = async () => {
      const id = await resend(sender, { failed_campaign_id: failed });
      return (await recipientsOf(id)).map(({ state, reason }) => reason ?? state);
    };
    await ago(23);
    expect(await resent()).toEqual(['PENDING', 'RESTED_24H']);
    await ago(24);
    expect(await resent()).toEqual(['PENDING', 'PENDING']);
  });

  test('leave out who has no chance, unless the reason is asked for', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET reason = 'PROVIDER_131026' WHERE campaign_id = ${failed} AND position = 1`);
    const id = await resend(sender, { failed_campaign_id: failed });
    expect(
      (await recipientsOf(id)).map(({ state, reason, reason_detail }) => [state, reason, reason_detail]),
    ).toEqual([
      ['SKIPPED', 'NO_CHANCE', 'PROVIDER_131026'],
      ['PENDING', null, null],
    ]);
    expect(await preparationOf(id)).toMatchObject({
      total_contacts: 1,
      total_contacts_skipped: 1,
      reasons: { NO_CHANCE: 1 },
    });
    const asked = await resend(sender, {
      failed_campaign_id: failed,
      failed_reasons: ['PROVIDER_131026'],
    });
    expect((await recipientsOf(asked)).map(({ state }) => state)).toEqual(['PENDING']);
  });

  test('are those of the reasons asked for; an unknown outcome gives its reservation back', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    const id = await resend(sender, {
      failed_campaign_id: failed,
      failed_reasons: ['OUTCOME_UNKNOWN', 'PROVIDER_131049'],
    });
    expect((await recipientsOf(id)).map(({ phone_number }) => phone_number)).toEqual([
      '4915100000002',
      '4915100000004',
    ]);
    expect(await reservedOf(sender, failed)).toEqual({ reserved: 10_000n, settlement: 'none' });
  });

  test('are sent to at the number that their contact has now, and give their reservation back', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    await database.pool.query(sql.type(nothing)`
      UPDATE contact SET phone_number = '523312345601', country_code = '52', country = 'MX'
      WHERE workspace_id = ${sender.workspaceId} AND phone_number = '4915100000002'`);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET contact_id = NULL WHERE campaign_id = ${failed} AND position = 4`);
    const id = await resend(sender, {
      failed_campaign_id: failed,
      failed_reasons: ['OUTCOME_UNKNOWN', 'PROVIDER_131049'],
    });
    expect(
      (await recipientsOf(id)).map(({ phone_number, country, state }) => [phone_number, country, state]),
    ).toEqual([
      ['523312345601', 'MX', 'PENDING'],
      ['4915100000004', 'DE', 'PENDING'],
    ]);
    expect(await reservedOf(sender, failed)).toEqual({ reserved: 10_000n, settlement: 'none' });
  });

  test('are skipped when their contact was unsubscribed or deleted since', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    await database.pool.query(sql.type(nothing)`
      UPDATE contact SET subscribed = phone_number <> '4915100000001',
        deleted_at = CASE WHEN phone_number = '4915100000002' THEN now() END
      WHERE workspace_id = ${sender.workspaceId}`);
    const id = await resend(sender, {
      failed_campaign_id: failed,
      failed_reasons: ['OUTCOME_UNKNOWN', 'PROVIDER_131047', 'PROVIDER_131049'],
    });
    expect(
      (await recipientsOf(id)).map(({ phone_number, state, reason }) => [phone_number, state, reason]),
    ).toEqual([
      ['4915100000001', 'SKIPPED', 'UNSUBSCRIBED'],
      ['4915100000002', 'SKIPPED', 'CONTACT_DELETED'],
      ['4915100000004', 'PENDING', null],
    ]);
    expect(await reservedOf(sender, failed)).toEqual({ reserved: 60_000n, settlement: 'reserved' });
  });

  test('end in FAILED when the offer they were promised has expired', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    const offer = (until: number) =>
      database.pool.query(sql.type(nothing)`
        UPDATE campaign SET message_plan = ${sql.jsonb({
          components: [
            {
              type: 'limited_time_offer',
              parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: until } }],
            },
          ],
          holes: [],
        })} WHERE id = ${failed}`);
    await offer(Date.now() + 60_000);
    expect(await preparationOf(await resend(sender, { failed_campaign_id: failed }))).toMatchObject({
      preparation_status: 'READY',
    });
    await offer(Date.now());
    expect(await preparationOf(await resend(sender, { failed_campaign_id: failed }))).toMatchObject({
      status: 'FAILED',
      code: 'TEMPLATE_NOT_FOUND',
      message: 'The offer has expired: send variable_mapping',
    });
  });

  test('take the values of another mapping and template when there is one', async () => {
    const sender = await aSender(database.pool, 'Hi {{1}}');
    const failed = await aFailedCampaign(sender);
    const templateId = await aTemplate(database.pool, { ...sender, bodyText: 'Dear {{1}} {{2}}' });
    const id = await resend(
      { ...sender, templateId },
      { failed_campaign_id: failed },
      { variableMapping: { body: { 1: 'firstName', 2: 'phoneNumber' } } },
    );
    expect((await recipientsOf(id)).map(({ variables }) => variables)).toEqual([
      ['N1', '15100000001'],
      ['N4', '15100000004'],
    ]);
  });
});

describe('a preparation', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => `+49151${10_000_000 + i},49`).join('\n');

  const cancel = (id: string) =>
    database.pool.query(sql.type(nothing)`UPDATE campaign SET status = 'CANCELLED' WHERE id = ${id}`);

  test('does nothing to a campaign that is cancelled, or ready', async () => {
    const sender = await aSender(database.pool);
    const id = await aCsv(sender, `p,c\n${rows(3)}`);
    await cancel(id);
    await prepare(id);
    expect(await preparationOf(id)).toMatchObject({ status: 'CANCELLED', preparation_status: 'PREPARING' });
    const ready = await aCsv(sender, `p,c\n${rows(3)}`);
    await prepare(ready);
    const before = await recipientsOf(ready);
    await prepare(ready);
    expect(await recipientsOf(ready)).toEqual(before);
  });

  test('leaves no recipients when the campaign is cancelled meanwhile', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_key: 'k' },
    });
    const file = async function* () {
      yield Buffer.from(`p,c\n${rows(12_000)}\n`);
      await cancel(id);
      yield Buffer.from('+4915200000001,49\n');
    };
    await prepare(id, {
      overrides: {
        storage: { read: async () => Readable.from(file()) } as unknown as Dependencies['storage'],
      },
    });
    expect(await preparationOf(id)).toMatchObject({
      status: 'CANCELLED',
      preparation_status: 'PREPARING',
      total_contacts: 0,
    });
    expect(await recipientsOf(id)).toEqual([]);
  });

  test('that is broken off leaves no recipients, and registers each contact once when done again', async () => {
    const sender = await aSender(database.pool);
    await subscribe(sender, 'contact.created');
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_key: 'k' },
    });
    const controller = new AbortController();
    const file = async function* () {
      yield Buffer.from(`p,c\n${rows(16_000)}\n`);
      if (!controller.signal.aborted)
        await expect
          .poll(async () => (await contactsOf(sender)).length, { timeout: 30_000 })
          .toBeGreaterThan(0);
      controller.abort();
      yield Buffer.from('+4915200000001,49\n');
    };
    const storage = { read: async () => Readable.from(file()) } as unknown as Dependencies['storage'];
    await expect(prepare(id, { overrides: { storage }, signal: controller.signal })).rejects.toThrow();
    expect(await recipientsOf(id)).toEqual([]);
    const registered = (await contactsOf(sender)).length;
    expect(registered).toBeGreaterThan(0);
    expect(registered).toBeLessThan(16_000);
    expect((await eventsOf(sender)).length).toBe(registered);
    await prepare(id, { overrides: { storage } });
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', total_contacts: 16_001 });
    expect((await contactsOf(sender)).length).toBe(16_001);
    expect((await eventsOf(sender)).length).toBe(16_001);
  });

  test('holds no contact while it waits for the rest of its file', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      audience: { csv_mapping: mapping, csv_file_key: 'k' },
    });
    const file = async function* () {
      yield Buffer.from(`p,c\n${rows(16_000)}\n`);
      await expect
        .poll(async () => (await contactsOf(sender)).length, { timeout: 30_000 })
        .toBeGreaterThan(0);
      // Fails instead of waiting if the import still holds one of them.
      await database.pool.transaction(async (transaction) => {
        await transaction.query(sql.type(nothing)`SET LOCAL lock_timeout = '1s'`);
        await transaction.query(sql.type(nothing)`
          UPDATE contact SET subscribed = false WHERE workspace_id = ${sender.workspaceId}`);
      });
    };
    const storage = { read: async () => Readable.from(file()) } as unknown as Dependencies['storage'];
    await prepare(id, { overrides: { storage } });
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', total_contacts: 16_000 });
  });

  test('begins again when another transaction holds one of its contacts for a moment', async () => {
    const sender = await aSender(database.pool);
    const { workspaceId } = sender;
    await database.pool.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
      VALUES (${workspaceId}, '4915110000001', '49', 'DE', 'api')`);
    const id = await aCsv(sender, `p,c,n\n+4915110000001,49,Ada\n`);
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign SET audience = jsonb_set(audience, '{csv_mapping,name_column}', '2') WHERE id = ${id}`);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('UPDATE contact SET updated_at = now() WHERE workspace_id = $1', [workspaceId]);
    const prepared = prepare(id);
    // Longer than a batch waits for a lock.
    await sleep(2_500);
    await other.query('COMMIT');
    await other.end();
    await prepared;
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', total_contacts: 1 });
  });

  test('ends in FAILED where the input holds what no text column takes', async () => {
    const sender = await aSender(database.pool);
    const id = await aCampaignToPrepare(database.pool, sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify(['no \u0000 number']),
    });
    await prepare(id);
    expect(await preparationOf(id)).toMatchObject({
      status: 'FAILED',
      preparation_status: 'FAILED',
      code: 'CSV_UNREADABLE',
    });
    expect(await recipientsOf(id)).toEqual([]);
  });

  test('runs once when two workers begin it', async () => {
    const sender = await aSender(database.pool);
    const id = await aCsv(sender, `p,c\n${rows(6_000)}`);
    await Promise.all([prepare(id), prepare(id)]);
    expect(await preparationOf(id)).toMatchObject({ preparation_status: 'READY', total_contacts: 6_000 });
    expect((await recipientsOf(id)).length).toBe(6_000);
  });

  test('of the same people in two campaigns at once makes every contact once', async () => {
    const sender = await aSender(database.pool);
    await subscribe(sender, 'contact.created');
    const lines = rows(8_000).split('\n');
    const first = await aCsv(sender, `p,c\n${lines.join('\n')}`);
    const second = await aCsv(sender, `p,c\n${lines.toReversed().join('\n')}`);
    await Promise.all([prepare(first), prepare(second)]);
    expect(await preparationOf(first)).toMatchObject({ preparation_status: 'READY', total_contacts: 8_000 });
    expect(await preparationOf(second)).toMatchObject({ preparation_status: 'READY', total_contacts: 8_000 });
    const contacts = await contactsOf(sender);
    expect(contacts.length).toBe(8_000);
    expect((await eventsOf(sender)).length).toBe(8_000);
    const known = new Set(contacts.map(({ id }) => id));
    const used = [...(await recipientsOf(first)), ...(await recipientsOf(second))].map(
      ({ contact_id }) => contact_id ?? '',
    );
    expect(used.every((id) => known.has(id))).toBe(true);
  });
});
