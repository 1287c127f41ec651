import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'slonik';
import { nothing } from '../../src/records/database/row.ts';
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

  it('matches all conditions by default', async () => {
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

  it('stores no value that its operator ignores', async () => {
    const idle = { field: 'email', operator: 'exists', value: Array.from({ length: 5_000 }, () => ({})) };
    const created = await create(await api.seedWorkspace(), { name: 'x', conditions: [idle] });
    expect(created.status).toBe(201);
    expect(created.body.data.conditions).toEqual([{ field: 'email', operator: 'exists' }]);
  });

  it('takes 64 KiB of conditions, and not one byte more', async () => {
    const workspace = await api.seedWorkspace();
    const of = (length: number) => {
      const value = Array.from({ length: 81 }, () => 'a'.repeat(800));
      return [{ field: 'email', operator: 'in', value: [...value, 'a'.repeat(length)] }];
    };
    const most = 64 * 1024 - JSON.stringify(of(0)).length;
    expect((await create(workspace, { name: 'x', conditions: of(most) })).status).toBe(201);
    const refused = await create(workspace, { name: 'x', conditions: of(most + 1) });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe('conditions must not be larger than 65536 bytes');
  });

  it('is refused beyond a thousand in a workspace', async () => {
    const workspace = await api.seedWorkspace();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO segment (workspace_id, name, match, conditions)
      SELECT ${workspace.workspaceId}, 'n', 'all', '[]' FROM generate_series(1, 999)`);
    const both = await Promise.all(['x', 'y'].map((name) => create(workspace, { name, conditions })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    expect(both.find(({ status }) => status === 400)?.body.message).toBe(
      'A workspace has at most 1000 segments: delete one',
    );
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

describe('a list by pages', () => {
  it.each(['tags', 'segments', 'campaigns', 'conversations', 'external-webhooks'])(
    'of %s refuses what lies deeper than 100,000 rows',
    async (name) => {
      const { workspaceKey: key } = await api.seedWorkspace();
      const answer = (page: number) => api.send('GET', `/api/${name}?page=${page}&limit=100`, { key });
      expect((await answer(1_000)).status).toBe(200);
      const refused = await answer(1_001);
      expect(refused.status).toBe(400);
      expect(refused.body.message).toMatch(/^page × limit must be at most 100000: narrow the list by /);
    },
  );

  it('counts all tags, but at most 10,000 conversations', async () => {
    const { workspaceId, channelId, workspaceKey: key } = await api.seedWorkspace();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
      SELECT ${workspaceId}, 'tag ' || n, '#000000', '#ffffff', 'test' FROM generate_series(1, 10005) AS n`);
    await api.database.pool.query(sql.type(nothing)`
      WITH person AS (
        INSERT INTO contact (workspace_id, phone_number, country_code, source)
        SELECT ${workspaceId}, 49151000000 + n, '49', 'api' FROM generate_series(1, 10005) AS n RETURNING id
      )
      INSERT INTO conversation (workspace_id, channel_id, contact_id)
      SELECT ${workspaceId}, ${channelId}, id FROM person`);
    const totalOf = async (name: string) =>
      (await api.send('GET', `/api/${name}?limit=100`, { key })).body.pagination;
    expect(await totalOf('tags')).toMatchObject({ total: 10_005, totalPages: 101 });
    expect(await totalOf('conversations')).toMatchObject({ total: 10_000, totalPages: 100 });
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

describe('a condition on other segments and campaigns', () => {
  const named = (name: string, ...given: object[]) => ({ name, conditions: given });
  const segmentIn = (...value: string[]) => ({ field: 'segment', operator: 'in', value });

  it('is refused if it names none of this workspace', async () => {
    const workspace = await api.seedWorkspace();
    const other = await create(await api.seedWorkspace(), { name: 'x', conditions });
    for (const id of [other.body.data.id, randomUUID()])
      expect((await create(workspace, named('y', segmentIn(id)))).body).toMatchObject({
        code: 400,
        error: [
          {
            field: 'conditions.0.value',
            message: `conditions.0: ${id} is not a segment of this workspace: GET /api/segments lists them`,
          },
        ],
      });
    const field = `campaign.${randomUUID()}`;
    const body = named('y', { field, operator: 'in', value: ['READ'] });
    expect((await create(workspace, body)).body).toMatchObject({
      code: 400,
      error: [
        {
          field: 'conditions.0.field',
          message: expect.stringContaining('is not a campaign of this workspace'),
        },
      ],
    });
    const counted = await api.send('POST', '/api/segments/count', {
      key: workspace.channelKey,
      body: { conditions: body.conditions },
    });
    expect(counted.status).toBe(400);
  });

  it('cannot lead back to its own segment, and keeps the other one from being deleted', async () => {
    const workspace = await api.seedWorkspace();
    const { channelKey: key } = workspace;
    const first = (await create(workspace, named('first', conditions[1] as object))).body.data.id;
    const second = (await create(workspace, named('second', segmentIn(first)))).body.data.id;
    const third = (await create(workspace, named('third', segmentIn(second.toUpperCase())))).body.data.id;
    for (const id of [first, second, third])
      expect(
        (await api.send('PUT', `/api/segments/${first}`, { key, body: { conditions: [segmentIn(id)] } }))
          .body,
      ).toMatchObject({
        code: 400,
        error: [
          {
            field: 'conditions.0.value',
            message: 'conditions.0: a segment cannot name itself, nor a segment that leads back to it',
          },
        ],
      });
    expect(await api.send('DELETE', `/api/segments/${second}`, { key })).toMatchObject({
      status: 409,
      body: { message: 'The segment "third" has a condition on this segment: change that first' },
    });
    expect((await api.send('DELETE', `/api/segments/${third}`, { key })).status).toBe(200);
    expect((await api.send('DELETE', `/api/segments/${second}`, { key })).status).toBe(200);
  });

  it('counts what it names each time, and goes five levels deep at most', async () => {
    const workspace = await api.seedWorkspace();
    const times = (count: number, condition: object) => Array.from({ length: count }, () => condition);
    const one = await create(workspace, named('one', ...times(50, conditions[1] as object)));
    const two = await create(workspace, named('two', ...times(50, segmentIn(one.body.data.id))));
    expect(two.status).toBe(201);
    const three = await create(workspace, named('three', ...times(50, segmentIn(two.body.data.id))));
    expect(three.body).toMatchObject({
      code: 400,
      error: [{ message: 'The segments that the conditions name come to more than 10,000 conditions' }],
    });
    let inner = (await create(workspace, named('0', conditions[1] as object))).body.data.id;
    for (const name of ['1', '2', '3', '4', '5'])
      inner = (await create(workspace, named(name, segmentIn(inner)))).body.data.id;
    expect((await create(workspace, named('6', segmentIn(inner)))).body).toMatchObject({
      code: 400,
      error: [{ message: 'The segments that the conditions name are nested more than 5 levels deep' }],
    });
  });

  it('counts and lists the contacts of the other segment', async () => {
    const workspace = await api.seedWorkspace();
    const { channelKey: key } = workspace;
    for (const [phoneNumber, firstName] of [
      ['+4915112345670', 'Ada'],
      ['+12025550123', 'Bo'],
    ])
      await api.send('POST', '/api/contacts', { key, body: { phoneNumber, firstName } });
    const german = await create(
      workspace,
      named('German', { field: 'Country', operator: 'eq', value: 'de' }),
    );
    expect(german.body.data.conditions[0].field).toBe('country');
    const body = { conditions: [{ field: 'segment', operator: 'not_in', value: [german.body.data.id] }] };
    const counted = await api.send('POST', '/api/segments/count', { key, body });
    expect(counted.body.data).toEqual({ count: 1, subscribed: 1 });
    const others = await create(workspace, { name: 'Others', ...body });
    const listed = await api.send('GET', `/api/contacts?segment=${others.body.data.id}`, { key });
    expect(listed.body.data.map(({ firstName }: { firstName: string }) => firstName)).toEqual(['Bo']);
  });
});
