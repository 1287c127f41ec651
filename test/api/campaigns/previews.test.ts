/** Previews of a CSV and of a template, and dry runs of a campaign: nothing is created. */
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;
const csv = [
  'Kunde;Handy;Land;Stadt',
  'Ada Lovelace;0151 12345678;DE;Bonn',
  'Grace;0151 12345678;DE;Köln',
  'Joan;not a number;DE;',
  'Ida;0151 12345679;DE;',
  'Una;0151 12345680;DE;Ulm',
].join('\n');

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  templateId = '0197c1f2-5d10-7c11-8a11-0c5f1b2a4e77';
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${templateId}, ${workspace.workspaceId}, ${workspace.businessAccountId}, '1', 'hello', 'en_US', 'UTILITY',
      'APPROVED', '[{"type":"BODY","text":"Hi {{1}} of {{2}}"}]')`);
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source, subscribed)
    VALUES (${workspace.workspaceId}, '4915112345680', '49', 'DE', 'manual', false)`);
});
afterAll(() => api.close());

const send = (path: string, body: object) => api.send('POST', path, { key: workspace.channelKey, body });
async function upload(text: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text]), 'people.csv');
  const response = await fetch(`${api.baseUrl}/api/campaigns/csv-files`, {
    method: 'POST',
    headers: { 'X-API-Key': workspace.channelKey },
    body: form,
  });
  return ((await response.json()) as { data: { csv_file_key: string } }).data.csv_file_key;
}

const variableMapping = { body: { '1': 'name_column', '2': 'Stadt' } };

it('shows a CSV as a campaign would read it', async () => {
  const key = await upload(csv);
  const { status, body } = await send(`/api/campaigns/csv-files/${key}/preview`, {
    template_id: templateId,
    variable_mapping: variableMapping,
  });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    delimiter: ';',
    headers: ['Kunde', 'Handy', 'Land', 'Stadt'],
    mapping: { phone_column: 1, country_code_column: 2, name_column: 0, custom_field_mapping: { Stadt: 3 } },
    reasons: { DUPLICATE: 1, INVALID_PHONE: 1, MISSING_VARIABLE: 1, UNSUBSCRIBED: 1 },
    rows_read: 5,
    is_whole: true,
    problems: [],
  });
  expect(body.data.rows[0]).toMatchObject({
    line: 2,
    phone_number: '4915112345678',
    reason: null,
    message: { body: 'Hi Ada Lovelace of Bonn' },
  });
  expect(body.data.rows[3]).toMatchObject({
    reason: 'MISSING_VARIABLE',
    reason_detail: 'body.2',
    message: null,
  });
});

it('counts people as skipped of whom a later row says that they opted out', async () => {
  const text = 'Handy;Opt-out\n0151 12345690;\n0151 12345691;\n+49 (0)151 12345690;ja\n';
  const csvMapping = { phone_column: 0, country_code_column: 0, default_country: 'DE', consent: 1 };
  const preview = await send(`/api/campaigns/csv-files/${await upload(text)}/preview`, {
    csv_mapping: csvMapping,
  });
  expect(preview.body.data).toMatchObject({ reasons: { DUPLICATE: 1, UNSUBSCRIBED: 1 }, rows_read: 3 });
  expect(preview.body.data.rows[0]).toMatchObject({ line: 2, reason: 'UNSUBSCRIBED' });
});

it('reports why the mapping does not fit the template, and rejects a column that does not exist', async () => {
  const path = `/api/campaigns/csv-files/${await upload(csv)}/preview`;
  const without = await send(path, { template_id: templateId });
  expect(without.body.data.problems.map(({ field }: { field: string }) => field)).toEqual([
    'variable_mapping.body.1',
    'variable_mapping.body.2',
  ]);
  expect(without.body.data.rows[0].message.body).toBe('Hi {{1}} of {{2}}');
  const outside = await send(path, { csv_mapping: { phone_column: 9, country_code_column: 0 } });
  expect(outside.status).toBe(400);
});

