import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRateLimiter, type RateLimits } from '../../../../src/api/frame/caller/rate-limit.ts';
import { createApiKey } from '../../../../src/commands/workspaces/api-keys.ts';
import { mintApiKey } from '../../../../src/domain/workspaces/api-key.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { echoEndpoints } from '../../../support/echo-endpoints.ts';

// The clock of the limiter alone stands still and is moved by hand.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('the API', () => {
  let api: TestApi;
  afterEach(() => api.close());

  const startLimited = async () => {
    api = await startTestApi({ endpoints: echoEndpoints, config: { rateLimitPerSecond: 2 } });
    return api.seedWorkspace();
  };

  const statuses = async (count: number, key: string) => {
    const found: number[] = [];
    for (let index = 0; index < count; index += 1)
      found.push((await api.send('GET', '/api/notes', { key })).status);
    return found;
  };

  it('allows a burst of twice the rate, then the rate, for each key separately', async () => {
    const workspace = await startLimited();
    expect(await statuses(6, workspace.channelKey)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(await statuses(1, workspace.workspaceKey)).toEqual([200]);
    vi.advanceTimersByTime(1_000);
    expect(await statuses(3, workspace.channelKey)).toEqual([200, 200, 429]);
  });

  it('returns the remaining requests and when to retry', async () => {
    const workspace = await startLimited();
    const first = await api.send('GET', '/api/notes', { key: workspace.channelKey });
    expect(first.headers.get('ratelimit-limit')).toBe('4');
    expect(first.headers.get('ratelimit-policy')).toBe('2;w=1;burst=4');
    expect(first.headers.get('ratelimit-remaining')).toBe('3');
    expect(first.headers.get('ratelimit-reset')).toBe('1');
    await statuses(3, workspace.channelKey);
    const refused = await api.send('GET', '/api/notes', { key: workspace.channelKey });
    expect(refused.body).toMatchObject({ status: 'error', code: 429 });
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect(refused.headers.get('ratelimit-reset')).toBe('2');
    vi.advanceTimersByTime(Number(refused.headers.get('retry-after')) * 1_000);
    expect(await statuses(1, workspace.channelKey)).toEqual([200]);
  });

  it('limits an address that guesses keys, but no key that was valid before', async () => {
    const workspace = await startLimited();
    expect(await statuses(1, workspace.channelKey)).toEqual([200]);
    expect(await statuses(5, 'nonsense')).toEqual([401, 401, 401, 401, 429]);
    expect(await statuses(1, workspace.channelKey)).toEqual([200]);
  });

  it('accepts more new valid keys from one address than it allows guesses', async () => {
    const { workspaceId } = await startLimited();
    for (let count = 0; count < 8; count += 1) {
      const { apiKey } = await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' });
      expect(await statuses(1, apiKey)).toEqual([200]);
    }
    expect(await statuses(5, 'nonsense')).toEqual([401, 401, 401, 401, 429]);
  });

  it('delays further refusals of an address, but not those of a key', async () => {
    const workspace = await startLimited();
    await statuses(4, workspace.channelKey);
    await statuses(4, 'nonsense');
    const order: string[] = [];
    const refused = async (who: string, key: string) => {
      expect(await statuses(1, key)).toEqual([429]);
      order.push(who);
    };
    const beganAt = Date.now();
    await Promise.all([refused('stranger', 'nonsense'), refused('key', workspace.channelKey)]);
    expect(order).toEqual(['key', 'stranger']);
    expect(Date.now() - beganAt).toBeGreaterThanOrEqual(995);
  });
});

describe('the bytes of files', () => {
  let api: TestApi;
  afterEach(() => api.close());

  it('count when an upload is refused, when it is stored, and when it is downloaded', async () => {
    api = await startTestApi({ config: { rateLimitPerSecond: 2 } });
    const { channelKey: key } = await api.seedWorkspace();
    const upload = (content: string) =>
      api.send('POST', '/api/campaigns/csv-files', {
        key,
        body: `--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${content}\r\n--b--\r\n`,
        headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      });
    const next = async () => (await api.send('GET', '/api/tags', { key })).status;
    const mebibyte = 1024 * 1024;
    const cases = [
      [() => upload('\n'.repeat(mebibyte)), 400],
      [() => upload(`phone,name\n${'+4915112345678,Ada\n'.repeat(mebibyte / 19)}`), 201],
    ] as const;
    let stored = '';
    for (const [send, status] of cases) {
      const answer = await send();
      expect([answer.status, await next()]).toEqual([status, 429]);
      stored = answer.body.data?.csv_file_key ?? '';
      vi.advanceTimersByTime(60_000);
    }
    expect((await api.send('GET', `/api/campaigns/csv-files/${stored}`, { key })).status).toBe(200);
    expect(await next()).toBe(429);
    vi.advanceTimersByTime(60_000);
    expect(await next()).toBe(200);
  });
});

