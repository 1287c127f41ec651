/** People whom 1.0.0 stored under a former number, found by every form of it. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { findOptedOut, hashNames } from '../../src/commands/contacts/opted-out-numbers.ts';
import { formsOf } from '../../src/domain/number-rules.ts';
import { normalisePhoneNumber } from '../../src/domain/phone-number.ts';
import { lockQuota, takeQuota } from '../../src/records/sending/messaging-limit.ts';
import { claimMessage } from '../../src/records/messages/outbound-messages.ts';
import { changeOptedOutNumbers } from '../../src/records/contacts/erasure.ts';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aCampaignToPrepare, aTemplate } from '../support/audience-campaign.ts';
import { createApplier, deliver, messagesCallback, rowsOf } from '../support/callback-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** As 1.0.0 stored a person, and as a list has the number today. */
const kinds = [
  ['Mexico', '5213312345601', '+52 33 1234 5601'],
  ['Brazil', '551187654321', '+55 11 98765-4321'],
  ['Argentina, without the 9', '541123456789', '+54 9 11 2345-6789'],
  ['Argentina, with the 9', '5491123456789', '+54 11 2345-6789'],
  ['Ivory Coast', '22507130401', '+225 07 07 13 04 01'],
  ['Benin', '22997123456', '+229 01 97 12 34 56'],
  ['Cameroon', '23777123456', '+237 6 77 12 34 56'],
  ['Gabon', '24106123456', '+241 66 12 34 56'],
  ['Vietnam', '841201234567', '+84 70 123 4567'],
  ['Kosovo', '37744123456', '+383 44 123 456'],
  ['Palestine', '972599123456', '+970 599 123 456'],
] as const;

/** Writes a contact as 1.0.0 did. */
async function store({ workspaceId }: SeededWorkspace, phoneNumber: string): Promise<string> {
  const id = randomUUID();
  await api.dependencies.database.query(sql.type(nothing)`
    INSERT INTO contact (id, workspace_id, phone_number, source, first_name)
    VALUES (${id}, ${workspaceId}, ${phoneNumber}, 'incoming', 'Ada')`);
  return id;
}

interface StoredContact {
  readonly id: string;
  readonly phone_number: string | null;
  readonly subscribed: boolean;
}

const contactsOf = ({ workspaceId }: SeededWorkspace) =>
  rowsOf<StoredContact>(
    api.dependencies.database,
    sql.fragment`SELECT id, phone_number, subscribed FROM contact WHERE workspace_id = ${workspaceId} ORDER BY created_at, id`,
  );

const write = (workspace: SeededWorkspace, from: string, body: string) =>
  deliver(createApplier(api.dependencies.database, { secrets: api.dependencies.secrets }), [
    messagesCallback(workspace.phoneNumberId, {
      messages: [
        { id: `wamid.${randomUUID()}`, from, timestamp: '1749416383', type: 'text', text: { body } },
      ],
    }),
  ]);

const create = ({ workspaceKey: key }: SeededWorkspace, phoneNumber: string) =>
  api.send('POST', '/api/contacts', { key, body: { phoneNumber, firstName: 'Grace' } });

const listed = async ({ workspaceKey: key }: SeededWorkspace, path: string) =>
  (await api.send('GET', path, { key })).body.data;

async function prepare(workspace: SeededWorkspace, numbers: readonly string[]) {
  const { database } = api.dependencies;
  const { workspaceId, channelId, businessAccountId } = workspace;
  const templateId = await aTemplate(database, { workspaceId, businessAccountId });
  const campaignId = await aCampaignToPrepare(
    database,
    { workspaceId, channelId, businessAccountId, templateId },
    { selectionType: 'quick_contacts', content: JSON.stringify(numbers) },
  );
  await prepareCampaign(api.dependencies, campaignId, {
    heartbeat: () => undefined,
    signal: new AbortController().signal,
  });
  const recipients = await rowsOf<{ readonly phone_number: string; readonly outcome: string }>(
    database,
    sql.fragment`SELECT phone_number, contact_id, COALESCE(reason, state) AS outcome FROM recipient
      WHERE campaign_id = ${campaignId} ORDER BY position`,
  );
  return { campaignId, recipients };
}

