import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const conditions = [
  { field: 'custom.city', operator: 'in', value: ['Berlin', 'Bonn'] },
  { field: 'email', operator: 'exists' },
];

const create = ({ channelKey: key }: SeededWorkspace, body: object) =>
  api.send('POST', '/api/segments', { key, body });

describe('a segment', () => {
  it('is created, read, changed in part and deleted', async () => {
    const workspace = await api.seedWorkspace();
    const key = workspace.channelKey;
    const created = await create(workspace, { name: 'Rhineland', match: 'any', conditions });
    expect(created.status).toBe(201);
    const segment = created.body.data;
    expect(segment).toEqual({
      id: expect.any(String),
      name: 'Rhineland',
      match: 'any',
      conditions,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: expect.stringMatching(/\.\d{3}Z$/),
    });
    const path = `/api/segments/${segment.id}`;
    expect((await api.send('GET', path, { key })).body).toEqual({ status: 'success', data: segment });
    const changed = await api.send('PUT', path, { key, body: { match: 'all' } });
    expect(changed.body.data).toEqual({
      ...segment,
      match: 'all',
      updated_at: changed.body.data.updated_at,
    });
    const emptied = await api.send('PUT', path, { key, body: { conditions: conditions.slice(1) } });
    expect(emptied.body.data.conditions).toEqual(conditions.slice(1));
    const deleted = await api.send('DELETE', path, { key });
    expect(deleted.body).toEqual({ status: 'success', message: 'Segment deleted successfully' });
    expect((await api.send('GET', path, { key })).status).toBe(404);
  });

  it('matches all conditions where it does not say', async () => {
    const created = await create(await api.seedWorkspace(), { name: 'x', conditions });
    expect(created.body.data.match).toBe('all');
  });

  it.each([
    [{ conditions }, 'name'],
    [{ name: ' ', conditions }, 'name'],
    [{ name: 'x' }, 'conditions'],
    [{ name: 'x', conditions: [] }, 'conditions'],
    [{ name: 'x', conditions: Array(51).fill(conditions[1]) }, 'conditions'],
    [{ name: 'x', match: 'some', conditions }, 'match'],
    [{ name: 'x', conditions: [{ operator: 'exists' }] }, 'conditions.0.field'],
    [{ name: 'x', conditions: [...conditions, { field: 'shoe', operator: 'exists' }] }, 'conditions.2.field'],
    [{ name: 'x', conditions: [{ field: 'email', operator: 'like', value: 'a' }] }, 'conditions.0.operator'],
    [{ name: 'x', conditions: [{ field: 'email', operator: 'eq' }] }, 'conditions.0.value'],
  ])('is refused when it is %j', async (body, field) => {
    const answer = await create(await api.seedWorkspace(), body);
    expect(answer.status).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
  });

  it('is not there for another workspace', async () => {
    const { body } = await create(await api.seedWorkspace(), { name: 'x', conditions });
    const { workspaceKey: key } = await api.seedWorkspace();
    const path = `/api/segments/${body.data.id}`;
    expect((await api.send('GET', path, { key })).status).toBe(404);
    expect((await api.send('PUT', path, { key, body: { name: 'y' } })).body.message).toBe(
      'Segment not found',
    );
    expect((await api.send('DELETE', path, { key })).status).toBe(404);
    expect((await api.send('GET', '/api/segments', { key })).body.data).toEqual([]);
  });
});

describe('GET /api/segments', () => {
  it('answers pages in the order of the names', async () => {
    const workspace = await api.seedWorkspace();
    for (const name of ['c', 'a', 'b']) await create(workspace, { name, conditions });
    const { body } = await api.send('GET', '/api/segments?limit=2&page=2', { key: workspace.channelKey });
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['c']);
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 3, totalPages: 2 });
  });
});
