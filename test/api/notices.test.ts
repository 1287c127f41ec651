import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { templateChanged, type NewNotice } from '../../src/domain/operations/notice.ts';
import { updateChannel } from '../../src/commands/workspaces/channels.ts';
import { failPreparation } from '../../src/records/audience/preparation.ts';
import { PreparationFailure } from '../../src/domain/audience/preparation-failure.ts';
import { nothing } from '../../src/records/database/row.ts';
import { deleteOldNotices, insertNotices } from '../../src/records/operations/notices.ts';
import { setMessagingLimit } from '../../src/records/sending/messaging-limit.ts';
import { blockChannelsOfAccount, setChannelQuality } from '../../src/records/workspaces/notified-channels.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aTemplate } from '../support/audience-campaign.ts';
import { rowsOf } from '../support/callback-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function read(workspace: SeededWorkspace, query = '') {
  const { status, body } = await api.send('GET', `/api/notices${query}`, { key: workspace.channelKey });
  expect(status).toBe(200);
  return body;
}

async function createCampaign(workspace: SeededWorkspace, name: string): Promise<string> {
  const { status, body } = await api.send('POST', '/api/campaigns/auto-trigger', {
    key: workspace.channelKey,
    body: {
      name,
      template_id: await aTemplate(api.database.pool, workspace),
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678'],
      send_type: 'IMMEDIATE',
    },
  });
  expect(status).toBe(201);
  return body.data.campaign.id;
}

it('writes a notice in the transaction of each change that people should know of', async () => {
  const workspace = await api.seedWorkspace();
  const { pool } = api.database;
  const { channelId, businessAccountId } = workspace;
  const paused = await createCampaign(workspace, 'Paused');
  await api.send('POST', `/api/campaigns/${paused}/pause`, { key: workspace.channelKey });
  const failed = await createCampaign(workspace, 'Failed');
  await failPreparation(pool, failed, new PreparationFailure('FILE_NOT_FOUND', 'There is no such file'));
  const now = new Date();
  const good = { number: '49301234567', is: 'GOOD', reportedAt: now } as const;
  await setChannelQuality(pool, businessAccountId, good);
  await setChannelQuality(pool, businessAccountId, good);
  await setMessagingLimit(pool, businessAccountId, { limit: 2_000, reportedAt: now });
  await setMessagingLimit(pool, businessAccountId, { limit: 2_000, reportedAt: now });
  await pool.query(
    sql.type(nothing)`UPDATE campaign SET status = 'RUNNING', pause_reason = NULL WHERE id = ${paused}`,
  );
  await updateChannel(api.dependencies, { channelId, status: 'blocked' });
  await updateChannel(api.dependencies, { channelId, status: 'active' });
  await blockChannelsOfAccount(pool, { businessAccountId, event: 'DISABLED_UPDATE', until: null });

  const { data } = await read(workspace);
  const titles = data
    .toReversed()
    .map((one: { kind: string; subject: Record<string, string>; message: string }) => [
      one.kind,
      one.subject['type'],
      one.subject['id'],
      one.subject['name'],
      one.message,
    ]);
  const number = '+49 30 1234567';
  expect(titles).toEqual([
    ['campaign_paused', 'campaign', paused, 'Paused', expect.stringContaining('paused the campaign')],
    ['campaign_failed', 'campaign', failed, 'Failed', expect.stringContaining('There is no such file')],
    ['channel_quality', 'channel', channelId, number, expect.stringContaining('good again')],
    [
      'messaging_limit',
      'business_account',
      businessAccountId,
      businessAccountId,
      expect.stringContaining('from no limit to 2000'),
    ],
    ['campaign_paused', 'campaign', paused, 'Paused', expect.stringContaining('The channel is blocked')],
    ['channel_blocked', 'channel', channelId, number, expect.stringContaining('by the operator')],
    ['channel_blocked', 'channel', channelId, number, expect.stringContaining('DISABLED_UPDATE')],
  ]);
  const kinds = async (query: string) =>
    (await read(workspace, query)).data.map(({ kind }: { kind: string }) => kind);
  expect(await kinds('?kind=channel_blocked')).toEqual(['channel_blocked', 'channel_blocked']);
  const [{ createdAt }] = data;
  expect(await kinds(`?from=${createdAt}`)).toEqual(['channel_blocked']);
  expect(await kinds(`?to=${createdAt}`)).toHaveLength(6);
});

