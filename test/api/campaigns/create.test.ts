import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as t from 'io-ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { saveFeature } from '../../../src/records/workspaces/workspaces.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  templateId = await seedTemplate(workspace, 'APPROVED');
});
afterAll(() => api.close());

async function seedTemplate(owner: SeededWorkspace, status: string, button = ''): Promise<string> {
  const id = randomUUID();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${id}, ${owner.workspaceId}, ${owner.businessAccountId}, ${id}, 'hello', 'en_US', 'UTILITY', ${status},
      ${`[{"type":"BODY","text":"Hi {{1}}, your order {{2}} is here."}${button}]`}::jsonb)`);
  return id;
}

const valid = () => ({
  name: 'Spring offer',
  template_id: templateId,
  contact_selection_type: 'quick_contacts',
  quick_contacts: ['+4915112345678,Ada,17'],
  send_type: 'IMMEDIATE',
});

const create = (body: unknown, key = workspace.channelKey) =>
  api.send('POST', '/api/campaigns/auto-trigger', { key, body });

const countCampaigns = () =>
  api.database.pool.oneFirst(sql.type(row(t.type({ n: t.number })))`SELECT count(*)::int AS n FROM campaign`);

it('names the field that a misspelt one probably means, in the answer', async () => {
  const { status, body } = await create({
    ...valid(),
    quick_contacts: ['+4915112345678'],
    variable_mapping: { body: { '1': '{{ frist name }}', '2': '17' } },
  });
  expect([status, body.data.warnings]).toEqual([
    201,
    [
      {
        field: 'variable_mapping.body.1',
        message: expect.stringMatching(/names no field; .*; did you mean firstName\?$/),
      },
    ],
  ]);
});

describe('the size of a campaign', () => {
  const stored = async (id: string) =>
    (await api.send('GET', `/api/campaigns/${id}`, { key: workspace.channelKey })).body.data.variable_mapping;

  it('leaves out keys of a mapping that the template does not read', async () => {
    const footer = { text: 'x'.repeat(600_000) };
    const mapping = { body: { '1': 'firstName', '2': '17' }, default_values: { body: { '1': 'you' } } };
    const answer = await create({
      ...valid(),
      variable_mapping: {
        ...mapping,
        header: { note: 'x'.repeat(300_000) },
        body: { ...mapping.body, note: 'n' },
        footer,
        default_values: { ...mapping.default_values, footer },
      },
    });
    expect(answer.status).toBe(201);
    expect(await stored(answer.body.data.campaign.id)).toEqual({ ...mapping, header: {} });
  });

  it('is at most 256 KiB of mapping and audience, which the answer names', async () => {
    const flow = ',{"type":"BUTTONS","buttons":[{"type":"FLOW","text":"Book","flow_id":"12"}]}';
    const withFlow = { ...valid(), template_id: await seedTemplate(workspace, 'APPROVED', flow) };
    const mapping = (length: number) => ({
      body: { '1': 'firstName', '2': '17' },
      buttons: [{ type: 'flow', flow_action_data: { note: 'x'.repeat(length) } }],
      default_values: { body: { '1': 'you' } },
    });
    const largest = await create({ ...withFlow, variable_mapping: mapping(260_000) });
    expect(largest.status).toBe(201);
    const larger = await create({ ...withFlow, variable_mapping: mapping(262_200) });
    expect(larger).toMatchObject({ status: 400, body: { error: [{ field: 'variable_mapping' }] } });
    const conditions = Array.from({ length: 40 }, () => ({
      field: 'firstName',
      operator: 'in',
      value: Array.from({ length: 10 }, () => 'x'.repeat(900)),
    }));
    const filtered = await create({
      ...valid(),
      contact_selection_type: 'segmented',
      segments: [randomUUID()],
      contact_filters: { conditions },
    });
    expect(filtered).toMatchObject({ status: 400, body: { error: [{ field: 'contact_filters' }] } });
  });

  it('is at most 8 MiB of JSON', async () => {
    const quick_contacts = Array.from({ length: 600_000 }, (_, at) => `+4915${100_000_000 + at}`);
    expect((await create({ ...valid(), quick_contacts })).status).toBe(413);
  });
});

describe('POST /api/campaigns/auto-trigger', () => {
  it('answers 201 with exactly the fields of the contract', async () => {
    const answer = await create(valid());
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      status: 'success',
      code: 201,
      message: 'Campaign created successfully',
      data: {
        campaign: {
          name: 'Spring offer',
          description: null,
          template_id: templateId,
          total_contacts: 0,
          total_contacts_skipped: 0,
          preparation_status: 'PREPARING',
          preparation_version: 1,
          audience_version: 1,
          status: 'DRAFT',
          send_type: 'IMMEDIATE',
          scheduled_at: null,
          workspace_id: workspace.workspaceId,
          is_auto_trigger: true,
        },
        summary: { total_contacts: 0, can_send_test: false },
      },
    });
    expect(Object.keys(answer.body.data.campaign)).toHaveLength(17);
  });

  it('stays SCHEDULED until its time', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await create({ ...valid(), send_type: 'SCHEDULED', scheduled_at: at });
    expect(answer.body.data.campaign).toMatchObject({ status: 'SCHEDULED', scheduled_at: at });
  });

  const past = new Date(Date.now() - 1_000).toISOString();
  const csv = { contact_selection_type: 'csv_contacts', quick_contacts: undefined };
  const mapping = { phone_column: 0, country_code_column: 1 };
  const mapped = {
    variable_mapping: { body: { '1': 'firstName', '2': 'static' }, default_values: { body: { '1': 'x' } } },
  };
  const cases: readonly [string, object, string, string?][] = [
    ['no name', { name: undefined }, 'Campaign name is required', 'name'],
    ['a blank name', { name: '  ' }, 'Campaign name is required', 'name'],
    ['a long name', { name: 'x'.repeat(256) }, 'name must be at most 255 characters long', 'name'],
    [
      'a channel',
      { channel_id: randomUUID() },
      'channel_id must not be sent: the API key of a channel supplies it',
      'channel_id',
    ],
    [
      'a phone number id',
      { phone_number_id: '1' },
      'phone_number_id must not be sent: the API key of a channel supplies it',
      'phone_number_id',
    ],
    [
      'a past time',
      { send_type: 'SCHEDULED', scheduled_at: past },
      'Scheduled time must be in the future',
      'scheduled_at',
    ],
    [
      'no time',
      { send_type: 'SCHEDULED' },
      'scheduled_at is required beside SCHEDULED, such as 2026-12-24T18:00:00Z',
      'scheduled_at',
    ],
    [
      'no audience',
      { quick_contacts: [] },
      'quick_contacts must hold at least one phone number',
      'quick_contacts',
    ],
    [
      'a wrong number',
      { quick_contacts: ['+4915112345678,a,b', 'nonsense'] },
      'quick_contacts.1 must be in international form, such as +4915112345678',
      'quick_contacts.1',
    ],
    [
      'too many values',
      { quick_contacts: ['+4915112345678,a,b,c'] },
      "quick_contacts.0 has 3 values, but the template's body has 2 variables: leave out the rest",
      'quick_contacts.0',
    ],
    [
      'no CSV',
      { ...csv, ...mapped, csv_mapping: mapping },
      'csv_contacts_string, csv_file_key or csv_file_url is required',
      'csv_contacts_string',
    ],
    [
      'an empty CSV',
      { ...csv, ...mapped, csv_contacts_string: '', csv_mapping: mapping },
      'csv_contacts_string must not be empty',
      'csv_contacts_string',
    ],
    [
      'a header alone',
      { ...csv, ...mapped, csv_contacts_string: 'phone,cc\n', csv_mapping: mapping },
      'csv_contacts_string must have at least one data row',
      'csv_contacts_string',
    ],
    [
      'a column too far',
      {
        ...csv,
        ...mapped,
        csv_contacts_string: 'phone,cc\n1,49\n',
        csv_mapping: { phone_column: 0, country_code_column: 7 },
      },
      'csv_mapping.country_code_column is 7, but the last column of the CSV is 1',
      'csv_mapping.country_code_column',
    ],
    [
      'two CSVs',
      { ...csv, ...mapped, csv_contacts_string: 'a,b\n1,2', csv_file_key: 'k', csv_mapping: mapping },
      'Only one of csv_contacts_string and csv_file_key may be sent',
      'csv_file_key',
    ],
    [
      'an unknown segment',
      { contact_selection_type: 'segmented', segments: [randomUUID()], ...mapped },
      'segments.0 is not a segment of this workspace: GET /api/segments lists them',
      'segments.0',
    ],
    [
      'an unknown failed campaign',
      { contact_selection_type: 'failed_contacts', failed_campaign_id: randomUUID(), ...mapped },
      'failed_campaign_id is not a campaign of this workspace: GET /api/campaigns lists them',
      'failed_campaign_id',
    ],
    [
      'a private address',
      { ...csv, ...mapped, csv_file_url: 'http://10.0.0.1/a.csv', csv_mapping: mapping },
      'csv_file_url must not point to a private or reserved address',
      'csv_file_url',
    ],
  ];

  const codes: Readonly<Record<string, string>> = {
    'no name': 'name_required',
    'a blank name': 'name_required',
    'a past time': 'schedule_in_past',
  };

  it.each(cases)('refuses %s and creates nothing', async (title, change, message, field) => {
    const before = await countCampaigns();
    const answer = await create({ ...valid(), ...change });
    const errorCode = codes[title] ?? 'validation_failed';
    expect(answer.body).toMatchObject({ status: 'error', code: 400, error_code: errorCode, message });
    expect(answer.body.error.map((problem: { field: string }) => problem.field)).toContain(field);
    expect(await countCampaigns()).toBe(before);
  });

  it('names a template variable that nothing fills', async () => {
    const answer = await create({
      ...valid(),
      contact_selection_type: 'all_contacts',
      variable_mapping: { body: { '1': 'firstName' } },
    });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body.error)).toContain('body.2');
  });

  it('refuses segments with more values than one statement may have', async () => {
    const segments = [randomUUID(), randomUUID()];
    for (const id of segments) {
      const conditions = Array.from({ length: 5_000 }, () => ({
        field: 'firstName',
        operator: 'eq',
        value: 'A',
      }));
      await api.database.pool.query(sql.type(nothing)`
        INSERT INTO segment (id, workspace_id, name, match, conditions)
        VALUES (${id}, ${workspace.workspaceId}, ${id}, 'any', ${sql.jsonb(conditions)})`);
    }
    const body = {
      ...valid(),
      contact_selection_type: 'segmented',
      quick_contacts: undefined,
      variable_mapping: { body: { 1: 'a', 2: 'b' } },
    };
    expect((await create({ ...body, segments: segments.slice(1) })).status).toBe(201);
    expect((await create({ ...body, segments })).body).toMatchObject({
      code: 400,
      message: 'segments and contact_filters come to 10001 values; 10000 are allowed',
      error: [{ field: 'segments' }],
    });
  });

  it('refuses failed contacts whose offer has expired by the time of sending', async () => {
    const failed = (await create(valid())).body.data.campaign.id;
    const until = Date.now() + 1_800_000;
    const parameters = [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: until } }];
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign SET message_plan = ${sql.jsonb({ components: [{ type: 'limited_time_offer', parameters }], holes: [] })}
      WHERE id = ${failed}`);
    const again = {
      name: 'Once more',
      template_id: templateId,
      contact_selection_type: 'failed_contacts',
      failed_campaign_id: failed,
    };
    expect((await create({ ...again, send_type: 'IMMEDIATE' })).status).toBe(201);
    const scheduled_at = new Date(until).toISOString();
    expect((await create({ ...again, send_type: 'SCHEDULED', scheduled_at })).body).toMatchObject({
      code: 400,
      message: 'variable_mapping is required: the offer of the failed campaign has expired by then',
      error: [{ field: 'variable_mapping' }],
    });
  });

  it('finds only approved templates of the channel’s own business account', async () => {
    const other = await api.seedWorkspace();
    const foreign = await seedTemplate(other, 'APPROVED');
    expect((await create({ ...valid(), template_id: foreign })).body).toMatchObject({
      code: 404,
      error_code: 'template_not_found',
      message: 'Template not found',
    });
    const pending = await seedTemplate(workspace, 'PENDING');
    expect((await create({ ...valid(), template_id: pending })).body).toMatchObject({
      code: 400,
      error_code: 'template_not_approved',
      message: 'Template is not approved',
    });
  });

  it.each([
    ['a component of type SOMETHING_NEW', { type: 'SOMETHING_NEW' }],
    ['a header of format HOLOGRAM', { type: 'HEADER', format: 'HOLOGRAM' }],
    [
      'a button of type ORDER_DETAILS',
      { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Pay' }] },
    ],
    [
      'a header of format HOLOGRAM',
      { type: 'CAROUSEL', cards: [{ components: [{ type: 'HEADER', format: 'HOLOGRAM' }] }] },
    ],
  ])('names what it cannot send of a template: %s', async (part, component) => {
    const template_id = await seedTemplate(workspace, 'APPROVED');
    await api.database.pool.query(sql.type(nothing)`
      UPDATE template SET components = components || ${sql.jsonb([component])} WHERE id = ${template_id}`);
    expect((await create({ ...valid(), template_id })).body).toMatchObject({
      code: 400,
      message: `The template cannot be sent by this service, choose another: it has ${part}`,
      error: [{ field: 'template_id' }],
    });
  });

  it('refuses features that the workspace’s plan does not include', async () => {
    const limited = await api.seedWorkspace();
    const template = await seedTemplate(limited, 'APPROVED');
    const pool = api.database.pool;
    await saveFeature(pool, limited.workspaceId, { feature: 'schedule_campaigns', value: 'off' });
    await saveFeature(pool, limited.workspaceId, { feature: 'broadcasts_per_month', value: 0 });
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const body = { ...valid(), template_id: template };
    const scheduled = await create({ ...body, send_type: 'SCHEDULED', scheduled_at: at }, limited.channelKey);
    expect(scheduled.body).toMatchObject({
      code: 400,
      message: 'The Schedule Campaigns feature is not available: ask whoever runs this service',
    });
    const immediate = await create(body, limited.channelKey);
    expect(immediate.body.code).toBe(400);
    expect(immediate.body.message).toContain('Broadcasts Per Month');
  });

  it('asks a workspace key for a channel', async () => {
    const answer = await create(valid(), workspace.workspaceKey);
    expect(answer.body).toMatchObject({
      code: 400,
      error_code: 'channel_required',
      message: 'Either channel_id or phone_number_id is required',
      error: [{ field: 'X-API-Key', message: expect.stringContaining('an API key of a channel') }],
    });
  });

  it('refuses a JWT with a message of its own', async () => {
    const jwt = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.c2ln`;
    const answer = await api.send('POST', '/api/campaigns/auto-trigger', {
      body: valid(),
      headers: { authorization: `Bearer ${jwt}` },
    });
    expect(answer.body).toMatchObject({
      code: 401,
      error_code: 'jwt_not_allowed',
      message: 'This endpoint is restricted to API key usage only',
    });
  });

  it('creates one campaign for twenty requests with one Idempotency-Key', async () => {
    const before = await countCampaigns();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        api.send('POST', '/api/campaigns/auto-trigger', {
          key: workspace.channelKey,
          body: valid(),
          headers: { 'idempotency-key': key },
        }),
      ),
    );
    expect(await countCampaigns()).toBe(before + 1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(
      new Set([...(answers.some(({ status }) => status === 409) ? [409] : []), 201]),
    );
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => body.data.campaign.id);
    expect(new Set(ids).size).toBe(1);
    const again = await api.send('POST', '/api/campaigns/auto-trigger', {
      key: workspace.channelKey,
      body: { ...valid(), name: 'Other' },
      headers: { 'idempotency-key': key },
    });
    expect(again.status).toBe(422);
  });
});