describe.each(kinds)('a contact of %s', (_country, stored, given) => {
  const digits = normalisePhoneNumber(given)?.digits ?? '';

  it('is found under another form of the number, and no second one is made', async () => {
    const workspace = await api.seedWorkspace();
    const id = await store(workspace, stored);
    expect(await create(workspace, given)).toMatchObject({ status: 409 });
    for (const search of [given, digits, stored, `+${stored}`, `https://wa.me/${digits}`])
      expect(await listed(workspace, `/api/contacts?search=${encodeURIComponent(search)}`)).toMatchObject([
        { id },
      ]);
    await write(workspace, digits, 'Hello');
    await write(workspace, stored, 'Hello again');
    const { recipients } = await prepare(workspace, [given, `+${stored}`]);
    expect(recipients).toMatchObject([
      { contact_id: id, outcome: 'PENDING', phone_number: digits },
      { outcome: 'DUPLICATE' },
    ]);
    expect(await contactsOf(workspace)).toHaveLength(1);
    for (const number of [given, stored])
      expect(
        await listed(workspace, `/api/messages?phone_number=${encodeURIComponent(number)}`),
      ).toHaveLength(2);
  });

  it.each([
    ['the number of today', digits],
    ['the former number', stored],
  ])('opts out by STOP from %s, whatever an import brings', async (_form, from) => {
    const workspace = await api.seedWorkspace();
    const id = await store(workspace, stored);
    await write(workspace, from, 'STOP');
    expect(await contactsOf(workspace)).toMatchObject([{ id, subscribed: false }]);
    const { recipients } = await prepare(workspace, [given]);
    expect(recipients).toMatchObject([{ outcome: 'UNSUBSCRIBED' }]);
    expect(await contactsOf(workspace)).toHaveLength(1);
  });

  it('is erased with what is stored under every form, and stays opted out', async () => {
    const workspace = await api.seedWorkspace();
    const { campaignId } = await prepare(workspace, [given]);
    await api.dependencies.database.query(sql.type(nothing)`
      UPDATE contact SET phone_number = ${stored} WHERE workspace_id = ${workspace.workspaceId}`);
    await api.dependencies.database.query(sql.type(nothing)`
      UPDATE recipient SET contact_id = NULL WHERE campaign_id = ${campaignId}`);
    await write(workspace, digits, 'STOP');
    const [contact] = await contactsOf(workspace);
    const erased = await api.send('DELETE', `/api/contacts/${contact?.id}?erase=true`, {
      key: workspace.workspaceKey,
    });
    expect(erased.status).toBe(200);
    const named = sql.fragment`
      SELECT phone_number FROM message WHERE workspace_id = ${workspace.workspaceId} AND phone_number IS NOT NULL
      UNION ALL
      SELECT phone_number FROM recipient WHERE campaign_id = ${campaignId} AND phone_number IS NOT NULL`;
    expect(await rowsOf(api.dependencies.database, named)).toEqual([]);
    const again = await prepare(workspace, [given]);
    expect(again.recipients).toMatchObject([{ outcome: 'UNSUBSCRIBED' }]);
  });

  it('has the messages that were sent to another form of the number', async () => {
    const workspace = await api.seedWorkspace();
    const { workspaceId, channelId, businessAccountId, workspaceKey } = workspace;
    const { database } = api.dependencies;
    const id = await store(workspace, stored);
    await write(workspace, stored, 'Hello');
    await database.query(sql.type(nothing)`
      UPDATE conversation SET inbound_at = now() WHERE contact_id = ${id}`);
    await database.query(sql.type(nothing)`
      UPDATE business_account SET messaging_limit = 1 WHERE id = ${businessAccountId}`);
    await database.query(sql.type(nothing)`UPDATE wallet SET balance = 1000 WHERE channel_id = ${channelId}`);
    const templateId = await aTemplate(database, { workspaceId, businessAccountId });
    // Whoever wrote in the last day does not count against the limit.
    for (let message = 0; message < 2; message += 1)
      await database.transaction(async (transaction) => {
        const quota = await lockQuota(transaction, channelId);
        if (quota === null) throw new Error('No limit');
        expect(quota.people).toBe(1);
        expect(await takeQuota(transaction, { quota, channelId, workspaceId, to: digits })).toBe(true);
        await claimMessage(transaction, {
          id: randomUUID(),
          workspaceId,
          channelId,
          templateId,
          to: digits,
          source: 'api',
          campaignId: null,
          country: '',
          price: 1n,
          ttlSeconds: 60,
        });
      });
    const sent = sql.fragment`SELECT DISTINCT contact_id FROM message
      WHERE workspace_id = ${workspaceId} AND direction = 'outbound'`;
    expect(await rowsOf(database, sent)).toEqual([{ contact_id: id }]);
    await prepare(workspace, [given]);
    await database.query(sql.type(nothing)`
      UPDATE recipient SET state = 'SENT', accepted_at = now() WHERE contact_id = ${id}`);
    const history: readonly { readonly direction: string }[] = await listed(
      workspace,
      `/api/contacts/${id}/history`,
    );
    expect(history.map(({ direction }) => direction).toSorted()).toEqual([
      'inbound',
      'outbound',
      'outbound',
      'outbound',
    ]);
    const segment = await api.send('POST', '/api/segments', {
      key: workspaceKey,
      body: {
        name: 'One person',
        match: 'all',
        conditions: [{ field: 'phoneNumber', operator: 'eq', value: given }],
      },
    });
    expect(await listed(workspace, `/api/contacts?segment=${segment.body.data.id}`)).toMatchObject([{ id }]);
  });

  it('keeps an opt-out that 1.0.0 stored for somebody without a contact', async () => {
    const { workspaceId } = await api.seedWorkspace();
    const { database } = api.dependencies;
    const hashes = await hashNames(api.dependencies, database, workspaceId, [stored]);
    await changeOptedOutNumbers(database, workspaceId, { hashes, category: 'ALL', allows: false });
    const found = await findOptedOut(api.dependencies, database, workspaceId, [digits, '4915112345678']);
    expect([...found]).toEqual([[digits, 'none']]);
  });

  it('is created once by requests at the same time', async () => {
    const workspace = await api.seedWorkspace();
    const forms = [given, ...formsOf(digits).map((form) => `+${form}`)];
    const answers = await Promise.all([...forms, ...forms].map((form) => create(workspace, form)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(answers.length - 1);
    expect(await contactsOf(workspace)).toHaveLength(1);
  });
});

it('an opt-out of one of two contacts of a person counts for the other in an import', async () => {
  const workspace = await api.seedWorkspace();
  const former = await store(workspace, '5213312345601');
  const present = await store(workspace, '523312345601');
  await api.dependencies.database.query(sql.type(nothing)`
    UPDATE contact SET subscribed = false WHERE id = ${former}`);
  const { recipients } = await prepare(workspace, ['+523312345601']);
  expect(recipients).toMatchObject([{ contact_id: present, outcome: 'UNSUBSCRIBED' }]);
  await write(workspace, '523312345601', 'START');
  expect(await contactsOf(workspace)).toMatchObject([{ subscribed: true }, { subscribed: true }]);
});

it('the erasure of one of two contacts of a person leaves the other opted out', async () => {
  const workspace = await api.seedWorkspace();
  const former = await store(workspace, '5213312345601');
  const present = await store(workspace, '523312345601');
  await api.dependencies.database.query(sql.type(nothing)`
    UPDATE contact SET subscribed = false WHERE id = ${former}`);
  const path = `/api/contacts/${former}?erase=true`;
  expect((await api.send('DELETE', path, { key: workspace.workspaceKey })).status).toBe(200);
  const { recipients } = await prepare(workspace, ['+523312345601']);
  expect(recipients).toMatchObject([{ contact_id: present, outcome: 'UNSUBSCRIBED' }]);
});

it('the erasure of both contacts of a person keeps the opt-out of either, in any order', async () => {
  const { database } = api.dependencies;
  const optedOut = async (first: 'former' | 'present', isStopErased: boolean) => {
    const workspace = await api.seedWorkspace();
    const ids = {
      former: await store(workspace, '5213312345601'),
      present: await store(workspace, '523312345601'),
    };
    const erase = (id: string) =>
      api.send('DELETE', `/api/contacts/${id}?erase=true`, { key: workspace.workspaceKey });
    if (isStopErased) {
      // As 1.0.0 left it, which knew no other forms.
      const hashes = await hashNames(api.dependencies, database, workspace.workspaceId, ['5213312345601']);
      const decision = { category: 'ALL', allows: false } as const;
      await changeOptedOutNumbers(database, workspace.workspaceId, { hashes, ...decision });
    } else
      await database.query(sql.type(nothing)`
        UPDATE contact SET subscribed = false, consent_at = now() WHERE id = ${ids[first]}`);
    const order = first === 'former' ? ids : { present: ids.present, former: ids.former };
    for (const id of Object.values(order)) expect((await erase(id)).status).toBe(200);
    const { recipients } = await prepare(workspace, ['+523312345601']);
    return recipients.map(({ outcome }) => outcome);
  };
  expect(await optedOut('former', false)).toEqual(['UNSUBSCRIBED']);
  expect(await optedOut('present', false)).toEqual(['UNSUBSCRIBED']);
  expect(await optedOut('present', true)).toEqual(['UNSUBSCRIBED']);
});

it('the erasure of a person ends both recipients of a campaign of 1.0.0', async () => {
  const workspace = await api.seedWorkspace();
  const id = await store(workspace, '523312345601');
  const { campaignId } = await prepare(workspace, ['+523312345601', '+4915112345678']);
  await api.dependencies.database.query(sql.type(nothing)`
    UPDATE recipient SET phone_number = '5213312345601' WHERE campaign_id = ${campaignId} AND phone_number = '4915112345678'`);
  const path = `/api/contacts/${id}?erase=true`;
  expect((await api.send('DELETE', path, { key: workspace.workspaceKey })).status).toBe(200);
  const counters = sql.fragment`SELECT pending, skipped FROM campaign_counter WHERE campaign_id = ${campaignId}`;
  expect(await rowsOf(api.dependencies.database, counters)).toEqual([{ pending: 0, skipped: 2 }]);
});

it('a deleted contact comes back under the number that is given', async () => {
  const workspace = await api.seedWorkspace();
  const id = await store(workspace, '5213312345601');
  await api.send('DELETE', `/api/contacts/${id}`, { key: workspace.workspaceKey });
  const restored = await create(workspace, '+52 33 1234 5601');
  expect(restored.body.data).toMatchObject({ id, phoneNumber: '3312345601', countryCode: '52' });
});

it('a contact does not take a number that another has in another form', async () => {
  const workspace = await api.seedWorkspace();
  await store(workspace, '5213312345601');
  const other = await store(workspace, '4915112345678');
  const changed = await api.send('PUT', `/api/contacts/${other}`, {
    key: workspace.workspaceKey,
    body: { phoneNumber: '+52 33 1234 5601' },
  });
  expect(changed.status).toBe(409);
});
