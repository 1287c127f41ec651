import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, revokeApiKey } from '../../../../src/commands/workspaces/api-keys.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../../support/api.ts';
import { echoEndpoints } from '../../../support/echo-endpoints.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let clockMs = Date.now();

beforeAll(async () => {
  api = await startTestApi({ endpoints: echoEndpoints, dependencies: { now: () => new Date(clockMs) } });
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const unauthorized = 'Unauthorized access: Invalid or missing authentication credentials.';
const restricted = 'This endpoint is restricted to API key usage only';

function jwt(signature = 'c2lnbmF0dXJl'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256' })}.${part({ sub: '1' })}.${signature}`;
}

/** The same key with another last character of its secret, and the checksum of the original. */
const mistyped = (key: string) =>
  key.replace(/.(_.{6})$/, (_, rest: string) => `${key.at(-8) === 'a' ? 'b' : 'a'}${rest}`);

it('passes workspace, channel and scope of the key to the handler', async () => {
  const response = await api.send('GET', '/api/notes', { key: workspace.channelKey });
  expect(response.body.data.principal).toEqual({
    workspaceId: workspace.workspaceId,
    keyId: workspace.channelKey.split('_')[1],
    scope: 'channel',
    channelId: workspace.channelId,
  });
});

describe('answers the same 401', () => {
  it.each([
    ['without a credential', () => ({})],
    ['to an empty key', () => ({ 'X-API-Key': '' })],
    ['to something that is no key', () => ({ 'X-API-Key': 'nonsense' })],
    ['to a mistyped key', () => ({ 'X-API-Key': mistyped(workspace.channelKey) })],
    ['to a key in Authorization', () => ({ Authorization: `Bearer ${workspace.channelKey}` })],
    ['to a JWT', () => ({ Authorization: `Bearer ${jwt()}` })],
    ['to a JWT in place of the key', () => ({ 'X-API-Key': jwt() })],
  ])('%s', async (_, headers) => {
    const response = await api.send('GET', '/api/notes', { headers: headers() as Record<string, string> });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('ApiKey header="X-API-Key"');
    expect(response.body).toEqual({
      status: 'error',
      code: 401,
      error_code: 'unauthorized',
      message: unauthorized,
      timestamp: new Date(clockMs).toISOString(),
    });
  });

  it('to a key of another installation', async () => {
    const other = { ...api.dependencies, config: { keyPeppers: ['another pepper altogether'] } };
    const { apiKey } = await createApiKey(other, { workspaceId: workspace.workspaceId, scope: 'workspace' });
    expect((await api.send('GET', '/api/notes', { key: apiKey })).status).toBe(401);
  });
});

describe('on an endpoint for keys only', () => {
  const send = (headers: Record<string, string>) =>
    api.send('POST', '/api/notes/broadcast', { body: { name: 'n' }, headers });

  it.each([
    ['as bearer', () => ({ Authorization: `Bearer ${jwt()}` })],
    ['with an empty signature', () => ({ Authorization: `bearer ${jwt('')}` })],
    ['as key', () => ({ 'X-API-Key': jwt() })],
    ['beside a wrong key', () => ({ 'X-API-Key': 'nonsense', Authorization: `Bearer ${jwt()}` })],
  ])('a JWT %s is refused with the message for JWTs', async (_, headers) => {
    const response = await send(headers() as Record<string, string>);
    expect(response.status).toBe(401);
    expect(response.body.message).toBe(restricted);
  });

  it('a JWT beside a valid key is ignored', async () => {
    const response = await send({ 'X-API-Key': workspace.channelKey, Authorization: `Bearer ${jwt()}` });
    expect(response.status).toBe(200);
  });

  it('any other credential is refused with the general message', async () => {
    for (const token of ['a.b.c', `${Buffer.from('{}').toString('base64url')}.e30.x`, 'opaque']) {
      expect((await send({ Authorization: `Bearer ${token}` })).body.message).toBe(unauthorized);
    }
  });
});

it.each([
  ['operator', 'channelKey', 401],
  ['operator', 'workspaceKey', 401],
  ['operator', 'operatorKey', 200],
  ['channel', 'channelKey', 200],
  ['channel', 'workspaceKey', 200],
  ['channel', 'operatorKey', 401],
] as const)('an endpoint for a %s key answers a %s with %d', async (access, name, status) => {
  const path = access === 'operator' ? '/api/notes/fund' : '/api/notes/broadcast';
  const response = await api.send('POST', path, { key: workspace[name], body: { name: 'n' } });
  expect(response.status).toBe(status);
  if (status === 401) expect(response.body.message).toBe(unauthorized);
});

it('accepts a revoked key for less than five seconds', async () => {
  const { workspaceId } = workspace;
  const { keyId, apiKey } = await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' });
  expect((await api.send('GET', '/api/notes', { key: apiKey })).status).toBe(200);
  await revokeApiKey(api.dependencies, { keyId });
  clockMs += 4_500;
  expect((await api.send('GET', '/api/notes', { key: apiKey })).status).toBe(401);
});

it('accepts a key at once that another process created', async () => {
  const other = await startTestApi({ endpoints: echoEndpoints, database: api.database });
  const { apiKey } = await createApiKey(api.dependencies, {
    workspaceId: workspace.workspaceId,
    scope: 'workspace',
  });
  expect((await other.send('GET', '/api/notes', { key: apiKey })).status).toBe(200);
  await other.close();
});

it('records the use of a key at most once in five minutes', async () => {
  const { workspaceId } = workspace;
  const { keyId, apiKey } = await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' });
  const writes = await countWrites(keyId, async () => {
    for (let count = 0; count < 5; count += 1) await api.send('GET', '/api/notes', { key: apiKey });
    clockMs += 60_000;
    await api.send('GET', '/api/notes', { key: apiKey });
  });
  expect(writes).toBe(1);
});

/** How often the row was written: every write makes a new row version. */
async function countWrites(keyId: string, work: () => Promise<void>): Promise<number> {
  const client = new pg.Client({ connectionString: api.database.ownerUrl });
  await client.connect();
  await client.query(`CREATE TABLE key_write (key_id text);
    GRANT INSERT ON key_write TO PUBLIC;
    CREATE FUNCTION note_key_write() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO key_write VALUES (NEW.key_id); RETURN NEW; END $$;
    CREATE TRIGGER key_write AFTER UPDATE ON api_key FOR EACH ROW EXECUTE FUNCTION note_key_write()`);
  try {
    await work();
    const count = async () => {
      const { rows } = await client.query('SELECT count(*)::int AS writes FROM key_write WHERE key_id = $1', [
        keyId,
      ]);
      return Number(rows[0].writes);
    };
    await expect.poll(count).toBeGreaterThan(0);
    return await count();
  } finally {
    await client.query('DROP TRIGGER key_write ON api_key');
    await client.end();
  }
}
