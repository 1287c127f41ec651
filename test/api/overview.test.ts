/** GET /api/overview over HTTP: sums of the counters by minute. */
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { seedCampaign } from '../support/campaign-factory.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const addMinutes = (campaignId: string, minutes: readonly (readonly [string, number, bigint])[]) =>
  api.database.pool.query(sql.type(nothing)`
    INSERT INTO campaign_minute (campaign_id, at, accepted, delivered, read, failed, charged)
    SELECT ${campaignId}, at, accepted, accepted - 1, 1, 2, charged
    FROM ${sql.unnest(
      minutes.map((minute) => [...minute]),
      ['timestamptz', 'int4', 'int8'],
    )}
      AS given (at, accepted, charged)`);

describe('GET /api/overview', () => {
  it('adds up campaigns by day and by hour, and names those that sent most first', async () => {
    const one = await seedCampaign(api.database.pool, { recipients: 1 });
    const { workspaceId, channelId, campaignId } = one;
    const { apiKey: key } = await createApiKey(api.dependencies, {
      workspaceId,
      channelId,
      scope: 'channel',
    });
    const now = Date.now();
    const at = (hours: number) => new Date(now - hours * 3_600_000).toISOString();
    await addMinutes(campaignId, [
      [at(1), 10, 550_000n],
      [at(30), 20, 1_100_000n],
      [at(24 * 9), 40, 2_200_000n],
    ]);
    const read = async (query = '') => (await api.send('GET', `/api/overview${query}`, { key })).body.data;
    const week = await read();
    expect(week.totals).toEqual({
      accepted: 30,
      delivered: 28,
      read: 2,
      replied: 0,
      opted_out: 0,
      failed: 4,
      charged: '1.65',
    });
    expect(week.campaigns).toMatchObject([{ id: campaignId, accepted: 30, charged: '1.65' }]);
    expect(week.points.map(({ accepted }: { accepted: number }) => accepted)).toEqual([20, 10]);
    const hours = await read(`?interval=hour&from=${at(24 * 20)}&to=${at(0)}`);
    expect(hours.points.map(({ charged }: { charged: string }) => charged)).toEqual(['2.2', '1.1', '0.55']);
    expect((await read(`?from=${at(2)}&to=${at(0)}`)).totals.accepted).toBe(10);
  });

  it('shows nothing of another workspace, and refuses a span that is reversed or too long', async () => {
    const { workspaceKey: key } = await api.seedWorkspace();
    const empty = (await api.send('GET', '/api/overview', { key })).body.data;
    expect(empty).toEqual({
      points: [],
      totals: { accepted: 0, delivered: 0, read: 0, replied: 0, opted_out: 0, failed: 0, charged: '0' },
      campaigns: [],
    });
    for (const query of [
      'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
      'from=2024-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
      'from=2025-01-02T00:00:00Z&to=2026-01-01T00:00:00Z&interval=hour',
      'to=0001-01-01T00:00:00Z',
    ])
      expect((await api.send('GET', `/api/overview?${query}`, { key })).status).toBe(400);
    expect((await api.send('GET', '/api/overview?to=0001-01-02T00:00:00Z', { key })).status).toBe(200);
  });
});
