/** After a clock is set back by an hour, timestamps in the future must not delay anything. */
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { revokeApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { takeSingleToken } from '../../src/records/sending/channel-rate.ts';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi } from '../support/api.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { echoEndpoints } from '../support/echo-endpoints.ts';
import { lease } from '../support/lease.ts';

const hourMs = 3_600_000;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('refuses a key that was revoked, although the clock of the API was set back since it was last seen', async () => {
  let clockMs = Date.now();
  const api = await startTestApi({
    endpoints: echoEndpoints,
    dependencies: { now: () => new Date(clockMs) },
  });
  const { channelKey: key } = await api.seedWorkspace();
  expect((await api.send('GET', '/api/notes', { key })).status).toBe(200);
  clockMs -= hourMs;
  await revokeApiKey(api.dependencies, { keyId: key.split('_')[1] ?? '' });
  expect((await api.send('GET', '/api/notes', { key })).status).toBe(401);
  await api.close();
});

it('goes on sending at the channel’s pace when the clock of Postgres was set back', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 5, messagesPerSecond: 100 });
  const { channelId } = seeded;
  await test.pool.query(sql.type(nothing)`
    UPDATE channel_rate SET next_at = now() + interval '1 hour', factor = 0.5,
      factor_changed_at = now() + interval '1 hour' WHERE channel_id = ${channelId}`);
  const { granted, dueAt, now, spacingMs } = await lease(test.pool, seeded, { wanted: 5 });
  expect(granted).toBeGreaterThan(0);
  expect(dueAt - now).toBeLessThan(hourMs / 10);
  expect(1_000 / spacingMs).toBeCloseTo(100 * 0.975 * 0.5, 0);
  const { waitMs } = await takeSingleToken(test.pool, { channelId, longestWaitMs: hourMs / 10 });
  expect(waitMs).toBeLessThan(hourMs / 10);
});