describe('unknown keys', () => {
  let api: TestApi;
  let asked: string[][];
  afterEach(() => api.close());

  const startWatched = async (config: { readonly trustedProxies?: readonly string[] } = {}) => {
    const database = await createTestDatabase();
    asked = [];
    const watched = new Proxy(database.pool, {
      get(target, name) {
        if (name !== 'any') return Reflect.get(target, name) as unknown;
        return (statement: { readonly sql: string; readonly values: readonly unknown[] }) => {
          if (statement.sql.includes('FROM api_key')) asked.push(statement.values[0] as string[]);
          return target.any(statement as never);
        };
      },
    });
    api = await startTestApi({
      endpoints: echoEndpoints,
      config: { rateLimitPerSecond: 2, ...config },
      dependencies: { database: watched },
    });
    onTestFinished(() => database.drop());
    return api.seedWorkspace();
  };
  const unknownKeys = (count: number) =>
    Array.from({ length: count }, () => mintApiKey('a pepper of nobody').apiKey);
  const ask = async (key: string, forwardedFor?: string) =>
    (
      await api.send('GET', '/api/notes', {
        key,
        ...(forwardedFor !== undefined && { headers: { 'X-Forwarded-For': forwardedFor } }),
      })
    ).status;

  it('are looked up only within the limit of their address, in few statements', async () => {
    const workspace = await startWatched();
    expect(await ask(workspace.channelKey)).toBe(200);
    asked = [];
    const answers = await Promise.all(unknownKeys(50).map((key) => ask(key)));
    expect(answers.filter((status) => status === 401)).toHaveLength(4);
    expect(answers.filter((status) => status === 429)).toHaveLength(46);
    expect(asked.flat()).toHaveLength(4);
    // A key that was valid before is not limited by guesses from the same address.
    expect(await ask(workspace.channelKey)).toBe(200);
  });

  it('count against the client address that a trusted proxy reports; reports of others are ignored', async () => {
    await startWatched({ trustedProxies: ['127.0.0.0/8'] });
    const [one, two, three] = ['203.0.113.1', '198.51.100.9, 203.0.113.2', '2001:db8:0:1::5'] as const;
    const askAll = (count: number, forwardedFor: string) =>
      Promise.all(unknownKeys(count).map((key) => ask(key, forwardedFor)));
    expect(await askAll(4, one)).toEqual([401, 401, 401, 401]);
    expect(await askAll(1, one)).toEqual([429]);
    expect(await askAll(4, two)).toEqual([401, 401, 401, 401]);
    // Entries left of the first untrusted address may be forged and are ignored.
    expect(await askAll(1, '192.0.2.77, 203.0.113.2')).toEqual([429]);
    expect(await askAll(4, three)).toEqual([401, 401, 401, 401]);
    expect(await askAll(1, '2001:db8:0:1:ffff::7')).toEqual([429]);
    await api.close();
    await startWatched();
    expect(await askAll(4, one)).toEqual([401, 401, 401, 401]);
    expect(await askAll(1, two)).toEqual([429]);
  });
});

/** Whether a request of this moment is let through. */
function isAllowed(limits: RateLimits) {
  const limiter = createRateLimiter(limits);
  return (key: string): boolean => {
    try {
      limiter.take(key);
      return true;
    } catch {
      return false;
    }
  };
}

it('never lets more through in any span than the burst and the rate of that span', () => {
  const limits = fc.record({
    perSecond: fc.integer({ min: 1, max: 500 }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
  fc.assert(
    fc.property(limits, gaps, ({ perSecond, burst }, pauses) => {
      const take = isAllowed({ perSecond, burst });
      const allowed: number[] = [];
      for (const pause of pauses) {
        vi.advanceTimersByTime(pause);
        if (take('key')) allowed.push(performance.now());
      }
      for (const [index, start] of allowed.entries()) {
        for (const [offset, end] of allowed.slice(index).entries()) {
          expect(offset + 1).toBeLessThanOrEqual(burst + ((end - start) / 1000) * perSecond + 0.01);
        }
      }
    }),
  );
});

it('keeps empty buckets, however many other callers appear', () => {
  const take = isAllowed({ perSecond: 1, burst: 1 });
  for (let caller = 0; caller < 49_999; caller += 1) take(`early ${caller}`);
  vi.advanceTimersByTime(1_000);
  expect([take('busy'), take('busy')]).toEqual([true, false]);
  for (let caller = 0; caller < 10_000; caller += 1) expect(take(`late ${caller}`)).toBe(true);
  expect(take('busy')).toBe(false);
});
