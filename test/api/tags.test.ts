import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const colours = { text_color: '#ffffff', background_color: '#7C3AED' };

async function createTag({ channelKey: key }: SeededWorkspace, body: object) {
  const answer = await api.send('POST', '/api/tags', { key, body });
  expect(answer.status).toBe(201);
  return answer.body.data as { tagId: string; name: string };
}

async function workspaceWithTags(...names: readonly string[]): Promise<SeededWorkspace> {
  const workspace = await api.seedWorkspace();
  for (const name of names) await createTag(workspace, { name, ...colours });
  return workspace;
}

async function namesOf({ channelKey: key }: SeededWorkspace, query = '') {
  const { body } = await api.send('GET', `/api/tags${query}`, { key });
  return body.data.map(({ name }: { name: string }) => name) as string[];
}

describe('GET /api/tags', () => {
  it('answers a page in the order of the names, ten where no limit is given', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `tag ${String(index).padStart(2, '0')}`);
    const workspace = await workspaceWithTags(...names.toReversed());
    const first = await api.send('GET', '/api/tags', { key: workspace.channelKey });
    expect(first.status).toBe(200);
    expect(Object.keys(first.body)).toEqual(['status', 'data', 'pagination']);
    expect(first.body.pagination).toEqual({ page: 1, limit: 10, total: 12, totalPages: 2 });
    expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, 10));
    expect(first.body.data[0]).toEqual({ tagId: expect.any(String), name: 'tag 00', ...colours });
    expect(await namesOf(workspace, '?page=2')).toEqual(names.slice(10));
    expect(await namesOf(workspace, '?page=4&limit=3')).toEqual(names.slice(9));
    const beyond = await api.send('GET', '/api/tags?page=9', { key: workspace.channelKey });
    expect(beyond.body).toEqual({
      status: 'success',
      data: [],
      pagination: { page: 9, limit: 10, total: 12, totalPages: 2 },
    });
  });

  it('counts no pages where there are no tags', async () => {
    const { channelKey: key } = await workspaceWithTags();
    const { body } = await api.send('GET', '/api/tags', { key });
    expect(body.pagination).toEqual({ page: 1, limit: 10, total: 0, totalPages: 0 });
  });

  it.each(['page=0', 'page=-1', 'page=x', 'page=1.5', 'limit=0', 'limit=101', 'limit=', 'page=1&page=2'])(
    'refuses %s',
    async (query) => {
      const { channelKey: key } = await workspaceWithTags();
      const { status, body } = await api.send('GET', `/api/tags?${query}`, { key });
      expect(status).toBe(400);
      expect(body.error[0].field).toBe(query.split('=')[0]);
    },
  );

  describe('with a search', () => {
    let workspace: SeededWorkspace;
    beforeAll(async () => {
      workspace = await workspaceWithTags(
        'VIP customers 2024',
        'VIP',
        'vip-lounge',
        'customer',
        'Ärger',
        'a.b@c.de',
        "O'Brien",
        '🔥 hot',
        'C++',
        'São Paulo',
        'VIP客户',
      );
    });

    it.each([
      ['vip', ['VIP', 'VIP customers 2024', 'VIP客户', 'vip-lounge']],
      ['cust', ['VIP customers 2024', 'customer']],
      ['vip cust', ['VIP customers 2024']],
      ['customers v', ['VIP customers 2024']],
      ['cust vip', []],
      ['vip-lo', ['vip-lounge']],
      ['lounge', ['vip-lounge']],
      ['202', ['VIP customers 2024']],
      ['ärg', ['Ärger']],
      ['a.b@', ['a.b@c.de']],
      ["o'", ["O'Brien"]],
      ['🔥', ['🔥 hot']],
      ['hot', ['🔥 hot']],
      ['c+', ['C++', 'VIP customers 2024', 'customer']],
      ['arger', ['Ärger']],
      ['sao', ['São Paulo']],
      ['PAULO', ['São Paulo']],
      ['sao pau', ['São Paulo']],
      ['客户', ['VIP客户']],
      ['客', ['VIP客户']],
      ['***', []],
      ["') | 'x", []],
      ['& | ! <-> :*', []],
      [String.raw`\ '`, []],
    ])('finds by %j', async (search, expected) => {
      const query = new URLSearchParams({ search });
      expect(await namesOf(workspace, `?${query.toString()}`)).toEqual(expected);
    });
  });

  it('ignores a blank search', async () => {
    const workspace = await workspaceWithTags('one', 'two');
    expect(await namesOf(workspace, '?search=%20')).toEqual(['one', 'two']);
  });

  it('finds by the creating user', async () => {
    const workspace = await workspaceWithTags('of the key');
    await createTag(workspace, { name: 'of a user', createdBy: 'user-17', ...colours });
    expect(await namesOf(workspace, '?createdBy=user-17')).toEqual(['of a user']);
    const [, keyId] = workspace.channelKey.split('_');
    expect(await namesOf(workspace, `?createdBy=${keyId}`)).toEqual(['of the key']);
    expect(await namesOf(workspace, '?createdBy=nobody')).toEqual([]);
  });

  it('shows a workspace its own tags only', async () => {
    await workspaceWithTags('mine');
    expect(await namesOf(await workspaceWithTags('yours'))).toEqual(['yours']);
  });
});

