/** Spec 4.1, field by field: the values that each one accepts, and the message for every other value. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveFeature } from '../../../src/records/workspaces/workspaces.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededChannel, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;
let segmentId: string;
let campaignId: string;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  templateId = await aTemplate(workspace);
  const segment = await api.send('POST', '/api/segments', {
    key: workspace.channelKey,
    body: { name: 'All', conditions: [{ field: 'subscribed', operator: 'eq', value: true }] },
  });
  segmentId = segment.body.data.id;
  campaignId = (await create({})).body.data.campaign.id;
});
afterAll(() => api.close());

async function aTemplate({
  workspaceId,
  businessAccountId,
}: SeededChannel & { readonly workspaceId: number }): Promise<string> {
  const id = randomUUID();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${id}, ${workspaceId}, ${businessAccountId}, ${id}, 'hello', 'en_US', 'UTILITY', 'APPROVED',
      '[{"type":"BODY","text":"Hi."}]')`);
  return id;
}

const create = (change: object, key = workspace.channelKey) =>
  api.send('POST', '/api/campaigns/auto-trigger', {
    key,
    body: {
      name: 'Spring offer',
      template_id: templateId,
      contact_selection_type: 'all_contacts',
      send_type: 'IMMEDIATE',
      ...change,
    },
  });

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const csvMapping = { phone_column: 0, country_code_column: 1 };
const csv = {
  contact_selection_type: 'csv_contacts',
  csv_contacts_string: 'phone,country,name,mail,city\n15112345678,49,Ada,ada@example.com,Bonn\n',
  csv_mapping: csvMapping,
};
const segmented = () => ({ contact_selection_type: 'segmented', segments: [segmentId] });
const condition = { field: 'firstName', operator: 'eq', value: 'Ada' };
const filtered = (filters: unknown) => ({ ...segmented(), contact_filters: filters });

describe('a campaign is created', () => {
  const taken: readonly [string, () => object][] = [
    ['a name of 255 characters', () => ({ name: '👋'.repeat(255) })],
    ['a description of 1000 characters', () => ({ description: 'x'.repeat(1000) })],
    ['no description', () => ({ description: null })],
    ['a template id in capitals', () => ({ template_id: templateId.toUpperCase() })],
    ['all contacts', () => ({ contact_selection_type: 'all_contacts' })],
    ['segments', segmented],
    ['segments and filters of every condition', () => filtered({ match: 'all', conditions: [condition] })],
    ['filters of any condition', () => filtered({ match: 'any', conditions: [condition, condition] })],
    [
      'a condition that needs no value',
      () => filtered({ match: 'all', conditions: [{ field: 'email', operator: 'exists' }] }),
    ],
    [
      'quick contacts with values after a comma, a pipe and a semicolon',
      () => ({
        contact_selection_type: 'quick_contacts',
        quick_contacts: ['+4915112345678', '+4915112345679,', '+4915112345680|', '+4915112345681;'],
      }),
    ],
    ['a CSV', () => csv],
    [
      'a CSV with every column mapped',
      () => ({
        ...csv,
        csv_mapping: { ...csvMapping, name_column: 2, email_column: 3, custom_field_mapping: { city: 4 } },
      }),
    ],
    [
      'a CSV with a custom field whose name has 255 characters',
      () => ({ ...csv, csv_mapping: { ...csvMapping, custom_field_mapping: { ['x'.repeat(255)]: 4 } } }),
    ],
    [
      'the failed recipients of a campaign',
      () => ({ contact_selection_type: 'failed_contacts', failed_campaign_id: campaignId }),
    ],
    [
      'the failed recipients of some reasons',
      () => ({
        contact_selection_type: 'failed_contacts',
        failed_campaign_id: campaignId,
        failed_reasons: ['PROVIDER_131026'],
      }),
    ],
    ['a time to come', () => ({ send_type: 'SCHEDULED', scheduled_at: inAnHour() })],
    ['a time far ahead', () => ({ send_type: 'SCHEDULED', scheduled_at: '2999-12-31T23:59:59Z' })],
    ['an empty variable_mapping', () => ({ variable_mapping: {} })],
  ];
  it.each(taken)('with %s', async (_, change) => {
    const answer = await create(change());
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data.campaign).toMatchObject({
      total_contacts: 0,
      preparation_status: 'PREPARING',
      is_auto_trigger: true,
    });
  });

  it('without a time when it is immediate', async () => {
    const answer = await create({ scheduled_at: null });
    expect(answer.body.data.campaign).toMatchObject({ status: 'DRAFT', scheduled_at: null });
  });

  it('with the time of a scheduled one in UTC', async () => {
    const at = new Date(Date.now() + 3_600_000);
    const answer = await create({
      send_type: 'SCHEDULED',
      scheduled_at: at.toISOString().replace('Z', '+00:00'),
    });
    expect(answer.body.data.campaign).toMatchObject({ status: 'SCHEDULED', scheduled_at: at.toISOString() });
  });
});

describe('a campaign is refused', () => {
  const refused: readonly [string, () => object, string, string][] = [
    ['a name that is a number', () => ({ name: 7 }), 'name', 'name must be'],
    [
      'a description of 1001 characters',
      () => ({ description: 'x'.repeat(1001) }),
      'description',
      'at most 1000',
    ],
    ['a description that is none', () => ({ description: {} }), 'description', 'description must be'],
    [
      'no template',
      () => ({ template_id: undefined }),
      'template_id',
      'template_id is required: one of GET /api/templates?status=APPROVED',
    ],
    ['a template id that is none', () => ({ template_id: 'hello' }), 'template_id', 'template_id must be'],
    [
      'no kind of audience',
      () => ({ contact_selection_type: undefined }),
      'contact_selection_type',
      'contact_selection_type is required: one of all_contacts, segmented, csv_contacts, quick_contacts, failed_contacts',
    ],
    [
      'an unknown kind of audience',
      () => ({ contact_selection_type: 'everybody' }),
      'contact_selection_type',
      'all_contacts',
    ],
    [
      'no send_type',
      () => ({ send_type: undefined }),
      'send_type',
      'send_type is required: one of IMMEDIATE, SCHEDULED',
    ],
    ['an unknown send_type', () => ({ send_type: 'LATER' }), 'send_type', 'IMMEDIATE'],
    [
      'no segments',
      () => ({ contact_selection_type: 'segmented' }),
      'segments',
      'at least one of GET /api/segments',
    ],
    [
      'an empty list of segments',
      () => ({ ...segmented(), segments: [] }),
      'segments',
      'at least one of GET /api/segments',
    ],
    [
      'a segment id that is none',
      () => ({ ...segmented(), segments: ['all'] }),
      'segments.0',
      'segments.0 must be',
    ],
    [
      'more than 100 segments',
      () => ({ ...segmented(), segments: Array.from({ length: 101 }, () => segmentId) }),
      'segments',
      'segments must hold at most 100 elements',
    ],
    [
      'more than 50 conditions',
      () => filtered({ match: 'all', conditions: Array.from({ length: 51 }, () => condition) }),
      'contact_filters.conditions',
      'contact_filters.conditions must hold at most 50 elements',
    ],
    [
      'filters of another match',
      () => filtered({ match: 'none', conditions: [condition] }),
      'contact_filters.match',
      'all',
    ],
    [
      'filters without conditions',
      () => filtered({ match: 'all' }),
      'contact_filters.conditions',
      'contact_filters.conditions is required',
    ],
    [
      'a condition without field',
      () => filtered({ match: 'all', conditions: [{ operator: 'eq', value: 1 }] }),
      'contact_filters.conditions.0.field',
      'required',
    ],
    [
      'a condition without operator',
      () => filtered({ match: 'all', conditions: [{ field: 'email', value: 1 }] }),
      'contact_filters.conditions.0.operator',
      'required',
    ],
    [
      'a condition of an unknown field',
      () => filtered({ match: 'all', conditions: [{ ...condition, field: 'shoeSize' }] }),
      'contact_filters.conditions.0.field',
      'field',
    ],
    [
      'a condition of an unknown operator',
      () => filtered({ match: 'all', conditions: [{ ...condition, operator: 'like' }] }),
      'contact_filters.conditions.0.operator',
      'operator',
    ],
    [
      'a condition without value',
      () => filtered({ match: 'all', conditions: [{ field: 'email', operator: 'eq' }] }),
      'contact_filters.conditions.0.value',
      'value',
    ],
    [
      'no quick contacts',
      () => ({ contact_selection_type: 'quick_contacts' }),
      'quick_contacts',
      'at least one phone number',
    ],
    [
      'no csv_mapping',
      () => ({ ...csv, csv_mapping: undefined }),
      'csv_mapping',
      'csv_mapping is required: the numbers of the columns',
    ],
    [
      'no phone_column',
      () => ({ ...csv, csv_mapping: { country_code_column: 1 } }),
      'csv_mapping.phone_column',
      'required',
    ],
    [
      'no country_code_column',
      () => ({ ...csv, csv_mapping: { phone_column: 0 } }),
      'csv_mapping.country_code_column',
      'required',
    ],
    [
      'a column below 0',
      () => ({ ...csv, csv_mapping: { ...csvMapping, name_column: -1 } }),
      'csv_mapping.name_column',
      'csv_mapping.name_column must be',
    ],
    [
      'a column that is no integer',
      () => ({ ...csv, csv_mapping: { ...csvMapping, email_column: 1.5 } }),
      'csv_mapping.email_column',
      'csv_mapping.email_column must be',
    ],
    [
      'a custom field without a column',
      () => ({ ...csv, csv_mapping: { ...csvMapping, custom_field_mapping: { city: 'e' } } }),
      'csv_mapping.custom_field_mapping.city',
      'must be',
    ],
    [
      'a custom field with a name of 256 characters',
      () => ({ ...csv, csv_mapping: { ...csvMapping, custom_field_mapping: { ['x'.repeat(256)]: 4 } } }),
      'csv_mapping.custom_field_mapping',
      'must have names of 1 to 255 characters',
    ],
    [
      'a custom field without a name',
      () => ({ ...csv, csv_mapping: { ...csvMapping, custom_field_mapping: { '': 4 } } }),
      'csv_mapping.custom_field_mapping',
      'must have names of 1 to 255 characters',
    ],
    [
      'a file that was not uploaded',
      () => ({ ...csv, csv_contacts_string: undefined, csv_file_key: 'nowhere' }),
      'csv_file_key',
      'names no file of POST /api/campaigns/csv-files',
    ],
    [
      'no failed campaign',
      () => ({ contact_selection_type: 'failed_contacts' }),
      'failed_campaign_id',
      'failed_campaign_id is required: one of GET /api/campaigns',
    ],
    [
      'a time beside IMMEDIATE',
      () => ({ scheduled_at: inAnHour() }),
      'scheduled_at',
      'scheduled_at is only for SCHEDULED campaigns',
    ],
    [
      'a time without a zone',
      () => ({ send_type: 'SCHEDULED', scheduled_at: '2027-01-01T10:00:00' }),
      'scheduled_at',
      'ISO 8601',
    ],
    [
      'a time on a day that does not exist',
      () => ({ send_type: 'SCHEDULED', scheduled_at: '2027-02-30T10:00:00Z' }),
      'scheduled_at',
      'ISO 8601',
    ],
    [
      'an offer for a template that has none',
      () => ({
        variable_mapping: {
          limited_time_offer: { expiration_time_ms: Date.now() + 3_600_000 },
        },
      }),
      'variable_mapping.limited_time_offer',
      'is not part of this template',
    ],
    [
      'a mapping that is a list',
      () => ({ variable_mapping: [] }),
      'variable_mapping',
      'variable_mapping must be',
    ],
  ];
  it.each(refused)('with %s', async (_, change, field, message) => {
    const answer = await create(change());
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
    expect(answer.body.error[0].message).toContain(message);
    expect(answer.body.message).toBe(answer.body.error[0].message);
  });

  it.each([
    ['numbers that are none', 'x'],
    ['values that the template has no place for', '+4915112345678,a,b,c,d'],
  ])('for a list of %s, the first hundred of which are named', async (_, entry) => {
    const answer = await create({
      contact_selection_type: 'quick_contacts',
      quick_contacts: Array.from({ length: 1_500 }, () => entry),
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toHaveLength(100);
  });

  it.each([
    ['wrong values of a mapping', { variable_mapping: { body: manyKeys(20_000, 1) } }],
    ['long names of columns that no file has', { variable_mapping: { body: manyKeys(20_000, null) } }],
    [
      'custom columns beyond two hundred',
      {
        contact_selection_type: 'csv_contacts',
        csv_contacts_string: 'a,b',
        csv_mapping: { phone_column: 0, country_code_column: 1, custom_field_mapping: manyKeys(20_000, 0) },
      },
    ],
  ])('for %s, in an answer of less than 64 kB', async (_, fields) => {
    const answer = await create(fields);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body).length).toBeLessThan(64 * 1_024);
  });

  it('by the first rule that fails, and all of them are named', async () => {
    const answer = await create({
      name: '',
      template_id: 'x',
      send_type: 'LATER',
      description: 7,
      channel_id: 'x',
      csv_mapping: { phone_column: 0 },
    });
    expect(answer.body).toMatchObject({ status: 'error', code: 400, message: 'Campaign name is required' });
    expect(answer.body.error.map(({ field }: { field: string }) => field)).toEqual([
      'name',
      'description',
      'template_id',
      'channel_id',
      'csv_mapping.country_code_column',
      'send_type',
    ]);
    expect(Date.parse(answer.body.timestamp)).toBeGreaterThan(Date.now() - 60_000);
  });

  it('without the Targeted Segments feature, from the moment it is taken away', async () => {
    const { workspaceId } = workspace;
    const setting = { feature: 'targeted_segments' } as const;
    await saveFeature(api.database.pool, workspaceId, { ...setting, value: 'off' });
    expect((await create(segmented())).body).toMatchObject({
      code: 400,
      message: 'The Targeted Segments feature is not available: ask whoever runs this service',
    });
    await saveFeature(api.database.pool, workspaceId, { ...setting, value: 'on' });
    expect((await create(segmented())).status).toBe(201);
  });

  it('with a template of another business account of the same workspace', async () => {
    const elsewhere = await api.seedChannel(workspace.workspaceId);
    const template = await aTemplate({ ...elsewhere, workspaceId: workspace.workspaceId });
    expect((await create({ template_id: template })).body).toMatchObject({
      code: 404,
      message: 'Template not found',
    });
    expect((await create({ template_id: template }, elsewhere.channelKey)).status).toBe(201);
  });

  it('with an unknown template', async () => {
    expect((await create({ template_id: randomUUID() })).body).toMatchObject({
      status: 'error',
      code: 404,
      message: 'Template not found',
    });
  });
});

function manyKeys(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`column ${at}`, value]));
}
