import type { AddressInfo } from 'node:net';
import { createReadiness, metricsEndpoint } from '../../../src/api/frame/health.ts';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { createApiServer } from '../../../src/api/frame/app.ts';
import { endpoint } from '../../../src/api/frame/endpoint.ts';
import { acknowledge, Acknowledgement } from '../../../src/api/frame/envelope.ts';
import { routes } from '../../../src/api/routes.ts';
import { mintApiKey } from '../../../src/domain/workspaces/api-key.ts';
import { serveHealth } from '../../../src/process/serve-health.ts';
import { createIdleOrchestrator, startTestApi, type TestApi } from '../../support/api.ts';
import { createTestDatabase } from '../../support/database.ts';
import { openTcpGate } from '../../support/tcp-gate.ts';

let api: TestApi;
afterEach(() => api.close());

it('counts no probe among the requests of callers', async () => {
  api = await startTestApi();
  for (const path of ['/healthz', '/readyz', '/metrics', '/api/tags']) await api.send('GET', path);
  const metricsText = await api.dependencies.metrics.registry.metrics();
  const counted = [...metricsText.matchAll(/http_request_seconds_count\{.*route="([^"]+)"/g)].map(
    ([, route]) => route,
  );
  expect(counted).toEqual(['/api/tags']);
});

it('lives and is ready when Postgres answers and has every migration', async () => {
  api = await startTestApi();
  expect((await api.send('GET', '/healthz')).body).toEqual({ status: 'ok' });
  const ready = await api.send('GET', '/readyz');
  expect(ready.status).toBe(200);
  expect(ready.body).toEqual({ status: 'ready' });
});

it('checks once a second, however many probes ask', async () => {
  api = await startTestApi();
  let checks = 0;
  const readiness = createReadiness(async () => {
    checks += 1;
    return [];
  });
  const beganAt = performance.now();
  await Promise.all(Array.from({ length: 200 }, () => readiness.findMissing()));
  expect(checks).toBe(1);
  await vi.waitUntil(async () => (await readiness.findMissing(), checks > 1), 30_000);
  expect(performance.now() - beganAt).toBeGreaterThan(900);
});

it('answers probes and scrapes on the connections it has', async () => {
  api = await startTestApi();
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  const connections = async () =>
    (
      await client.query(
        // Autovacuum's workers come and go.
        `SELECT count(*)::int AS open FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend'`,
      )
    ).rows[0].open as number;
  await api.send('GET', '/readyz');
  await api.send('GET', '/metrics');
  const before = await connections();
  let most = 0;
  const askers = Array.from({ length: 200 }, async (_, index) => {
    for (let round = 0; round < 5; round += 1)
      expect((await api.send('GET', index % 2 === 0 ? '/readyz' : '/metrics')).status).toBe(200);
  });
  const all = Promise.all(askers);
  while (
    await Promise.race([
      all.then(() => false),
      connections().then((open) => ((most = Math.max(most, open)), true)),
    ])
  );
  await client.end();
  expect(most).toBeLessThanOrEqual(Math.max(before, 1 + 2));
});

it('leaves /metrics to a port of its own where one is named', async () => {
  api = await startTestApi({ endpoints: routes.filter((one) => one !== metricsEndpoint) });
  expect((await api.send('GET', '/metrics')).status).toBe(404);
  const health = await serveHealth({
    host: '127.0.0.1',
    port: 0,
    metrics: api.dependencies.metrics,
    missing: async () => [],
  });
  const scraped = await fetch(`http://127.0.0.1:${health.port}/metrics`);
  expect(await scraped.text()).toContain('http_request_seconds');
  await health.close();
});

it('stays ready when Temporal does not answer', async () => {
  const orchestrator = createIdleOrchestrator({ namespace: () => Promise.reject(new Error('gone')) });
  api = await startTestApi({ dependencies: { orchestrator } });
  expect((await api.send('GET', '/readyz')).status).toBe(200);
  expect((await api.send('GET', '/healthz')).status).toBe(200);
});

it('is not ready when a migration is missing', async () => {
  api = await startTestApi();
  const client = new pg.Client({ connectionString: api.database.ownerUrl });
  await client.connect();
  expect((await api.send('GET', '/readyz')).status).toBe(200);
  await client.query('DELETE FROM migration WHERE name = (SELECT min(name) FROM migration)');
  await client.end();
  await vi.waitUntil(async () => (await api.send('GET', '/readyz')).status !== 200, 30_000);
  expect((await api.send('GET', '/readyz')).body.message).toBe('Not ready: migrations');
});

it('answers 503 with Retry-After while the database is gone, and works as before when it is back', async () => {
  const database = await createTestDatabase();
  const gate = await openTcpGate(database.url);
  const behindGate = { ...database, url: gate.url };
  api = await startTestApi({ database: behindGate });
  const { channelKey } = await api.seedWorkspace();
  const statusOf = async (path: string) => (await api.send('GET', path, { key: channelKey })).status;
  expect(await statusOf('/api/campaigns')).toBe(200);

  await gate.shut();
  const refused = await api.send('GET', '/api/campaigns', { key: channelKey });
  expect(refused.status, refused.text).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  const unknownKey = await api.send('GET', '/api/campaigns', {
    key: mintApiKey('a pepper of nobody').apiKey,
  });
  expect(unknownKey.status).toBe(503);
  expect((await api.send('GET', '/readyz')).body.message).toBe('Not ready: postgres');
  expect(await statusOf('/healthz')).toBe(200);

  await gate.open();
  await expect.poll(() => statusOf('/api/campaigns')).toBe(200);
  await expect.poll(() => statusOf('/readyz')).toBe(200);
  await gate.shut();
  await api.close();
  await database.drop();
});

it('finishes what it is answering when it stops, and takes nothing new', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let entered = false;
  const slow = endpoint(
    {
      method: 'GET',
      path: '/slow',
      operationId: 'slow',
      summary: 'Waits',
      tag: 'Operations',
      access: 'public',
      responses: { 200: { description: 'Waited', body: Acknowledgement } },
    },
    async ({ request }) => {
      entered = true;
      await gate;
      return { status: 200, body: acknowledge(request.isStopping() ? 'stopping' : 'running') };
    },
  );
  api = await startTestApi({ endpoints: [slow] });
  const running = api.send('GET', '/slow');
  await expect.poll(() => entered).toBe(true);
  const drained = api.drain();
  await expect(api.send('GET', '/slow')).rejects.toThrow('fetch failed');
  open();
  const response = await running;
  expect(response.body.message).toBe('stopping');
  expect(response.headers.get('connection')).toBe('close');
  await drained;
});

it('says that it is not ready before it stops listening', async () => {
  api = await startTestApi();
  const { server, drain } = createApiServer(api.dependencies, routes);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const drained = drain(5_000, 1_000);
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  const alive = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect([ready.status, alive.status]).toEqual([503, 200]);
  expect(await ready.json()).toMatchObject({ message: 'Not ready: stopping' });
  await drained;
  await expect(fetch(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow('fetch failed');
});
