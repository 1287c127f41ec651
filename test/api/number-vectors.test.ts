/** Numbers as people and tools write them, through every input of the API: an import, contacts, searches, single sends, replies. */
import { parse } from 'csv-parse/sync';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runImport } from '../../src/commands/contacts/run-import.ts';
import { formsOf, identityOf } from '../../src/domain/number-rules.ts';
import { normalisePhoneNumber } from '../../src/domain/phone-number.ts';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aTemplate } from '../support/audience-campaign.ts';
import { createApplier, deliver, messagesCallback, rowsOf } from '../support/callback-fixtures.ts';
import { accept, createFakeProvider } from '../support/fake-provider.ts';

interface Vector {
  readonly spelling: string;
  readonly country: string;
  readonly address: string;
}

const vectors: readonly Vector[] = parse(readFileSync('test/domain/samples/phone-numbers.csv'), {
  columns: true,
});
const readable = vectors.filter(({ address }) => address !== '');
/** Need no country beside them. */
const whole = readable.filter(({ country }) => country === '');

let api: TestApi;
let workspace: SeededWorkspace;
/** The contacts of the import, by identity. */
const ids = new Map<string, string>();

const codeOf = (address: string) => normalisePhoneNumber(`+${address}`)?.countryCode ?? '';
const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

const contactsOf = () =>
  rowsOf<{ readonly id: string; readonly phone_number: string }>(
    api.dependencies.database,
    sql.fragment`SELECT id, phone_number FROM contact WHERE workspace_id = ${workspace.workspaceId}`,
  );

beforeAll(async () => {
  api = await startTestApi({ dependencies: { provider: createFakeProvider(accept) } });
  Object.assign(api.dependencies.orchestrator, { startContactImport: async () => undefined });
  workspace = await api.seedWorkspace();
  const csv = [
    'phone,country',
    ...vectors.map(({ spelling, country }) => `${quoted(spelling)},${quoted(country)}`),
  ];
  const form = new FormData();
  form.set('file', new Blob([csv.join('\n')], { type: 'text/csv' }), 'people.csv');
  form.set('mapping', JSON.stringify({ phone_column: 0, country_code_column: 1 }));
  const answer = await fetch(`${api.baseUrl}/api/contacts/imports`, {
    method: 'POST',
    headers: { 'X-API-Key': workspace.workspaceKey },
    body: form,
  });
  const { data } = (await answer.json()) as { readonly data: { readonly id: string } };
  await runImport(api.dependencies, data.id, { signal: new AbortController().signal, draining: () => false });
  for (const { id, phone_number: digits } of await contactsOf()) ids.set(identityOf(digits), id);
});
afterAll(() => api.close());

const idOf = (address: string) => ids.get(identityOf(address));

it('an import makes one contact of each person, with the first number that is given', async () => {
  const first = new Map<string, string>();
  for (const { address } of readable)
    if (!first.has(identityOf(address))) first.set(identityOf(address), address);
  const stored = (await contactsOf()).map(({ phone_number: digits }) => digits);
  expect(stored.toSorted()).toEqual([...first.values()].toSorted());
});

it('a contact cannot be created again in any spelling, nor for what is no number', async () => {
  const key = workspace.workspaceKey;
  const created = vectors
    .filter(({ country, spelling }) => country === '' && spelling !== '')
    .map(async ({ spelling, address }) => {
      const { status } = await api.send('POST', '/api/contacts', { key, body: { phoneNumber: spelling } });
      return [spelling, status, address === '' ? 400 : 409] as const;
    });
  for (const [spelling, status, expected] of await Promise.all(created))
    expect([spelling, status]).toEqual([spelling, expected]);
  expect(await contactsOf()).toHaveLength(ids.size);
});

it('a search finds the person by any spelling', async () => {
  const searched = whole.map(async ({ spelling, address }) => {
    const { body } = await api.send('GET', `/api/contacts?search=${encodeURIComponent(spelling)}`, {
      key: workspace.workspaceKey,
    });
    return [spelling, body.data[0]?.id, idOf(address)] as const;
  });
  for (const [spelling, found, expected] of await Promise.all(searched))
    expect([spelling, found]).toEqual([spelling, expected]);
});

it('a single send takes any spelling', async () => {
  const { workspaceId, channelId, businessAccountId, channelKey } = workspace;
  const { database } = api.dependencies;
  const templateId = await aTemplate(database, { workspaceId, businessAccountId });
  await database.query(
    sql.type(nothing)`UPDATE wallet SET balance = 1000000000 WHERE channel_id = ${channelId}`,
  );
  await database.query(
    sql.type(nothing)`UPDATE channel SET messages_per_second = 1000 WHERE id = ${channelId}`,
  );
  const sent = whole.map(async ({ spelling, address }) => {
    const { status, body } = await api.send('POST', '/api/templates/external/message/send', {
      key: channelKey,
      body: {
        templateId,
        recipientPhoneNumber: spelling,
        countryCode: `+${codeOf(address)}`,
        variables: [],
      },
    });
    return [spelling, status, body.data?.recipientPhoneNumber, address] as const;
  });
  for (const [spelling, status, to, address] of await Promise.all(sent))
    expect([spelling, status, to]).toEqual([spelling, 200, address]);
});

it('a reply under any form of the number comes from the person', async () => {
  const forms = [...ids.keys()].flatMap(formsOf);
  const messages = forms.map((from) => ({
    id: `wamid.${randomUUID()}`,
    from,
    timestamp: '1749416383',
    type: 'text',
    text: { body: 'Hello' },
  }));
  const applier = createApplier(api.dependencies.database, { secrets: api.dependencies.secrets });
  await deliver(applier, [messagesCallback(workspace.phoneNumberId, { messages })]);
  expect(await contactsOf()).toHaveLength(ids.size);
  const written = await rowsOf<{ readonly contact_id: string; readonly count: number }>(
    api.dependencies.database,
    sql.fragment`SELECT contact_id, count(*)::int4 AS count FROM message
      WHERE workspace_id = ${workspace.workspaceId} AND direction = 'inbound' GROUP BY contact_id`,
  );
  const expected = [...ids].map(([identity, id]) => [id, formsOf(identity).length]);
  expect(new Map(written.map((one) => [one.contact_id, one.count]))).toEqual(
    new Map(expected as [string, number][]),
  );
});
