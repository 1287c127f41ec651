/** The country of numbers that name none: of the request, of the workspace, or none. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aTemplate } from '../support/audience-campaign.ts';

const path = '/api/workspace/default-country';
let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  templateId = await aTemplate(api.database.pool, workspace);
});
afterAll(() => api.close());

const put = (body: object, key = workspace.operatorKey) => api.send('PUT', path, { key, body });
const post = (to: string, body: object) => api.send('POST', to, { key: workspace.channelKey, body });
const campaign = (audience: object) => ({
  name: 'Spring offer',
  template_id: templateId,
  send_type: 'IMMEDIATE',
  ...audience,
});
const check = async (audience: object) => (await post('/api/campaigns/check', campaign(audience))).body.data;
const quick = (numbers: readonly string[], more: object = {}) => ({
  contact_selection_type: 'quick_contacts',
  quick_contacts: numbers,
  ...more,
});

it('is read by any key, and set and removed by operators, with an entry in the audit', async () => {
  const get = async () => (await api.send('GET', path, { key: workspace.channelKey })).body.data;
  expect(await get()).toEqual({ default_country: null });
  expect((await put({ default_country: 'DE' }, workspace.workspaceKey)).status).toBe(401);
  const saved = await put({ default_country: 'de' });
  expect([saved.status, saved.body.data]).toEqual([200, { default_country: 'DE' }]);
  expect(await get()).toEqual({ default_country: 'DE' });
  const refused = await put({ default_country: 'XX' });
  expect([refused.status, refused.body.error]).toEqual([
    400,
    [
      {
        field: 'default_country',
        message: 'default_country must be a country by ISO 3166 alpha-2, such as DE',
      },
    ],
  ]);
  expect((await put({})).status).toBe(400);
  expect((await put({ default_country: null })).status).toBe(200);
  expect(await get()).toEqual({ default_country: null });
  const audit = (await api.send('GET', '/api/audit?object=workspace', { key: workspace.channelKey })).body;
  const actions = audit.data.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['workspace.default-country', 'workspace.default-country']);
});

it('is that of the request before that of the workspace, for quick contacts', async () => {
  const local = quick(['01512 3920101']);
  expect((await check(local)).problems).toEqual([expect.objectContaining({ field: 'quick_contacts.0' })]);
  expect(await check(quick(['01512 3920101'], { default_country: 'DE' }))).toMatchObject({
    problems: [],
    total_contacts: 1,
  });
  await put({ default_country: 'FR' });
  expect((await check(local)).problems).toHaveLength(1);
  await put({ default_country: 'DE' });
  const created = await post('/api/campaigns/auto-trigger', campaign(local));
  expect([created.status, created.text]).toEqual([201, created.text]);
  const foreign = quick(['9981234567', '01512 3920101'], { default_country: 'RU' });
  expect((await check(foreign)).problems).toEqual([expect.objectContaining({ field: 'quick_contacts.1' })]);
  await put({ default_country: null });
});

it('comes after the cell of the country and after a plus, in a CSV', async () => {
  const csv = {
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: [
      'phone,country',
      '015123920101,',
      '0612345678,FR',
      '+919876543210,',
      '919876543211,',
      '015123920102,DE',
    ].join('\n'),
  };
  const mapping = { phone_column: 0, country_code_column: 1 };
  const without = await check({ ...csv, csv_mapping: mapping });
  expect(without).toMatchObject({ total_contacts: 4, skipped_reasons: { INVALID_PHONE: 1 } });
  const own = await check({ ...csv, csv_mapping: { ...mapping, default_country: 'DE' } });
  expect(own).toMatchObject({ total_contacts: 5, skipped_reasons: {} });
  await put({ default_country: 'DE' });
  expect((await check({ ...csv, csv_mapping: mapping })).total_contacts).toBe(5);
  const other = await check({ ...csv, csv_mapping: { ...mapping, default_country: 'IN' } });
  expect(other).toMatchObject({ total_contacts: 4, skipped_reasons: { INVALID_PHONE: 1 } });
  await put({ default_country: null });
});

it('guesses the columns of a preview, and reads its rows', async () => {
  const form = new FormData();
  form.set('file', new Blob(['Order,Mobile\n015123,015123920101\n015124,015123920102\n']), 'people.csv');
  const uploaded = await fetch(`${api.baseUrl}/api/campaigns/csv-files`, {
    method: 'POST',
    headers: { 'X-API-Key': workspace.channelKey },
    body: form,
  });
  const { data } = (await uploaded.json()) as { data: { csv_file_key: string } };
  const preview = async (body: object) =>
    (await post(`/api/campaigns/csv-files/${data.csv_file_key}/preview`, body)).body.data;
  await put({ default_country: 'DE' });
  const guessed = await preview({});
  expect(guessed).toMatchObject({ mapping: { phone_column: 1 }, reasons: {} });
  expect(guessed.mapping).not.toHaveProperty('default_country');
  const csv_mapping = { phone_column: 1, country_code_column: 1, default_country: 'IN' };
  expect(await preview({ csv_mapping })).toMatchObject({
    mapping: csv_mapping,
    reasons: { INVALID_PHONE: 2 },
  });
  await put({ default_country: null });
});

it('reads the numbers of contacts', async () => {
  expect((await post('/api/contacts', { phoneNumber: '015123920103' })).status).toBe(400);
  await put({ default_country: 'DE' });
  const { body } = await post('/api/contacts', { phoneNumber: '015123920103' });
  expect(body.data).toMatchObject({ countryCode: '49', phoneNumber: '15123920103' });
  const changed = await api.send('PUT', `/api/contacts/${body.data.id}`, {
    key: workspace.channelKey,
    body: { phoneNumber: '+919876543219' },
  });
  expect(changed.body.data).toMatchObject({ countryCode: '91', phoneNumber: '9876543219' });
  const back = await api.send('PUT', `/api/contacts/${body.data.id}`, {
    key: workspace.channelKey,
    body: { phoneNumber: '015123920104' },
  });
  expect(back.body.data).toMatchObject({ countryCode: '49', phoneNumber: '15123920104' });
  await put({ default_country: null });
});

it('is proposed for digits that are probably national numbers of one country', async () => {
  const numbers = [1, 2, 3, 4, 5].map((at) => `987654321${at}`);
  const mapping = { phone_column: 0, country_code_column: 0 };
  const csv = { contact_selection_type: 'csv_contacts', csv_contacts_string: `phone\n${numbers.join('\n')}` };
  const meant = { field: 'csv_mapping.default_country', message: expect.stringContaining('India') };
  expect((await check({ ...csv, csv_mapping: mapping })).warnings).toEqual([meant]);
  const named = await check({ ...csv, csv_mapping: { ...mapping, default_country: 'IN' } });
  expect(named).toMatchObject({ warnings: [], total_contacts: 5 });
  const typed = await check(quick(numbers));
  expect(typed.problems).toHaveLength(5);
  expect(typed.warnings).toEqual([{ ...meant, field: 'default_country' }]);
});

it('warns of numbers in ranges that are not known to be in use, and counts them by country', async () => {
  const numbers = ['+94791234567', '+94791234568', '+4915123920101'];
  expect(await check(quick(numbers))).toMatchObject({
    problems: [],
    total_contacts: 3,
    unverified_numbers: { LK: 2 },
    warnings: [
      {
        field: 'quick_contacts',
        message: 'Numbers in ranges that are not known to be in use are sent to: Sri Lanka 2',
      },
    ],
  });
});