describe('a tag', () => {
  it('is read, changed in part and deleted', async () => {
    const workspace = await workspaceWithTags();
    const key = workspace.channelKey;
    const tag = await createTag(workspace, { name: 'VIP', ...colours });
    const path = `/api/tags/${tag.tagId}`;
    expect((await api.send('GET', path, { key })).body).toEqual({ status: 'success', data: tag });
    const changed = await api.send('PUT', path, { key, body: { text_color: '#000000' } });
    expect(changed.body).toEqual({
      status: 'success',
      message: 'Tag updated successfully',
      data: { ...tag, text_color: '#000000' },
    });
    const deleted = await api.send('DELETE', path, { key });
    expect(deleted.body).toEqual({ status: 'success', message: 'Tag deleted successfully' });
    for (const method of ['GET', 'DELETE']) {
      expect((await api.send(method, path, { key })).status).toBe(404);
    }
  });

  it('gets colours where none are given', async () => {
    const tag = await createTag(await workspaceWithTags(), { name: 'plain' });
    expect(tag).toMatchObject({ text_color: expect.stringMatching(/^#[0-9a-f]{6}$/) });
  });

  it.each([
    [{ ...colours }, 'name'],
    [{ name: '', ...colours }, 'name'],
    [{ name: ' \u00a0', ...colours }, 'name'],
    [{ name: 'x'.repeat(256), ...colours }, 'name'],
    [{ name: 'x', ...colours, text_color: 'red' }, 'text_color'],
    [{ name: 'x', ...colours, background_color: '#fff' }, 'background_color'],
    [{ name: 'x', ...colours, createdBy: 7 }, 'createdBy'],
  ])('is refused when it is %j', async (body, field) => {
    const { channelKey: key } = await workspaceWithTags();
    const answer = await api.send('POST', '/api/tags', { key, body });
    expect(answer.status).toBe(400);
    expect(answer.body.error.map((problem: { field: string }) => problem.field)).toEqual([field]);
  });

  it('is not there for another workspace', async () => {
    const tag = await createTag(await workspaceWithTags(), { name: 'VIP', ...colours });
    const { workspaceKey: key } = await workspaceWithTags();
    const path = `/api/tags/${tag.tagId}`;
    expect((await api.send('GET', path, { key })).status).toBe(404);
    expect((await api.send('PUT', path, { key, body: {} })).body.message).toBe('Tag not found');
    expect((await api.send('DELETE', path, { key })).status).toBe(404);
  });
});
