import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let contactId: string;
let conversationId: string;

const number = '4915166131026';
const get = (path: string) => api.send('GET', path, { key: workspace.channelKey });

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  const { workspaceId, channelId } = workspace;
  contactId = randomUUID();
  conversationId = randomUUID();
  await query(
    api.database,
    `INSERT INTO contact (id, workspace_id, phone_number, country_code, first_name, source)
     VALUES ($1, $2, $3, '49', 'Grace', 'incoming')`,
    [contactId, workspaceId, number],
  );
  await query(
    api.database,
    `INSERT INTO conversation (id, workspace_id, channel_id, contact_id, last_message_at, inbound_at)
     VALUES ($1, $2, $3, $4, '2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z')`,
    [conversationId, workspaceId, channelId, contactId],
  );
  await query(
    api.database,
    `INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, phone_number, type,
       content, state, created_at)
     VALUES ($1, $2, 'inbound', 'unknown', $3, $4, $5, 'text', '{"text":{"body":"Yes, please"}}', 'RECEIVED',
         '2026-11-21T10:00:00Z'),
       ($1, $2, 'outbound', 'api', $3, NULL, $5, 'template', NULL, 'READ', '2026-11-21T09:00:00Z')`,
    [workspaceId, channelId, contactId, conversationId, number],
  );
});
afterAll(() => api.close());

describe('the history of a contact', () => {
  it('lists sent and received messages, newest first, in pages', async () => {
    const first = await get(`/api/contacts/${contactId}/history?limit=1`);
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject([{ direction: 'inbound', text: 'Yes, please', state: 'RECEIVED' }]);
    const { nextCursor } = first.body.pagination;
    const second = await get(`/api/contacts/${contactId}/history?limit=1&cursor=${nextCursor}`);
    expect(second.body.data).toMatchObject([{ direction: 'outbound', text: null, state: 'READ' }]);
    expect(second.body.pagination.nextCursor).toBeNull();
  });

  it('is the thread of its conversation', async () => {
    const { body } = await get(`/api/conversations/${conversationId}/messages`);
    expect(body.data).toHaveLength(2);
  });
});

