import { afterEach, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { echoEndpoints } from '../support/echo-endpoints.ts';

let api: TestApi;
afterEach(() => api.close());

async function startLimited() {
  const clock = { ms: Date.now() };
  api = await startTestApi({
    endpoints: echoEndpoints,
    config: { rateLimitPerSecond: 2 },
    dependencies: { now: () => new Date(clock.ms) },
  });
  return { clock, workspace: await api.seedWorkspace() };
}

const statuses = async (count: number, key: string) => {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1)
    found.push((await api.send('GET', '/api/notes', { key })).status);
  return found;
};

it('lets twice the rate through at once, then the rate, for each key by itself', async () => {
  const { clock, workspace } = await startLimited();
  expect(await statuses(6, workspace.channelKey)).toEqual([200, 200, 200, 200, 429, 429]);
  expect(await statuses(1, workspace.workspaceKey)).toEqual([200]);
  clock.ms += 1_000;
  expect(await statuses(3, workspace.channelKey)).toEqual([200, 200, 429]);
});

it('tells what is left and when to come back', async () => {
  const { clock, workspace } = await startLimited();
  const first = await api.send('GET', '/api/notes', { key: workspace.channelKey });
  expect(first.headers.get('ratelimit-limit')).toBe('4');
  expect(first.headers.get('ratelimit-remaining')).toBe('3');
  expect(first.headers.get('ratelimit-reset')).toBe('1');
  await statuses(3, workspace.channelKey);
  const refused = await api.send('GET', '/api/notes', { key: workspace.channelKey });
  expect(refused.body).toMatchObject({ status: 'error', code: 429 });
  expect(refused.headers.get('ratelimit-remaining')).toBe('0');
  clock.ms += Number(refused.headers.get('retry-after')) * 1_000;
  expect(await statuses(1, workspace.channelKey)).toEqual([200]);
});

it('slows an address down that guesses keys, and nobody with a key', async () => {
  const { workspace } = await startLimited();
  expect(await statuses(5, 'nonsense')).toEqual([401, 401, 401, 401, 429]);
  expect(await statuses(1, workspace.channelKey)).toEqual([200]);
});
