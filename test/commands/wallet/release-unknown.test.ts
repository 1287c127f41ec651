import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { releaseUnknownMessages } from '../../../src/commands/wallet/change-wallet.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { createApplier, deliver, messagesCallback, rowsOf, status } from '../../support/callback-fixtures.ts';
import { checkBooks, seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const price = 1_000n;

/** Three recipients without a status for two days, and one for a minute. */
async function seed() {
  const place = await seedCampaign(database.pool, { recipients: 4 });
  await database.pool.query(sql.type(nothing)`
    UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN', settlement = 'reserved', price = ${price},
      updated_at = now() - CASE WHEN position = 4 THEN interval '1 minute' ELSE interval '2 days' END
    WHERE campaign_id = ${place.campaignId}`);
  await database.pool.query(sql.type(nothing)`
    UPDATE campaign_counter SET pending = 0, unknown = 4 WHERE campaign_id = ${place.campaignId}`);
  await database.pool.query(sql.type(nothing)`
    UPDATE wallet SET reserved = ${4n * price} WHERE channel_id = ${place.channelId}`);
  return place;
}

it('releases the reservations of messages without a status, and charges one that arrived later', async () => {
  const place = await seed();
  const { workspaceId, campaignId } = place;
  const dependencies = { database: database.pool };
  const request = { workspaceId, campaignId, olderThanHours: 24 };
  expect(await releaseUnknownMessages(dependencies, request)).toEqual({ messages: 3, amount: 3n * price });
  expect(await releaseUnknownMessages(dependencies, request)).toEqual({ messages: 0, amount: 0n });
  const entries = sql.fragment`SELECT action, object_id FROM audit_entry WHERE workspace_id = ${workspaceId}`;
  expect(await rowsOf(database.pool, entries)).toMatchObject([{ action: 'wallet.release-unknown' }]);
  const before = await checkBooks(database.pool, place);
  expect(before).toMatchObject({ reserved: price, owed: price, counters_fit: true });

  const [first] = await rowsOf<{ id: string }>(
    database.pool,
    sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${campaignId} AND position = 1`,
  );
  const callbackData = first?.id ?? '';
  await deliver(createApplier(database.pool), [
    messagesCallback(place.channelId, {
      statuses: [status({ status: 'delivered', providerMessageId: 'wamid.late', callbackData })],
    }),
  ]);
  expect(await checkBooks(database.pool, place)).toMatchObject({
    balance: before.balance - price,
    reserved: price,
    counters_fit: true,
  });
});

/** A single message without a status for two days. */
async function addSingleMessage({ workspaceId, channelId }: SeededCampaign): Promise<void> {
  await database.pool.query(sql.type(nothing)`
    INSERT INTO message (workspace_id, channel_id, direction, source, phone_number, type, state, settlement, price, updated_at)
    VALUES (${workspaceId}, ${channelId}, 'outbound', 'api', '4915100000001', 'template', 'UNKNOWN', 'reserved', ${price},
      now() - interval '2 days')`);
  await database.pool.query(sql.type(nothing)`
    UPDATE wallet SET reserved = reserved + ${price} WHERE channel_id = ${channelId}`);
}

it('releases the single messages of one workspace, unless one campaign is asked for', async () => {
  const [place, other] = [await seed(), await seed()];
  for (const each of [place, other]) await addSingleMessage(each);
  const { workspaceId, campaignId } = place;
  const release = (campaign: string | undefined) =>
    releaseUnknownMessages(
      { database: database.pool },
      { workspaceId, campaignId: campaign, olderThanHours: 24 },
    );
  expect(await release(campaignId)).toMatchObject({ messages: 3 });
  expect(await checkBooks(database.pool, place)).toMatchObject({ reserved: 2n * price, owed: 2n * price });
  expect(await release(undefined)).toEqual({ messages: 1, amount: price });
  expect(await checkBooks(database.pool, place)).toMatchObject({ reserved: price, owed: price });
  expect(await checkBooks(database.pool, other)).toMatchObject({ reserved: 5n * price, owed: 5n * price });
});

it('leaves other workspaces alone', async () => {
  const [place, other] = [await seed(), await seed()];
  const dependencies = { database: database.pool };
  await releaseUnknownMessages(dependencies, {
    workspaceId: other.workspaceId,
    campaignId: undefined,
    olderThanHours: 0,
  });
  expect(await checkBooks(database.pool, place)).toMatchObject({ reserved: 4n * price });
  expect(await checkBooks(database.pool, other)).toMatchObject({ reserved: 0n, owed: 0n });
});
