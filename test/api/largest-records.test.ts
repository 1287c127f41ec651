/** Each kind of record that a caller can store is filled to its bound; then each answer that shows it is small, and made in short turns. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { watchEventLoop } from '../support/longest-block.ts';
import { mostBlockedMs } from '../support/watched-server.ts';
import { query } from '../support/webhook-fixtures.ts';

const mebibyte = 1024 * 1024;

let api: TestApi;
let workspace: SeededWorkspace;
const loop = watchEventLoop();
beforeAll(async () => {
  api = await startTestApi({ config: { rateLimitPerSecond: 1_000_000 } });
  workspace = await api.seedWorkspace();
});
afterAll(async () => {
  loop.stop();
  await api.close();
});

const send = async (method: string, path: string, body?: object) => {
  const answer = await api.send(method, path, { key: workspace.channelKey, ...(body && { body }) });
  expect([path, answer.status, answer.body.error]).toEqual([path, expect.toBeOneOf([200, 201]), undefined]);
  return answer;
};

/** The first answer warms up what the second one uses. The second one is not read as JSON, which would be a block of this process. */
async function read(path: string, mostBytes: number): Promise<void> {
  await send('GET', path);
  await loop.longestBlock();
  const answer = await fetch(`${api.baseUrl}${path}`, { headers: { 'X-API-Key': workspace.channelKey } });
  const { byteLength } = await answer.arrayBuffer();
  const block = await loop.longestBlock();
  expect(byteLength).toBeLessThan(mostBytes);
  expect([path, block < mostBlockedMs ? 'short' : block]).toEqual([path, 'short']);
}

it('a contact of 200 custom fields and 64 KiB, alone and in a page', async () => {
  const customFields = Array.from({ length: 200 }, (_, at) => ({
    fieldId: `${at}${'f'.repeat(100)}`,
    value: 'ü'.repeat(105),
  }));
  const { body } = await send('POST', '/api/contacts', { phoneNumber: '+4915112345678', customFields });
  const { id } = body.data;
  await query(
    api.database,
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, source, custom_fields)
     SELECT $1, '49151' || n, '49', 'DE', 'api', custom_fields
     FROM contact, generate_series(1000001, 1001000) AS n WHERE id = $2`,
    [workspace.workspaceId, id],
  );
  await read(`/api/contacts/${id}`, 80 * 1024);
  await read('/api/contacts?limit=1000', 1.2 * mebibyte);
  await read(`/api/contacts/${id}/export`, 80 * 1024);
});

it('a contact of 200 short custom fields in a page', async () => {
  await query(
    api.database,
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, source, custom_fields)
     SELECT $1, '49152' || n, '49', 'DE', 'api', (SELECT jsonb_object_agg(field, '') FROM generate_series(1, 200) AS field)
     FROM generate_series(1000001, 1001000) AS n`,
    [workspace.workspaceId],
  );
  await read('/api/contacts?limit=1000', 1.5 * mebibyte);
});

it('a campaign of 256 KiB', async () => {
  const templateId = randomUUID();
  await query(
    api.database,
    `INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
       components)
     VALUES ($1, $2, $3, 'large', 'hello', 'en_US', 'UTILITY', 'APPROVED', '[{"type":"BODY","text":"Hi {{1}} there."},
       {"type":"BUTTONS","buttons":[{"type":"FLOW","text":"Book","flow_id":"12"}]}]')`,
    [templateId, workspace.workspaceId, workspace.businessAccountId],
  );
  const { body } = await send('POST', '/api/campaigns/auto-trigger', {
    name: 'Large',
    template_id: templateId,
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915112345678'],
    send_type: 'IMMEDIATE',
    variable_mapping: {
      body: { '1': 'firstName' },
      buttons: [
        {
          flow_action_data: Object.fromEntries(
            Array.from({ length: 9_000 }, (_, at) => [`k${at}`, 'a value of text']),
          ),
        },
      ],
      default_values: { body: { '1': 'you' } },
    },
  });
  await read(`/api/campaigns/${body.data.campaign.id}`, 300 * 1024);
  await read('/api/campaigns?limit=100', 64 * 1024);
});

it('100 segments of 64 KiB, one page', async () => {
  const conditions = Array.from({ length: 50 }, () => ({
    field: 'firstName',
    operator: 'in',
    value: Array.from({ length: 100 }, () => 'a value'),
  }));
  const { body } = await send('POST', '/api/segments', { name: 'Large', conditions });
  await query(
    api.database,
    `INSERT INTO segment (workspace_id, name, match, conditions)
     SELECT workspace_id, name || n, match, conditions FROM segment, generate_series(1, 99) AS n WHERE id = $1`,
    [body.data.id],
  );
  const { data, pagination } = (await send('GET', '/api/segments?limit=100')).body;
  expect(pagination).toMatchObject({ total: 100, totalPages: 1 });
  const names = data.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['Large', ...Array.from({ length: 99 }, (_, at) => `Large${at + 1}`)].toSorted());
  await read(`/api/segments/${body.data.id}`, 80 * 1024);
  await read('/api/segments?limit=100', 7 * mebibyte);
});

it('100 templates of 64 KiB, one page', async () => {
  await query(
    api.database,
    `INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status,
       components)
     SELECT $1, $2, 'full' || n, 'full' || n, 'en_US', 'UTILITY', 'APPROVED',
       (SELECT jsonb_agg(jsonb_build_object('type', 'BODY', 'text', repeat('ü', 20), 'example', jsonb_build_object('n', m)))
        FROM generate_series(1, 700) AS m)
     FROM generate_series(1, 100) AS n`,
    [workspace.workspaceId, workspace.businessAccountId],
  );
  await read('/api/templates?limit=100&search=full', 8 * mebibyte);
});

it('50 webhooks with the longest addresses', async () => {
  for (let at = 0; at < 50; at += 1) {
    await send('POST', '/api/external-webhooks', {
      title: 'T'.repeat(255),
      url: `https://example.com/${'p'.repeat(1_900)}`,
      status: 'active',
      events: ['sent', 'contact.updated'],
    });
  }
  await read('/api/external-webhooks?limit=100', 256 * 1024);
});
