/** A sync over HTTP on both sides, against a provider that pages, breaks off and changes its mind. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { eventsOf, subscribeToAll } from '../support/callback-fixtures.ts';
import { graphRefused, startGraphServer, type GraphServer } from '../support/graph-server.ts';

let api: TestApi;
let graph: GraphServer;
let workspaceId: number;
let key: string;
let accounts = 0;

beforeAll(async () => {
  graph = await startGraphServer();
  api = await startTestApi({
    dependencies: {
      provider: createCloudProvider({ baseUrl: graph.baseUrl, connections: 4, timeoutMs: 5_000 }),
    },
  });
});
afterAll(async () => {
  await api.dependencies.provider.close();
  await api.close();
  await graph.close();
});

beforeEach(async () => {
  ({ workspaceId } = await createWorkspace(api.dependencies, { name: 'Sync' }));
  accounts += 1;
  await createChannel(api.dependencies, {
    workspaceId,
    businessAccountId: `10${accounts}`,
    phoneNumberId: `20${accounts}`,
    displayPhoneNumber: '+49 30 1234567',
    accessToken: 'EAAtest',
  });
  key = (await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' })).apiKey;
  await subscribeToAll(api.dependencies.database, workspaceId);
});

const template = (name: string, rest: object = {}) => ({
  id: `${accounts}00${name.charCodeAt(0)}`,
  name,
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hi' }],
  ...rest,
});

const sync = () => api.send('POST', '/api/templates/sync', { key });

async function listed(): Promise<readonly string[]> {
  const { body } = await api.send('GET', '/api/templates?limit=100', { key });
  return (body.data as { name: string; status: string }[]).map(({ name, status }) => `${name} ${status}`);
}

const listEvents = async () =>
  (await eventsOf(api.dependencies.database, workspaceId)).map(
    ({ eventKey, data }) => `${eventKey} ${data.name} ${data.newStatus}`,
  );

describe('POST /api/templates/sync', () => {
  it('goes through every page, an empty one too, and changes nothing the second time', async () => {
    graph.templatePages = [[template('a'), template('b')], [], [template('c')]];
    expect(await sync()).toMatchObject({ status: 200, body: { data: { synced: 3, added: 3, changed: 0 } } });
    expect(await sync()).toMatchObject({ status: 200, body: { data: { synced: 3, added: 0, changed: 0 } } });
    expect(await listed()).toEqual(['a APPROVED', 'b APPROVED', 'c APPROVED']);
    expect(await listEvents()).toEqual([]);
  });

  it('marks templates that the provider no longer has, restores them, and emits an event for each change', async () => {
    graph.templatePages = [[template('a')], [template('b')]];
    await sync();
    graph.templatePages = [[template('a')]];
    expect(await sync()).toMatchObject({ body: { data: { synced: 1, added: 0, changed: 1 } } });
    expect(await listed()).toEqual(['a APPROVED', 'b DELETED']);
    graph.templatePages = [[template('a'), template('b')]];
    await sync();
    expect(await listed()).toEqual(['a APPROVED', 'b APPROVED']);
    expect(await listEvents()).toEqual(['template b DELETED', 'template b APPROVED']);
  });

  it.each([
    ['breaks off', 'drop' as const, 502],
    ['answers with a page of HTML', { status: 500, body: '<html>' }, 502],
    ['answers with something else', { status: 200, body: { data: 'none' } }, 502],
    ['refuses the token', graphRefused(190, 401), 400],
  ])('keeps the first page and loses nothing when the provider %s', async (_, trouble, status) => {
    graph.templatePages = [[template('a')], [template('b')]];
    await sync();
    graph.templatePages = [[template('a', { status: 'PAUSED' })], trouble];
    expect((await sync()).status).toBe(status);
    expect(await listed()).toEqual(['a PAUSED', 'b APPROVED']);
    graph.templatePages = [[template('a')], [template('b')]];
    expect(await sync()).toMatchObject({ status: 200, body: { data: { synced: 2, changed: 1 } } });
    expect(await listEvents()).toEqual(['template a PAUSED', 'template a APPROVED']);
  });
});
