import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRateLimiter, type RateLimits } from '../../../src/api/frame/rate-limit.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { echoEndpoints } from '../../support/echo-endpoints.ts';

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

  it('lets twice the rate through at once, then the rate, for each key by itself', async () => {
    const workspace = await startLimited();
    expect(await statuses(6, workspace.channelKey)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(await statuses(1, workspace.workspaceKey)).toEqual([200]);
    vi.advanceTimersByTime(1_000);
    expect(await statuses(3, workspace.channelKey)).toEqual([200, 200, 429]);
  });

  it('tells what is left and when to come back', async () => {
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

  it('slows an address down that guesses keys, and nobody with a key', async () => {
    const workspace = await startLimited();
    expect(await statuses(5, 'nonsense')).toEqual([401, 401, 401, 401, 429]);
    expect(await statuses(1, workspace.channelKey)).toEqual([200]);
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

it('forgets nobody who has used his tokens up, however many others come and go', () => {
  const take = isAllowed({ perSecond: 1, burst: 1 });
  for (let caller = 0; caller < 49_999; caller += 1) take(`early ${caller}`);
  vi.advanceTimersByTime(1_000);
  expect([take('busy'), take('busy')]).toEqual([true, false]);
  for (let caller = 0; caller < 10_000; caller += 1) expect(take(`late ${caller}`)).toBe(true);
  expect(take('busy')).toBe(false);
});
