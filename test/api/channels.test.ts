import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createApplier, deliver, fieldCallback } from '../support/callback-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

it('shows the provider’s latest report on the account, its limit and the end of a restriction', async () => {
  const { businessAccountId, channelId, channelKey: key } = await api.seedWorkspace();
  const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 4_000_000_000 };
  await deliver(createApplier(api.dependencies.database), [
    fieldCallback(businessAccountId, 'business_capability_update', {
      max_daily_conversations_per_business: 2000,
    }),
    fieldCallback(businessAccountId, 'account_update', {
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [restriction],
    }),
  ]);
  const { body } = await api.send('GET', `/api/channels/${channelId}`, { key });
  expect(body.data).toMatchObject({
    status: 'blocked',
    blocked_until: new Date(4_000_000_000_000).toISOString(),
    messaging_limit: 2000,
    account_notice: {
      field: 'account_update',
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [restriction],
    },
  });
});

it('shows the latest quality that the provider reported for a number', async () => {
  const { businessAccountId, channelId, channelKey: key } = await api.seedWorkspace();
  const channel = async () => (await api.send('GET', `/api/channels/${channelId}`, { key })).body.data;
  const { display_phone_number: number, quality } = await channel();
  expect(quality).toBeNull();
  const applier = createApplier(api.dependencies.database);
  const report = (event: string, of: string) =>
    deliver(applier, [
      fieldCallback(businessAccountId, 'phone_number_quality_update', { display_phone_number: of, event }),
    ]);
  await report('FLAGGED', '4930000000');
  expect((await channel()).quality).toBeNull();
  await report('FLAGGED', number.replaceAll(/\D/g, ''));
  expect((await channel()).quality).toBe('LOW');
  await report('UNFLAGGED', number);
  expect((await channel()).quality).toBe('GOOD');
});

it('says what a channel waits for, and until when', async () => {
  const { channelId, channelKey: key } = await api.seedWorkspace();
  const waitOf = async (assignment: ReturnType<typeof sql.fragment>) => {
    await api.database.pool.query(
      sql.type(nothing)`UPDATE channel_rate SET ${assignment} WHERE channel_id = ${channelId}`,
    );
    const { waiting_for: reason, held_until: until } = (
      await api.send('GET', `/api/channels/${channelId}`, { key })
    ).body.data;
    return [reason, until];
  };
  const [silence, coolDown] = [1, 2].map((minutes) => new Date(Date.now() + minutes * 60_000).toISOString());
  expect(await waitOf(sql.fragment`silent_until = ${silence ?? ''}`)).toEqual(['CHANNEL_THROTTLE', silence]);
  expect(await waitOf(sql.fragment`times_opened = 1, open_until = ${coolDown ?? ''}`)).toEqual([
    'CHANNEL_TROUBLE',
    coolDown,
  ]);
  // Timestamps of a database whose clock was set back afterwards.
  expect(await waitOf(sql.fragment`silent_until = '2100-01-01', times_opened = 0`)).toEqual([null, null]);
  expect(await waitOf(sql.fragment`silent_until = NULL, times_opened = 0`)).toEqual([null, null]);
});
