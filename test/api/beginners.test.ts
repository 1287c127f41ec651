/** Common mistakes of beginners: every error message says how to fix it. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;
let pendingId: string;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  [templateId, pendingId] = [await seedTemplate('APPROVED'), await seedTemplate('PENDING')];
});
afterAll(() => api.close());

async function seedTemplate(status: string): Promise<string> {
  const id = randomUUID();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${id}, ${workspace.workspaceId}, ${workspace.businessAccountId}, ${id}, 'hello', 'en_US', 'UTILITY',
      ${status}, '[{"type":"BODY","text":"Hi {{1}}, welcome."}]')`);
  return id;
}

describe('a campaign is refused', () => {
  const csv = {
    contact_selection_type: 'csv_contacts',
    quick_contacts: undefined,
    csv_contacts_string: 'phone,country\n15112345678,49\n',
    csv_mapping: { phone_column: 0, country_code_column: 1 },
    variable_mapping: { body: { '1': 'Ada' } },
  };
  const mistakes: readonly [mistake: string, body: object, field: string, says: string][] = [
    [
      'a national number',
      { quick_contacts: ['015112345678,Ada'] },
      'quick_contacts.0',
      'quick_contacts.0 must be in international form, such as +4915112345678',
    ],
    [
      'no value for a variable',
      { quick_contacts: ['+4915112345678'] },
      'variable_mapping.body.1',
      'variable_mapping.body.1 is required: a contact field such as firstName, a text, or a value behind each number of quick_contacts',
    ],
    [
      'no value for a variable, with a CSV',
      { ...csv, variable_mapping: {} },
      'variable_mapping.body.1',
      'variable_mapping.body.1 is required: a column such as name_column, or a text',
    ],
    [
      'too many values',
      { quick_contacts: ['+4915112345678,Ada,17'] },
      'quick_contacts.0',
      "quick_contacts.0 has 2 values, but the template's body has 1 variables: leave out the rest",
    ],
    [
      'names of columns',
      { ...csv, csv_mapping: { phone_column: 'phone', country_code_column: 1 } },
      'csv_mapping.phone_column',
      'csv_mapping.phone_column must be the number of a column, counted from 0',
    ],
    [
      'a column that is not there',
      { ...csv, csv_mapping: { phone_column: 5, country_code_column: 1 } },
      'csv_mapping.phone_column',
      'csv_mapping.phone_column is 5, but the last column of the CSV is 1',
    ],
    [
      'an unknown audience',
      { contact_selection_type: 'quick' },
      'contact_selection_type',
      'contact_selection_type must be one of all_contacts, segmented, csv_contacts, quick_contacts, failed_contacts',
    ],
    [
      'a time beside IMMEDIATE',
      { scheduled_at: '2027-01-01T00:00:00Z' },
      'scheduled_at',
      'scheduled_at is only for SCHEDULED campaigns',
    ],
    [
      'a time without a zone',
      { send_type: 'SCHEDULED', scheduled_at: '2027-01-01T00:00:00' },
      'scheduled_at',
      'scheduled_at must be an ISO 8601 date-time with a time zone, such as 2026-12-24T18:00:00Z',
    ],
    [
      'a channel',
      { channel_id: randomUUID() },
      'channel_id',
      'channel_id must not be sent: the API key of a channel supplies it',
    ],
    [
      'no column of countries',
      { ...csv, csv_mapping: { phone_column: 0 } },
      'csv_mapping.country_code_column',
      'csv_mapping.country_code_column is required: the column of phones again if they begin with +',
    ],
    [
      'no template',
      { template_id: undefined },
      'template_id',
      'template_id is required: one of GET /api/templates?status=APPROVED',
    ],
    [
      'no send_type',
      { send_type: undefined },
      'send_type',
      'send_type is required: one of IMMEDIATE, SCHEDULED',
    ],
    [
      'no time',
      { send_type: 'SCHEDULED' },
      'scheduled_at',
      'scheduled_at is required beside SCHEDULED, such as 2026-12-24T18:00:00Z',
    ],
    [
      'the name of a template',
      { template_id: 'hello' },
      'template_id',
      'template_id must be a UUID: one of GET /api/templates?status=APPROVED',
    ],
  ];
  const create = (changes: object, key = workspace.channelKey) =>
    api.send('POST', '/api/campaigns/auto-trigger', {
      key,
      body: {
        name: 'First',
        template_id: templateId,
        contact_selection_type: 'quick_contacts',
        quick_contacts: ['+4915112345678,Ada'],
        send_type: 'IMMEDIATE',
        ...changes,
      },
    });

  it.each(mistakes)('for %s', async (_, body, field, message) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ message, error: [{ field, message }] });
  });

  it('not for misspelt fields: the dry run reports them as ignored', async () => {
    const body = {
      name: 'First',
      template_id: templateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678,Ada'],
      send_type: 'IMMEDIATE',
      descripton: 'for spring',
      constructor: 1,
      variable_mapping: { body: { '1': 'firstName' }, default_value: { body: { '1': 'there' } } },
    };
    const answer = await api.send('POST', '/api/campaigns/check', { key: workspace.channelKey, body });
    expect(answer.body.data).toMatchObject({
      problems: [],
      total_contacts: 1,
      warnings: [
        { field: 'descripton', message: 'descripton is ignored: unknown' },
        { field: 'constructor', message: 'constructor is ignored: unknown' },
        {
          field: 'variable_mapping.default_value',
          message: 'variable_mapping.default_value is ignored: unknown',
        },
      ],
    });
  });

  it('for a template that is not approved', async () => {
    const { body } = await create({ template_id: pendingId });
    expect(body.message).toBe('Template is not approved');
    expect(body.error).toEqual([
      {
        field: 'template_id',
        message: 'The template is PENDING: choose one of GET /api/templates?status=APPROVED',
      },
    ]);
  });

  it('for a key of the whole workspace', async () => {
    const { body } = await create({}, workspace.workspaceKey);
    expect(body.message).toBe('Either channel_id or phone_number_id is required');
    expect(body.error).toEqual([
      {
        field: 'X-API-Key',
        message: 'Send with an API key of a channel: this one is of the whole workspace',
      },
    ]);
  });
});

describe('another request is refused', () => {
  const requests: readonly [mistake: string, method: string, path: string, body: object, says: string][] = [
    [
      'a message to a number of another country than its code',
      'POST',
      '/api/templates/external/message/send',
      { recipientPhoneNumber: '+4915112345678', countryCode: '+43' },
      'recipientPhoneNumber must begin with the digits of countryCode',
    ],
    [
      'a country code without a plus',
      'POST',
      '/api/templates/external/message/send',
      { recipientPhoneNumber: '4915112345678', countryCode: '49' },
      'countryCode must be a country code with its plus sign, such as +49',
    ],
    [
      'a contact with a national number',
      'POST',
      '/api/contacts',
      { phoneNumber: '015112345678' },
      'phoneNumber must be in international form, such as +4915112345678',
    ],
    [
      'a contact of no country',
      'POST',
      '/api/contacts',
      { phoneNumber: '15112345678', countryCode: '999' },
      'countryCode must be a calling code, such as 49',
    ],
    [
      'a webhook without a scheme',
      'POST',
      '/api/external-webhooks',
      { title: 'Shop', url: 'example.com', events: ['sent'] },
      'url must be a valid URL, such as https://example.com/path',
    ],
    [
      'a path that takes another method',
      'POST',
      '/api/templates',
      {},
      'Method not allowed: this path takes GET, HEAD; POST is for /api/templates/sync, /api/templates/external/message/send',
    ],
    [
      'a creation at the path of the list',
      'POST',
      '/api/campaigns',
      {},
      'Method not allowed: this path takes GET, HEAD; POST is for /api/campaigns/auto-trigger, /api/campaigns/check, /api/campaigns/csv-files',
    ],
    [
      'a method that the path does not take',
      'DELETE',
      '/api/campaigns',
      {},
      'Method not allowed: this path takes GET, HEAD',
    ],
    [
      'a condition that its field does not take',
      'POST',
      '/api/segments',
      { name: 'VIP', match: 'all', conditions: [{ field: 'subscribed', operator: 'gt', value: 1 }] },
      'conditions.0: the field subscribed takes eq, neq, exists, not_exists, not gt',
    ],
    ['a path that is not there', 'POST', '/campaigns', {}, 'Route not found: /docs lists every one'],
  ];
  it.each(requests)('for %s', async (_, method, path, fields, message) => {
    const body = path.endsWith('/send') ? { templateId, variables: ['Ada'], ...fields } : fields;
    const answer = await api.send(method, path, { key: workspace.channelKey, body });
    expect(answer.body.message).toBe(message);
  });

  it('for a body that is not JSON, with the position of the error and without the body’s text', async () => {
    const { status, body } = await api.send('POST', '/api/contacts', {
      key: workspace.channelKey,
      body: '{"phoneNumber": "+4915112345678",}',
    });
    expect([status, body.message]).toEqual([400, 'Request body is not valid JSON at position 33']);
  });

  it('for an Idempotency-Key of another body', async () => {
    const create = (name: string) =>
      api.send('POST', '/api/campaigns/auto-trigger', {
        key: workspace.channelKey,
        headers: { 'Idempotency-Key': 'beginners' },
        body: {
          name,
          template_id: templateId,
          contact_selection_type: 'quick_contacts',
          quick_contacts: ['+4915112345678,Ada'],
          send_type: 'IMMEDIATE',
        },
      });
    await create('First');
    const { status, body } = await create('Second');
    expect(status).toBe(422);
    expect(body.message).toBe(
      'This Idempotency-Key was used with another request body: send that one, or a new key',
    );
  });

  it('for an amount that is a number', async () => {
    const answer = await api.send('POST', '/api/wallet/recharge', {
      key: workspace.operatorKey,
      body: { channel_id: workspace.channelId, amount: 10 },
    });
    expect(answer.body.message).toBe('amount must be an amount in a string, such as "20.28"');
  });

  it('without a key, with the name of the header', async () => {
    const answer = await api.send('GET', '/api/tags');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toContain('X-API-Key');
  });
});
