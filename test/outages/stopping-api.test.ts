/** The built API, stopped while a load balancer still sends it requests. */
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startProgram } from './child-process.ts';

it('is unready on both of its ports at once, and serves until the delay is over', async () => {
  const database = await createTestDatabase();
  const api = startProgram({
    path: 'dist/src/server.js',
    environment: {
      PORT: '0',
      METRICS_PORT: '0',
      DRAIN_DELAY_SECONDS: '15',
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      PROVIDER_BASE_URL: 'http://127.0.0.1:9/v23.0',
      SECRETS_KEY: 'a secrets key of the tests',
    },
  });
  onTestFinished(async () => {
    api.child.kill('SIGKILL');
    await api.ended;
    await database.drop();
  });
  await api.says('"msg":"listening"');
  const [, port, metricsPort] = /"port":(\d+),"metricsPort":(\d+),"msg":"listening"/.exec(api.output()) ?? [];
  const statuses = (path: string) =>
    Promise.all(
      [port, metricsPort].map(async (each) => (await fetch(`http://127.0.0.1:${each}${path}`)).status),
    );
  await expect.poll(() => statuses('/readyz'), { timeout: 20_000 }).toEqual([200, 200]);
  api.child.kill('SIGTERM');
  await expect.poll(() => statuses('/readyz'), { timeout: 14_000 }).toEqual([503, 503]);
  expect(await statuses('/healthz')).toEqual([200, 200]);
});
