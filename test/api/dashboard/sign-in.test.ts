/** Signing in to the dashboard: what it gives, and every way in that must be closed. */
import { createHash } from 'node:crypto';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, createSignInLink } from '../../../src/commands/workspaces/api-keys.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { listAuditEntries } from '../../../src/records/operations/audit.ts';
import { revokeApiKey } from '../../../src/records/workspaces/api-keys.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const own = { 'Sec-Fetch-Site': 'same-origin' };
const ask = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
  base = api.baseUrl,
) =>
  fetch(`${base}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const signIn = (body: object, headers: Record<string, string> = own) =>
  ask('POST', '/dashboard/session', headers, body);
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? '';
const enter = async (key = workspace.channelKey) => ({
  ...own,
  Cookie: cookieOf(await signIn({ api_key: key })),
});
const keyIdOf = (key: string) => key.split('_')[1] ?? '';
const hashOf = ({ Cookie }: { readonly Cookie: string }) =>
  createHash('sha256')
    .update(Cookie.split('=')[1] ?? '')
    .digest();
const change = (statement: ReturnType<typeof sql.fragment>) =>
  api.database.pool.query(sql.type(nothing)`${statement}`);

describe('a session', () => {
  it('begins with a key, and has the rights of the key', async () => {
    const response = await signIn({ api_key: workspace.channelKey });
    expect(response.status).toBe(204);
    const session = { ...own, Cookie: cookieOf(response) };
    expect(await (await ask('GET', '/dashboard/session', session)).json()).toEqual({
      workspaceId: workspace.workspaceId,
      workspaceName: expect.any(String),
      keyId: workspace.channelKey.split('_')[1],
      channelId: workspace.channelId,
      scope: 'channel',
      operator: false,
      expiresAt: expect.any(String),
      local: true,
      workflowsUrl: null,
    });
    expect((await ask('GET', '/dashboard/api/campaigns', session)).status).toBe(200);
    expect((await ask('GET', '/dashboard/api/nothing', session)).status).toBe(404);
  });

  it('shows the address of Temporal’s Web UI, which shows every workspace, to operators alone', async () => {
    const ofProduction = await startTestApi({
      config: { production: true, temporalUiUrl: 'https://temporal.example' },
    });
    const { channelKey, operatorKey } = await ofProduction.seedWorkspace();
    const shownTo = async (apiKey: string) => {
      const entered = await ask('POST', '/dashboard/session', own, { api_key: apiKey }, ofProduction.baseUrl);
      const session = { ...own, Cookie: cookieOf(entered) };
      const read = await ask('GET', '/dashboard/session', session, undefined, ofProduction.baseUrl);
      return ((await read.json()) as { readonly workflowsUrl: string | null }).workflowsUrl;
    };
    expect(await shownTo(channelKey)).toBeNull();
    expect(await shownTo(operatorKey)).toBe('https://temporal.example/namespaces/default/workflows');
    await ofProduction.close();
  });

  it('ends by signing out', async () => {
    const session = await enter();
    const response = await ask('DELETE', '/dashboard/session', session);
    expect(response.status).toBe(204);
    expect(response.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await ask('GET', '/dashboard/api/campaigns', session)).status).toBe(401);
  });

  it('recharges with the key of an operator of the same workspace alone', async () => {
    const session = await enter();
    const recharge = () =>
      ask('POST', '/dashboard/api/wallet/recharge', session, {
        channel_id: workspace.channelId,
        amount: '1',
      });
    expect((await recharge()).status).toBe(401);
    const stranger = await api.seedWorkspace();
    for (const key of [workspace.workspaceKey, stranger.operatorKey, 'nonsense']) {
      expect((await ask('PUT', '/dashboard/session/operator', session, { api_key: key })).status).toBe(401);
    }
    const { apiKey } = await createApiKey(api.dependencies, {
      workspaceId: workspace.workspaceId,
      scope: 'operator',
    });
    expect((await ask('PUT', '/dashboard/session/operator', session, { api_key: apiKey })).status).toBe(204);
    expect((await recharge()).status).toBe(200);
    await revokeApiKey(api.database.pool, keyIdOf(apiKey));
    expect((await recharge()).status).toBe(401);
    const add = async () =>
      (await ask('PUT', '/dashboard/session/operator', session, { api_key: workspace.operatorKey })).status;
    expect([await add(), (await recharge()).status]).toEqual([204, 200]);
    expect((await ask('DELETE', '/dashboard/session/operator', session)).status).toBe(204);
    expect((await recharge()).status).toBe(401);
    expect([await add(), (await recharge()).status]).toEqual([204, 200]);
    await change(sql.fragment`UPDATE operator_session SET operator_until = operator_until - interval '15 minutes'
      WHERE id_hash = ${sql.binary(hashOf(session))}`);
    expect((await recharge()).status).toBe(401);
    expect((await ask('GET', '/dashboard/api/campaigns', session)).status).toBe(200);
  });
});

describe('a session among others', () => {
  it('ends when the browser signs in again', async () => {
    const first = await enter();
    const second = { ...own, Cookie: cookieOf(await signIn({ api_key: workspace.workspaceKey }, first)) };
    const status = async (session: typeof first) => (await ask('GET', '/dashboard/session', session)).status;
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    expect((await signIn({ api_key: 'nonsense' }, second)).status).toBe(401);
    expect(await status(second)).toBe(200);
  });

  it('ends first, as the least recently used, when its key has too many', async () => {
    const { apiKey, keyId } = await createApiKey(api.dependencies, {
      workspaceId: workspace.workspaceId,
      scope: 'workspace',
    });
    const first = await enter(apiKey);
    await change(sql.fragment`UPDATE operator_session SET seen_at = now() - interval '1 minute'
      WHERE key_id = ${keyId}`);
    const second = await enter(apiKey);
    for (let signedIn = 2; signedIn < 51; signedIn += 1) await signIn({ api_key: apiKey });
    const status = async (session: typeof first) => (await ask('GET', '/dashboard/session', session)).status;
    expect([await status(first), await status(second)]).toEqual([401, 200]);
  });

  it('is not extended by the page’s automatic requests', async () => {
    const session = await enter();
    const idle = sql.fragment`UPDATE operator_session SET seen_at = now() - interval '29 minutes'
      WHERE id_hash = ${sql.binary(hashOf(session))}`;
    await change(idle);
    const minutesIdle = () =>
      api.database.pool.oneFirst(sql.type(row(t.type({ minutes: t.number })))`
        SELECT (extract(epoch FROM now() - seen_at) / 60)::int AS minutes FROM operator_session
        WHERE id_hash = ${sql.binary(hashOf(session))}`);
    for (const header of [{ 'X-Automatic': '1' }, { Accept: 'text/event-stream' }]) {
      await ask('GET', '/dashboard/api/campaigns', { ...session, ...header });
      expect(await minutesIdle()).toBe(29);
    }
    await ask('GET', '/dashboard/api/campaigns', session);
    expect(await minutesIdle()).toBe(0);
  });

  it('writes audit entries for sign-ins, links, operator keys and sign-outs', async () => {
    const { workspaceId, channelKey, operatorKey } = await api.seedWorkspace();
    const { url } = await createSignInLink(api.dependencies, { keyId: keyIdOf(channelKey), origin: '' });
    const entered = await signIn({ token: url.split('#token=')[1] });
    const session = { ...own, Cookie: cookieOf(entered) };
    await ask('PUT', '/dashboard/session/operator', session, { api_key: operatorKey });
    await ask('DELETE', '/dashboard/session/operator', session);
    await ask('DELETE', '/dashboard/session/operator', session);
    await ask('DELETE', '/dashboard/session', session);
    await ask('DELETE', '/dashboard/session', session);
    const entries = await listAuditEntries(api.database.pool, workspaceId, { before: undefined, limit: 5 });
    const key = keyIdOf(channelKey);
    expect(entries.map(({ action, key_id, object_id }) => [action, key_id, object_id])).toEqual([
      ['session.end', key, key],
      ['session.remove-operator', key, keyIdOf(operatorKey)],
      ['session.add-operator', key, keyIdOf(operatorKey)],
      ['session.create', key, key],
      ['sign-in-link.create', key, key],
    ]);
  });
});

it('refuses invented cookies and links before Postgres is asked, without refusing a valid session', async () => {
  const limited = await startTestApi({ database: api.database, config: { rateLimitPerSecond: 5 } });
  try {
    const base = limited.baseUrl;
    const signedIn = await ask('POST', '/dashboard/session', own, { api_key: workspace.workspaceKey }, base);
    const session = { ...own, Cookie: cookieOf(signedIn) };
    const readSession = () => ask('GET', '/dashboard/session', session, undefined, base);
    expect((await readSession()).status).toBe(200);
    const invented = async (at: number) => {
      const stranger = { ...own, Cookie: `session=${at}` };
      const answers = await Promise.all([
        ask('GET', '/dashboard/api/campaigns', stranger, undefined, base),
        ask('DELETE', '/dashboard/session', stranger, undefined, base),
        ask('POST', '/dashboard/session', own, { token: `${at}` }, base),
      ]);
      return answers.map(({ status }) => status);
    };
    const statuses = (await Promise.all(Array.from({ length: 20 }, (_, at) => invented(at)))).flat();
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(30);
    expect((await readSession()).status).toBe(200);
  } finally {
    await limited.close();
  }
});

describe('a link', () => {
  const tokenOf = ({ url }: { readonly url: string }) => url.split('#token=')[1] ?? '';
  const aLink = () =>
    createSignInLink(api.dependencies, { keyId: keyIdOf(workspace.channelKey), origin: api.baseUrl });

  it('signs in once', async () => {
    const token = tokenOf(await aLink());
    expect((await signIn({ token })).status).toBe(204);
    expect((await signIn({ token })).status).toBe(401);
  });

  it('signs in one of many who try at once', async () => {
    const token = tokenOf(await aLink());
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await signIn({ token })).status),
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
  });

  it('asks before it replaces the session of another workspace, and before it is used up', async () => {
    const other = await api.seedWorkspace();
    const session = await enter(other.channelKey);
    const token = tokenOf(await aLink());
    const refused = await signIn({ token }, session);
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([409, null]);
    expect(((await refused.json()) as { readonly message: string }).message).toMatch(
      /^This link leads to the workspace .+, but you are signed in to .+$/,
    );
    expect((await ask('GET', '/dashboard/session', session)).status).toBe(200);
    expect((await signIn({ token, replace: true }, session)).status).toBe(204);
    expect((await ask('GET', '/dashboard/session', session)).status).toBe(401);
  });

  it('asks nothing of a session of its own workspace, of an ended one, and without one', async () => {
    const open = async () => tokenOf(await aLink());
    const same = await enter(workspace.workspaceKey);
    expect((await signIn({ token: await open() }, same)).status).toBe(204);
    const other = await api.seedWorkspace();
    const ended = await enter(other.channelKey);
    await ask('DELETE', '/dashboard/session', ended);
    expect((await signIn({ token: await open() }, ended)).status).toBe(204);
    expect((await signIn({ token: 'unknown' }, await enter(other.channelKey))).status).toBe(401);
  });

  it('does not sign in when it is old, or when its key is revoked', async () => {
    const token = tokenOf(await aLink());
    await change(sql.fragment`UPDATE sign_in_link SET expires_at = now()`);
    expect((await signIn({ token })).status).toBe(401);
    const { apiKey, keyId } = await createApiKey(api.dependencies, {
      workspaceId: workspace.workspaceId,
      scope: 'workspace',
    });
    const link = await createSignInLink(api.dependencies, { keyId: keyIdOf(apiKey), origin: api.baseUrl });
    await revokeApiKey(api.database.pool, keyId);
    expect((await signIn({ token: tokenOf(link) })).status).toBe(401);
    await expect(createSignInLink(api.dependencies, { keyId, origin: '' })).rejects.toThrow('Key not found');
  });
});

describe('the dashboard rejects', () => {
  it('a guessed cookie, and the stored hash as a cookie', async () => {
    const session = await enter();
    const stolen = hashOf(session).toString('base64url');
    for (const value of ['x', stolen, '']) {
      const answer = await ask('GET', '/dashboard/api/campaigns', { ...own, Cookie: `session=${value}` });
      expect(answer.status).toBe(401);
    }
    const twice = { ...own, Cookie: `${session.Cookie}; session=other` };
    expect((await ask('GET', '/dashboard/api/campaigns', twice)).status).toBe(401);
  });

  it('the session of an operator’s key when it sends', async () => {
    const session = await enter(workspace.operatorKey);
    expect((await ask('GET', '/dashboard/api/campaigns', session)).status).toBe(200);
    for (const path of ['campaigns/check', 'campaigns/auto-trigger'])
      expect([path, (await ask('POST', `/dashboard/api/${path}`, session, {})).status]).toEqual([path, 401]);
  });

  it('a key in place of a session, and a session in place of a key', async () => {
    const key = { ...own, 'X-API-Key': workspace.channelKey };
    expect((await ask('GET', '/dashboard/api/campaigns', key)).status).toBe(401);
    expect((await ask('GET', '/api/campaigns', await enter())).status).toBe(401);
  });

  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a neighbour of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['an address that was typed', { 'Sec-Fetch-Site': 'none' }],
    ['another site that claims to be ours', { 'Sec-Fetch-Site': 'cross-site', Origin: 'own' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['an opaque origin', { Origin: 'null' }],
    ['nowhere', {}],
  ])('a request from %s', async (_, given) => {
    const headers: Record<string, string> = { ...given };
    if (headers['Origin'] === 'own') headers['Origin'] = api.baseUrl;
    const { Cookie } = await enter();
    const campaigns = await ask('GET', '/dashboard/api/campaigns', { ...headers, Cookie });
    expect(campaigns.status).toBe(403);
    // Another site may not sign a user in or out.
    expect((await signIn({ api_key: workspace.channelKey }, headers)).status).toBe(403);
    expect((await ask('DELETE', '/dashboard/session', { ...headers, Cookie })).status).toBe(403);
    expect((await ask('GET', '/dashboard/session', { ...own, Cookie })).status).toBe(200);
  });

  it('no browser without Sec-Fetch-Site whose Origin is ours', async () => {
    const { Cookie } = await enter();
    expect((await ask('GET', '/dashboard/session', { Origin: api.baseUrl, Cookie })).status).toBe(200);
  });

  it('a session whose key is revoked, at once', async () => {
    const { apiKey, keyId } = await createApiKey(api.dependencies, {
      workspaceId: workspace.workspaceId,
      scope: 'workspace',
    });
    const session = await enter(apiKey);
    expect((await ask('GET', '/dashboard/api/campaigns', session)).status).toBe(200);
    await revokeApiKey(api.database.pool, keyId);
    expect((await ask('GET', '/dashboard/api/campaigns', session)).status).toBe(401);
    expect((await ask('GET', '/dashboard/session', session)).status).toBe(401);
  });

  it('a session that is 8 hours old, or was not used for half an hour', async () => {
    const [old, idle, used] = [await enter(), await enter(), await enter()];
    const set = (session: typeof old, assignment: ReturnType<typeof sql.fragment>) =>
      change(
        sql.fragment`UPDATE operator_session SET ${assignment} WHERE id_hash = ${sql.binary(hashOf(session))}`,
      );
    await set(old, sql.fragment`expires_at = now()`);
    await set(idle, sql.fragment`seen_at = now() - interval '31 minutes'`);
    await set(used, sql.fragment`seen_at = now() - interval '29 minutes'`);
    const status = async (session: typeof old) => (await ask('GET', '/dashboard/session', session)).status;
    expect([await status(old), await status(idle), await status(used)]).toEqual([401, 401, 200]);
    await set(used, sql.fragment`expires_at = expires_at`);
    expect(await status(used)).toBe(200);
  });

  it('the cookie’s use by scripts, other sites and plain HTTP: it is HttpOnly, Strict, and Secure except on loopback', async () => {
    const local = (await signIn({ api_key: workspace.channelKey })).headers.get('set-cookie');
    expect(local).toMatch(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    for (const config of [{ production: true }, { host: '0.0.0.0' }]) {
      const other = await startTestApi({ database: api.database, config });
      try {
        const response = await ask(
          'POST',
          '/dashboard/session',
          own,
          { api_key: workspace.channelKey },
          other.baseUrl,
        );
        expect(response.headers.get('set-cookie')).toMatch(
          /^__Host-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
        );
      } finally {
        await other.close();
      }
    }
  });

  it('further keys of an address that has guessed too many', async () => {
    const strict = await startTestApi({ database: api.database, config: { rateLimitPerSecond: 2 } });
    try {
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 12; attempt += 1) {
        const body = attempt % 2 === 0 ? { api_key: 'nonsense' } : { token: 'nonsense' };
        statuses.push((await ask('POST', '/dashboard/session', own, body, strict.baseUrl)).status);
      }
      expect(statuses.slice(0, 3)).toEqual([401, 401, 401]);
      expect(statuses).toContain(429);
    } finally {
      await strict.close();
    }
  });
});

describe('the page', () => {
  it('is sent with a content security policy that allows its own files only, at every address', async () => {
    for (const path of ['/dashboard', '/dashboard/campaigns/x', '/dashboard/sign-in']) {
      const response = await ask('GET', path, {});
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
          "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
    }
  });

  it('serves its assets as immutable, and no file outside its folder', async () => {
    const html = await (await ask('GET', '/dashboard', {})).text();
    const [script = ''] = /\/dashboard\/assets\/[\w-]+\.js/.exec(html) ?? [];
    const response = await ask('GET', script, { 'Accept-Encoding': 'gzip' });
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect((await ask('GET', '/dashboard/assets/../../server.js', {})).status).toBe(404);
    expect((await ask('GET', '/dashboard/assets/%2e%2e%2fserver.js', {})).status).toBe(404);
    expect((await ask('GET', '/dashboard/assets/x.js', {})).status).toBe(404);
    expect((await ask('POST', '/dashboard', {})).status).toBe(404);
  });
});