const numbered = (workspaceId: number, count: number): readonly NewNotice[] =>
  Array.from({ length: count }, (_, index) => ({
    workspaceId,
    kind: 'template_status',
    subject: { type: 'template', id: 'a template', name: `template ${index}` },
    message: 'The status changed.',
  }));

it('lists newest first in pages, marks as read up to an instant, and shows nothing to another workspace', async () => {
  const workspace = await api.seedWorkspace();
  const other = await api.seedWorkspace();
  // One millisecond apart, whatever the machine does: notices are marked up to a millisecond.
  for (const [index, notice] of numbered(workspace.workspaceId, 5).entries()) {
    await insertNotices(api.database.pool, [notice]);
    await api.database.pool.query(sql.type(nothing)`
      UPDATE notice SET created_at = date_trunc('milliseconds', now()) - make_interval(secs => (5 - ${index}) * 0.001)
      WHERE workspace_id = ${workspace.workspaceId} AND subject_name = ${notice.subject.name}`);
  }
  const [foreign] = numbered(other.workspaceId, 1);
  if (foreign !== undefined) await insertNotices(api.database.pool, [foreign]);
  await api.database.pool.query(sql.type(nothing)`
    UPDATE notice SET created_at = created_at - interval '1 hour' WHERE workspace_id = ${other.workspaceId}`);

  const first = await read(workspace, '?limit=2');
  const rest = await read(workspace, `?limit=3&cursor=${first.pagination.nextCursor}`);
  const names = [...first.data, ...rest.data].map(
    ({ subject }: { subject: { name: string } }) => subject.name,
  );
  expect(names).toEqual([4, 3, 2, 1, 0].map((index) => `template ${index}`));
  expect(rest.pagination.nextCursor).toBeNull();

  const until = rest.data[0].createdAt;
  const { status } = await api.send('POST', '/api/notices/read', {
    key: workspace.channelKey,
    body: { until },
  });
  expect(status).toBe(200);
  const unread = await read(workspace, '?unread=true');
  expect(unread.data.map(({ subject }: { subject: { name: string } }) => subject.name)).toEqual([
    'template 4',
    'template 3',
  ]);
  const all = await read(workspace);
  expect(all.data.at(-1).readAt).toMatch(/^\d{4}-/);
  expect((await read(other)).data).toMatchObject([{ id: expect.any(String), readAt: null }]);
  const refused = await api.send('POST', '/api/notices/read', { key: workspace.channelKey, body: {} });
  expect(refused.status).toBe(400);
});

it('describes a template’s change of status and its change of category in separate notices', () => {
  const before = { id: 't', name: 'sale', language: 'en', status: 'PENDING', category: 'UTILITY' };
  const after = { ...before, status: 'REJECTED', category: 'MARKETING' };
  expect(templateChanged(1001, before, before, null)).toEqual([]);
  expect(
    templateChanged(1001, before, after, 'INVALID_FORMAT').map(({ kind, message }) => [kind, message]),
  ).toEqual([
    ['template_status', 'The status of the template (en) changed from PENDING to REJECTED: INVALID_FORMAT.'],
    ['template_category', 'The category of the template (en) changed from UTILITY to MARKETING.'],
  ]);
});

it('keeps notices for 90 days', async () => {
  const { workspaceId } = await api.seedWorkspace();
  const { pool } = api.database;
  for (const days of [89, 91])
    await pool.query(sql.type(nothing)`
      INSERT INTO notice (id, workspace_id, kind, subject_type, subject_id, subject_name, message)
      VALUES (uuidv7(make_interval(days => ${-days})), ${workspaceId}, 'template_status', 'template', 't', ${`${days}`}, 'm')`);
  expect(await deleteOldNotices(pool, 100)).toBe(1);
  const left = await rowsOf(
    pool,
    sql.fragment`SELECT subject_name FROM notice WHERE workspace_id = ${workspaceId}`,
  );
  expect(left).toEqual([{ subject_name: '89' }]);
});