it('checks a whole campaign and creates nothing', async () => {
  const count = async () =>
    (await api.send('GET', '/api/contacts', { key: workspace.channelKey })).body.pagination.total;
  const before = await count();
  const { body } = await send('/api/campaigns/check', {
    name: 'Tried',
    template_id: templateId,
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: csv,
    csv_mapping: {
      phone_column: 1,
      country_code_column: 2,
      name_column: 0,
      custom_field_mapping: { city: 3 },
    },
    variable_mapping: {
      body: { '1': 'name_column', '2': 'city' },
      default_values: { body: { '2': 'here' } },
    },
    send_type: 'IMMEDIATE',
  });
  expect(body.data).toEqual({
    problems: [],
    warnings: [],
    total_contacts: 2,
    skipped_reasons: { DUPLICATE: 1, INVALID_PHONE: 1, UNSUBSCRIBED: 1 },
    unverified_numbers: {},
    is_estimate: false,
    cost: '0.11',
    available: '0',
    currency: 'USD',
    duration_seconds: 1,
    begins_at: expect.any(String),
    ends_at: expect.any(String),
  });
  expect(await count()).toBe(before);
  expect((await api.send('GET', '/api/campaigns', { key: workspace.channelKey })).body.data).toEqual([]);
});

it('counts numbers to which the provider delivers no marketing', async () => {
  const numbers = ['+14155552671', '+12025550123', '+14165550123', '+17875550123', '+4915112345678'];
  const check = async (category: string) => {
    await api.database.pool.query(sql.type(nothing)`
      UPDATE template SET category = ${category} WHERE id = ${templateId}`);
    const { body } = await send('/api/campaigns/check', {
      name: 'America',
      template_id: templateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: numbers.map((number) => `${number},a,b`),
      send_type: 'IMMEDIATE',
    });
    return body.data.warnings;
  };
  expect(await check('MARKETING')).toEqual([
    {
      field: 'template_id',
      message: expect.stringMatching(/^2 of the numbers .* 131049\. .* costs nothing$/),
    },
  ]);
  expect(await check('UTILITY')).toEqual([]);
});

it('reports the same problems as a creation', async () => {
  const body = {
    name: 'Tried',
    template_id: templateId,
    contact_selection_type: 'all_contacts',
    send_type: 'IMMEDIATE',
  };
  const checked = await send('/api/campaigns/check', body);
  expect(checked.body.data.problems).toEqual((await send('/api/campaigns/auto-trigger', body)).body.error);
  const unknown = await send('/api/campaigns/check', {
    ...body,
    template_id: '0197c1f2-5d10-7c11-8a11-0c5f1b2a4e78',
  });
  expect(unknown.body.data.problems).toEqual([{ field: 'template_id', message: 'Template not found' }]);
});

it('shows a template filled from a contact, and the placeholders of missing values', async () => {
  const contact = await send('/api/contacts', { phoneNumber: '+4915112345699', firstName: 'Ada' });
  const mapping = { variable_mapping: { body: { '1': 'firstName', '2': 'lastName' } } };
  const path = `/api/templates/${templateId}/preview`;
  const filled = await send(path, { ...mapping, contact_id: contact.body.data.id });
  expect(filled.body.data).toMatchObject({ message: { body: 'Hi Ada of {{2}}' }, problems: [] });
  expect((await send(path, {})).body.data.problems).toHaveLength(2);
  const { body } = await api.send('GET', `/api/templates/${templateId}`, { key: workspace.channelKey });
  expect(body.data).toMatchObject({ id: templateId, quality: null, rejectedReason: null });
});

it('lists channels with their status and current rate', async () => {
  const { body } = await api.send('GET', '/api/channels', { key: workspace.workspaceKey });
  expect(body.data).toMatchObject([
    {
      id: workspace.channelId,
      status: 'active',
      messages_per_second: 80,
      rate_now: 80,
      running_campaigns: 0,
    },
  ]);
});