describe('conversations', () => {
  it('name their contact', async () => {
    const { body } = await get('/api/conversations');
    expect(body.data).toMatchObject([
      {
        id: conversationId,
        contactName: 'Grace',
        contactPhoneNumber: number,
        lastInboundAt: '2026-11-21T10:00:00.000Z',
      },
    ]);
  });

  type Owner = Pick<SeededWorkspace, 'workspaceId' | 'channelId' | 'channelKey'>;

  /** The contact wrote on 21 November at ten o'clock. */
  async function aConversation({ workspaceId, channelId }: Owner, phoneNumber: string) {
    const [contact, conversation] = [randomUUID(), randomUUID()];
    await query(
      api.database,
      `INSERT INTO contact (id, workspace_id, phone_number, country_code, first_name, source)
       VALUES ($1, $2, $3, '49', 'Ada', 'incoming')`,
      [contact, workspaceId, phoneNumber],
    );
    await query(
      api.database,
      `INSERT INTO conversation (id, workspace_id, channel_id, contact_id, last_message_at, inbound_at, created_at)
       VALUES ($1, $2, $3, $4, '2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z')`,
      [conversation, workspaceId, channelId, contact],
    );
    return conversation;
  }
  const listed = async ({ channelKey: key }: Owner, filter: string): Promise<readonly string[]> =>
    (await api.send('GET', `/api/conversations?${filter}`, { key })).body.data.map(
      ({ id }: { id: string }) => id,
    );

  it('can be ordered by the last message', async () => {
    const owner = await api.seedWorkspace();
    const older = await aConversation(owner, '4915100000001');
    const newer = await aConversation(owner, '4915100000002');
    await query(
      api.database,
      `UPDATE conversation SET created_at = created_at + interval '1 hour', last_message_at = last_message_at - interval '1 hour'
       WHERE id = $1`,
      [newer],
    );
    expect(await listed(owner, '')).toEqual([newer, older]);
    expect(await listed(owner, 'sort=lastMessageAt')).toEqual([older, newer]);
  });

  it('of a campaign are those of its recipients who wrote after it reached them', async () => {
    const campaign = await seedCampaign(api.database.pool, { recipients: 3 });
    const later = await seedCampaign(api.database.pool, { recipients: 1 });
    const foreign = await seedCampaign(api.database.pool, { recipients: 1 });
    const { workspaceId, channelId, templateId } = campaign;
    await query(
      api.database,
      'UPDATE campaign SET workspace_id = $1, channel_id = $2, template_id = $3 WHERE id = $4',
      [workspaceId, channelId, templateId, later.campaignId],
    );
    const { apiKey } = await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' });
    const owner = { workspaceId, channelId, channelKey: apiKey };
    await query(api.database, `UPDATE campaign SET started_at = '2026-11-21T08:00:00Z'`, []);
    // The seeded recipients' numbers. The second was reached after they wrote, the third was never reached.
    const replied = await aConversation(owner, '4915100000001');
    const wroteBefore = await aConversation(owner, '4915100000002');
    const unreached = await aConversation(owner, '4915100000003');
    await query(
      api.database,
      `UPDATE recipient SET state = 'READ', accepted_at = CASE WHEN campaign_id = $1 AND position = 1
         THEN timestamptz '2026-11-21T09:00:00Z' ELSE '2026-11-21T11:00:00Z' END
       WHERE NOT (campaign_id = $1 AND position = 3)`,
      [campaign.campaignId],
    );
    await query(
      api.database,
      `UPDATE recipient SET accepted_at = '2026-11-21T09:00:00Z' WHERE campaign_id = $1`,
      [foreign.campaignId],
    );
    expect(new Set(await listed(owner, ''))).toEqual(new Set([replied, wroteBefore, unreached]));
    expect(await listed(owner, `campaignId=${campaign.campaignId}`)).toEqual([replied]);
    expect(await listed(owner, `campaignId=${later.campaignId}`)).toEqual([]);
    expect(await listed(owner, `campaignId=${foreign.campaignId}`)).toEqual([]);
    expect(await listed(owner, `campaignId=${randomUUID()}`)).toEqual([]);
  });
});

describe('contacts', () => {
  it.each(['0151 66131026', '+49 151 66131026', '151/6613', '0049151', number])(
    'are found by %s',
    async (search) => {
      const { body } = await get(`/api/contacts?search=${encodeURIComponent(search)}`);
      expect(body.data).toMatchObject([{ id: contactId }]);
    },
  );

  it('are narrowed by tag, segment and consent', async () => {
    const key = workspace.channelKey;
    const { body: tag } = await api.send('POST', '/api/tags', { key, body: { name: 'VIP' } });
    const conditions = [{ field: 'firstName', operator: 'eq', value: 'Grace' }];
    const { body: segment } = await api.send('POST', '/api/segments', {
      key,
      body: { name: 'Grace', conditions },
    });
    const idsBy = async (filter: string) =>
      (await get(`/api/contacts?${filter}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsBy(`tag=${tag.data.tagId}`)).toEqual([]);
    await api.send('PUT', `/api/contacts/${contactId}`, { key, body: { tagsId: [tag.data.tagId] } });
    expect(await idsBy(`tag=${tag.data.tagId}`)).toEqual([contactId]);
    expect(await idsBy(`tag=${tag.data.tagId}&search=gra`)).toEqual([contactId]);
    expect(await idsBy(`segment=${segment.data.id}`)).toEqual([contactId]);
    expect(await idsBy('subscribed=true')).toEqual([contactId]);
    expect(await idsBy('subscribed=false')).toEqual([]);
    expect(await idsBy('subscribed=false&search=0151')).toEqual([]);
    const { body: count } = await api.send('POST', '/api/segments/count', { key, body: { conditions } });
    expect(count.data).toEqual({ count: 1, subscribed: 1 });
  });
});
