import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
const path = '/api/workspace/frequency-cap';
const cap = { messages: 1, days: 7, categories: ['UTILITY'] };

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const put = (body: unknown, key = workspace.operatorKey) => api.send('PUT', path, { key, body });
const read = async () => (await api.send('GET', path, { key: workspace.channelKey })).body.data;

it('is read with every key, and set and removed by an operator', async () => {
  expect(await read()).toBeNull();
  expect((await put(cap, workspace.channelKey)).status).toBe(401);
  expect((await put(cap)).body).toMatchObject({ message: 'Frequency cap saved successfully', data: cap });
  expect(await read()).toEqual(cap);
  expect((await put({ messages: null, days: null, categories: null })).body.data).toBeNull();
  expect(await read()).toBeNull();
  await put(cap);
  expect((await put(null)).status).toBe(200);
  expect(await read()).toBeNull();
  const audit = await api.send('GET', '/api/audit?object=workspace', { key: workspace.workspaceKey });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual(
    Array(4).fill('workspace.frequency-cap'),
  );
});

it.each([
  [{ ...cap, messages: undefined }, 'messages'],
  [{ ...cap, messages: 0 }, 'messages'],
  [{ ...cap, days: 400 }, 'days'],
  [{ ...cap, days: null }, 'days'],
  [{ ...cap, categories: [] }, 'categories'],
  [{ ...cap, categories: ['PROMOTION'] }, 'categories.0'],
])('is refused when it is %j', async (body, field) => {
  expect((await put(body)).body).toMatchObject({ code: 400, error: [expect.objectContaining({ field })] });
});

it('is counted by the check, and ignored by a campaign of an operator', async () => {
  const templateId = randomUUID();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${templateId}, ${workspace.workspaceId}, ${workspace.businessAccountId}, ${templateId}, 'hello', 'en_US', 'UTILITY',
      'APPROVED', '[{"type":"BODY","text":"Hi."}]')`);
  for (const phoneNumber of ['+4915112345670', '+4915112345671'])
    await api.send('POST', '/api/contacts', { key: workspace.channelKey, body: { phoneNumber } });
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, template_id, state)
    SELECT workspace_id, ${workspace.channelId}::uuid, 'outbound', 'api', id, ${templateId}::uuid, 'SENT' FROM contact
    WHERE workspace_id = ${workspace.workspaceId} AND phone_number = '4915112345670'`);
  await put(cap);
  const body = {
    name: 'Spring offer',
    template_id: templateId,
    contact_selection_type: 'all_contacts',
    send_type: 'IMMEDIATE',
  };
  const check = async (change: object, key: string) =>
    (await api.send('POST', '/api/campaigns/check', { key, body: { ...body, ...change } })).body.data;
  expect(await check({}, workspace.channelKey)).toMatchObject({
    total_contacts: 1,
    skipped_reasons: { FREQUENCY_CAP: 1 },
  });
  expect(await check({ ignore_frequency_cap: true }, workspace.channelKey)).toMatchObject({
    problems: [
      {
        field: 'ignore_frequency_cap',
        message: "ignore_frequency_cap may be true with an operator's key only",
      },
    ],
  });
  const filters = { conditions: [{ field: 'phonenumber', operator: 'eq', value: '+4915112345671' }] };
  expect(
    await check(
      { contact_selection_type: 'segmented', segments: [], contact_filters: filters },
      workspace.channelKey,
    ),
  ).toMatchObject({ problems: [], total_contacts: 1, skipped_reasons: {} });
  expect(
    await check(
      { contact_selection_type: 'segmented', segments: [], contact_filters: { conditions: [] } },
      workspace.channelKey,
    ),
  ).toMatchObject({ problems: [{ field: 'segments' }] });
});

it('is lifted from a campaign by an operator alone', async () => {
  const [template] = (await api.send('GET', '/api/templates', { key: workspace.channelKey })).body.data;
  const created = await api.send('POST', '/api/campaigns/auto-trigger', {
    key: workspace.channelKey,
    body: {
      name: 'Later',
      template_id: template.id,
      contact_selection_type: 'all_contacts',
      send_type: 'SCHEDULED',
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });
  const one = `/api/campaigns/${created.body.data.campaign.id}`;
  const patch = (key: string) => api.send('PATCH', one, { key, body: { ignore_frequency_cap: true } });
  expect((await patch(workspace.channelKey)).body).toMatchObject({
    code: 400,
    error: [{ field: 'ignore_frequency_cap' }],
  });
  expect((await patch(workspace.operatorKey)).body.data).toMatchObject({ ignore_frequency_cap: true });
});