it('warns of a text that resembles a field, and counts the skipped rows by reason', async () => {
  const campaign = {
    name: 'Nearly',
    template_id: templateId,
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: 'Name,Mobile,City\nAda,+4915112345678,Bonn\nGrace,12ab,Ulm\n',
    csv_mapping: {
      phone_column: 1,
      country_code_column: 1,
      name_column: 0,
      custom_field_mapping: { City: 2 },
    },
    variable_mapping: { body: { '1': '{{name_column}}', '2': '{{city}}' } },
    send_type: 'IMMEDIATE',
  };
  const { body } = await send('/api/campaigns/check', campaign);
  expect(body.data).toMatchObject({
    problems: [],
    warnings: [
      {
        field: 'variable_mapping.body.2',
        message: expect.stringContaining(
          'variable_mapping.body.2 is sent as it stands: {{city}} names no field',
        ),
      },
    ],
    total_contacts: 1,
    skipped_reasons: { INVALID_PHONE: 1 },
  });
  const nobody = { ...campaign, csv_contacts_string: 'Name,Mobile,City\nGrace,12ab,Ulm\n' };
  expect((await send('/api/campaigns/check', nobody)).body.data.problems).toEqual([
    {
      field: 'contact_selection_type',
      message: 'The audience holds nobody to send to: its only row was skipped: 1 INVALID_PHONE',
    },
  ]);
});

it('shows the cells of a row that is skipped, and the number as it was written', async () => {
  const key = await upload('Name,Mobile\nAda,+4915112345678\nGrace,12ab\n');
  const { body } = await send(`/api/campaigns/csv-files/${key}/preview`, {
    csv_mapping: { phone_column: 1, country_code_column: 1 },
  });
  expect(body.data.rows[1]).toMatchObject({
    cells: ['Grace', '12ab'],
    reason: 'INVALID_PHONE',
    reason_detail: '12ab: it has letters, and a text with letters is no WhatsApp number',
  });
  expect(body.data.skipped_rows).toEqual([]);
  const asked = await send(`/api/campaigns/csv-files/${key}/preview`, {
    csv_mapping: { phone_column: 1, country_code_column: 1 },
    with_skipped_rows: true,
  });
  expect(asked.body.data.skipped_rows).toEqual([
    {
      line: 3,
      phone_number: null,
      reason: 'INVALID_PHONE',
      reason_detail: '12ab: it has letters, and a text with letters is no WhatsApp number',
    },
  ]);
});

it('warns of a file without a line of names', async () => {
  const warningsOf = async (text: string) =>
    (await send(`/api/campaigns/csv-files/${await upload(text)}/preview`, {})).body.data.warnings;
  expect(await warningsOf('+4915112345678,Ada\n+4915112345679,Ben\n')).toEqual([
    {
      field: 'csv_mapping.phone_column',
      message:
        'Line 1 is read as the names of the columns, but holds a phone number: if it is a person, write a line of names above it',
    },
  ]);
  expect(await warningsOf('phone,name\n+4915112345678,Ada\n')).toEqual([]);
});

it('warns of a time more than a year ahead, which a creation accepts', async () => {
  const year = new Date().getUTCFullYear();
  const body = {
    name: 'Far',
    template_id: templateId,
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915112345678,Ada,Bonn'],
    send_type: 'SCHEDULED',
  };
  const check = async (scheduledAt: string) =>
    (await send('/api/campaigns/check', { ...body, scheduled_at: scheduledAt })).body.data.warnings;
  expect(await check(`${year + 2}-01-01T00:00:00Z`)).toEqual([
    { field: 'scheduled_at', message: 'scheduled_at is more than a year ahead: check the year' },
  ]);
  expect(await check(new Date(Date.now() + 86_400_000).toISOString())).toEqual([]);
  const created = await send('/api/campaigns/auto-trigger', {
    ...body,
    scheduled_at: '2200-01-01T00:00:00Z',
  });
  expect([created.status, created.text]).toEqual([201, created.text]);
});
