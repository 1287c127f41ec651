import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRequestRecorder, loggedPath } from '../../src/api/frame/request-recorder.ts';
import { deleteOldRequests } from '../../src/records/operations/requests.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const list = async ({ workspaceKey }: SeededWorkspace, search = '') =>
  (await api.send('GET', `/api/requests${search}`, { key: workspaceKey })).body.data as Record<
    string,
    unknown
  >[];

/** Reads the log until it has the wanted number of requests. */
async function logged(workspace: SeededWorkspace, count: number, search = '') {
  await expect.poll(() => list(workspace, search)).toHaveLength(count);
  return list(workspace, search);
}

it('has each request of a key with its answer, and neither numbers nor secrets', async () => {
  const workspace = await api.seedWorkspace();
  const key = workspace.channelKey;
  const id = randomUUID();
  await api.send('GET', `/api/contacts?search=4915112345678`, { key, headers: { 'X-Request-Id': 'first' } });
  await api.send('GET', `/api/contacts/${id}`, { key });
  await api.send('GET', '/api/campaigns/csv-files/+4915112345678', { key });
  await api.send('POST', '/api/tags', { key, body: { name: '' } });
  await api.send('GET', '/api/tags', { key: 'wrong' });
  const found = await logged(workspace, 4);
  expect(found.map(({ method, path, status, error_code }) => [method, path, status, error_code])).toEqual([
    ['POST', '/api/tags', 400, 'validation_failed'],
    ['GET', '/api/campaigns/csv-files/:key', 404, 'not_found'],
    ['GET', `/api/contacts/${id}`, 404, 'not_found'],
    ['GET', '/api/contacts', 200, null],
  ]);
  expect(found[3]).toMatchObject({ request_id: 'first', key_id: key.split('_')[1] });
  expect(JSON.stringify(found)).not.toContain('4915112345678');

  const failed = await logged(workspace, 3, '?failed=true');
  expect(failed).toHaveLength(3);
  expect(await list(workspace, '?key_id=none')).toEqual([]);
  expect(await list(await api.seedWorkspace())).toEqual([]);
});

it('is kept for seven days', async () => {
  const workspace = await api.seedWorkspace();
  await query(
    api.database,
    `INSERT INTO request_log (id, workspace_id, key_id, at, method, path, status, request_id, duration_ms)
     SELECT uuidv7(-make_interval(days => days)), $1, 'k', now() - make_interval(days => days), 'GET', '/api/tags', 200, 'r', 1
     FROM unnest(ARRAY[6, 8]) AS days`,
    [workspace.workspaceId],
  );
  await deleteOldRequests(api.database.pool, 100);
  const { at } = (await logged(workspace, 1))[0] as { at: string };
  expect(Date.now() - Date.parse(at)).toBeLessThan(7 * 86_400_000);
  expect(await query(api.database, `SELECT FROM request_log WHERE request_id = 'r'`)).toHaveLength(1);
});

it('costs a bounded amount of memory while the database does not answer, and no request fails', async () => {
  const warnings: unknown[] = [];
  const statements: unknown[] = [];
  const recorder = createRequestRecorder({
    database: {
      query: async (statement: unknown) => {
        statements.push(statement);
        throw new Error('no database');
      },
    } as never,
    logger: { warn: (line: unknown) => warnings.push(line) } as never,
  });
  const request = {
    workspaceId: 1,
    key_id: 'k',
    at: new Date(),
    method: 'GET',
    path: '/api/tags',
    status: 200,
  };
  const rest = { error_code: null, request_id: 'r', duration_ms: 1 };
  for (let sent = 0; sent < 5_100; sent += 1) recorder.record({ ...request, ...rest });
  await recorder.flush();
  expect(statements).toHaveLength(10);
  const total = warnings.reduce<number>((sum, line) => sum + (line as { dropped: number }).dropped, 0);
  expect(total).toBe(5_100);
});

it('keeps of a path only its ids', () => {
  const id = randomUUID();
  expect(loggedPath('/api/external-webhooks/:id/deliveries', `/api/external-webhooks/${id}/deliveries`)).toBe(
    `/api/external-webhooks/${id}/deliveries`,
  );
  expect(loggedPath('/api/contacts/:id', '/api/contacts/+491701234567')).toBe('/api/contacts/:id');
});
