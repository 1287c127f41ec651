import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  noticeLowBalances,
  noticeMissingPrices,
  setLowBalanceThreshold,
} from '../../../src/commands/wallet/watch-wallets.ts';
import { Invalid, NotFound } from '../../../src/domain/error.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { rowsOf } from '../../support/callback-fixtures.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const noticesOf = ({ workspaceId }: SeededCampaign) =>
  rowsOf<{ kind: string; subject_id: string; message: string }>(
    database.pool,
    sql.fragment`SELECT kind, subject_id, message FROM notice WHERE workspace_id = ${workspaceId} ORDER BY id`,
  );

it('tells once that a balance has fallen below its threshold, and again after it rose', async () => {
  const seeded = await seedCampaign(database.pool, { recipients: 1, balance: 10_000_000n });
  const { channelId } = seeded;
  const reserve = async (amount: bigint) => {
    await database.pool.query(sql.type(nothing)`
      UPDATE wallet SET reserved = ${amount} WHERE channel_id = ${channelId}`);
    await noticeLowBalances(database.pool);
    return (await noticesOf(seeded)).length;
  };
  const set = (threshold: string | null, workspaceId = seeded.workspaceId) =>
    setLowBalanceThreshold({ database: database.pool }, workspaceId, { channelId, threshold });
  expect(await reserve(9_999_000n)).toBe(0);
  await set('5.5');
  expect([await reserve(4_500_000n), await reserve(4_500_001n), await reserve(9_000_000n)]).toEqual([
    0, 1, 1,
  ]);
  expect(await noticesOf(seeded)).toEqual([
    {
      kind: 'low_balance',
      subject_id: channelId,
      message:
        'The balance is low: 5.499999 USD can be spent, less than 5.5. Campaigns pause when it does not cover the next message.',
    },
  ]);
  expect([await reserve(0n), await reserve(9_000_000n)]).toEqual([1, 2]);
  await set(null);
  expect(await reserve(9_500_000n)).toBe(2);
  await expect(set('0')).rejects.toBeInstanceOf(Invalid);
  await expect(set('1', seeded.workspaceId + 1_000_000)).rejects.toBeInstanceOf(NotFound);
});

it('tells once that an account has no price card, and that the present one is old', async () => {
  const seeded = await seedCampaign(database.pool, { recipients: 1 });
  await database.pool.query(sql.type(nothing)`
    UPDATE wallet SET currency = 'ZZZ' WHERE channel_id = ${seeded.channelId}`);
  await noticeMissingPrices(database.pool);
  await noticeMissingPrices(database.pool);
  expect(await noticesOf(seeded)).toMatchObject([
    { kind: 'price_card', message: expect.stringContaining('There is no price card for ZZZ') },
  ]);
  const load = (daysAgo: number) =>
    database.pool.query(sql.type(nothing)`
      INSERT INTO price_card (currency, effective_on, source, sha256, loaded_by)
      VALUES ('ZZZ', current_date - ${daysAgo}::int, 'card.csv', ${String(daysAgo)}, 'test')`);
  await load(101);
  await noticeMissingPrices(database.pool);
  expect((await noticesOf(seeded))[1]?.message).toContain(
    'See whether the provider has published another one',
  );
  await load(100);
  await noticeMissingPrices(database.pool);
  expect(await noticesOf(seeded)).toHaveLength(2);
});
