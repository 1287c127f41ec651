import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyConsequences } from '../../../src/commands/callbacks/status-effects.ts';
import { adjustWallet, rechargeWallet } from '../../../src/commands/wallet/change-wallet.ts';
import { createChannel, updateChannel } from '../../../src/commands/workspaces/channels.ts';
import { createWorkspace, setFeature } from '../../../src/commands/workspaces/workspaces.ts';
import { applyAccountNotification } from '../../../src/commands/workspaces/apply-account-notification.ts';
import { Conflict, Invalid, NotFound } from '../../../src/domain/error.ts';
import type { AccountItem } from '../../../src/provider/notification-item.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { getChannel, listChannelsOfBusinessAccount } from '../../../src/records/workspaces/channels.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { findPrices, getWallet, listPrices } from '../../../src/records/wallet/wallets.ts';
import { createSecretBox } from '../../../src/secrets.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const secrets = createSecretBox(['a key of the tests that is long enough']);
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const unique = (prefix: string) => `${prefix}-${randomBytes(6).toString('hex')}`;

async function aWorkspace(): Promise<number> {
  const { workspaceId } = await createWorkspace({ database: database.pool }, { name: 'Acme' });
  return workspaceId;
}

const aChannel = (
  workspaceId: number,
  overrides: { phoneNumberId?: string; businessAccountId?: string } = {},
) =>
  createChannel(
    { database: database.pool, secrets },
    {
      workspaceId,
      phoneNumberId: overrides.phoneNumberId ?? unique('phone'),
      displayPhoneNumber: '+49 30 901820',
      businessAccountId: overrides.businessAccountId ?? unique('account'),
      accessToken: 'token-of-the-channel',
    },
  );

async function aWallet() {
  const workspaceId = await aWorkspace();
  const { channelId } = await aChannel(workspaceId);
  return { workspaceId, channelId };
}

const FeatureRow = row(
  t.type({ schedule: t.boolean, segments: t.boolean, broadcasts: t.union([t.number, t.null]) }),
);
const featuresOf = (workspaceId: number) =>
  database.pool.one(sql.type(FeatureRow)`
    SELECT schedule_campaigns AS schedule, targeted_segments AS segments, broadcasts_per_month AS broadcasts
    FROM workspace_feature WHERE workspace_id = ${workspaceId}`);

const Sum = row(t.type({ sum: t.bigint }));
const ledgerSum = (channelId: string) =>
  database.pool.oneFirst(sql.type(Sum)`
    SELECT coalesce(sum(amount), 0)::int8 AS sum FROM ledger_entry WHERE channel_id = ${channelId}`);

describe('createWorkspace', () => {
  test('turns every feature on', async () => {
    const workspaceId = await aWorkspace();
    expect(await featuresOf(workspaceId)).toEqual({
      schedule: true,
      segments: true,
      broadcasts: null,
    });
  });

  test.each(['', '   ', 'x'.repeat(256)])('refuses the name %j', async (name) => {
    await expect(createWorkspace({ database: database.pool }, { name })).rejects.toBeInstanceOf(Invalid);
  });
});

describe('createChannel', () => {
  test('stores the access token encrypted and opens an empty wallet', async () => {
    const { workspaceId, channelId } = await aWallet();
    const channel = await getChannel(database.pool, workspaceId, channelId);
    expect(channel.accessTokenEncrypted.includes('token-of-the-channel')).toBe(false);
    expect(secrets.decrypt(channel.accessTokenEncrypted, `channel ${channelId}`)).toBe(
      'token-of-the-channel',
    );
    expect(channel).toMatchObject({ status: 'active', messagesPerSecond: 80, blockedCountries: [] });
    expect(await getWallet(database.pool, workspaceId, channelId)).toEqual({
      channelId,
      balance: 0n,
      reserved: 0n,
      uncollected: 0n,
      currency: 'USD',
      lowBalanceThreshold: null,
    });
  });

  test('adds a second channel to a business account of the same workspace', async () => {
    const workspaceId = await aWorkspace();
    const businessAccountId = unique('account');
    await aChannel(workspaceId, { businessAccountId });
    await aChannel(workspaceId, { businessAccountId });
    expect(await listChannelsOfBusinessAccount(database.pool, workspaceId, businessAccountId)).toHaveLength(
      2,
    );
  });

  test('refuses the business account of another workspace and leaves nothing behind', async () => {
    const businessAccountId = unique('account');
    await aChannel(await aWorkspace(), { businessAccountId });
    const other = await aWorkspace();
    await expect(aChannel(other, { businessAccountId })).rejects.toThrow(
      new Conflict('The business account belongs to another workspace'),
    );
    expect(await listChannelsOfBusinessAccount(database.pool, other, businessAccountId)).toEqual([]);
  });

  test('refuses a phone number id that any workspace has', async () => {
    const phoneNumberId = unique('phone');
    await aChannel(await aWorkspace(), { phoneNumberId });
    await expect(aChannel(await aWorkspace(), { phoneNumberId })).rejects.toBeInstanceOf(Conflict);
  });

  test('answers not found when the workspace does not exist', async () => {
    await expect(aChannel(2_000_000_000)).rejects.toThrow(new NotFound('Workspace'));
  });
});

describe('the wallet', () => {
  test('adds recharges up exactly and keeps the ledger equal to the balance', async () => {
    const { workspaceId, channelId } = await aWallet();
    const recharge = (amount: string) =>
      rechargeWallet({ database: database.pool }, { workspaceId, channelId, amount });
    expect(await recharge('0.1')).toBe(100_000n);
    expect(await recharge('0.2')).toBe(300_000n);
    expect(await recharge('1000000.000001')).toBe(1_000_000_300_001n);
    expect(await ledgerSum(channelId)).toBe(1_000_000_300_001n);
  });

  test.each(['0', '-1', '1e3', '1.0000001', '', ' 1', '0x10', 'NaN', '1,5', '9'.repeat(30)])(
    'refuses to recharge %j',
    async (amount) => {
      const { workspaceId, channelId } = await aWallet();
      await expect(
        rechargeWallet({ database: database.pool }, { workspaceId, channelId, amount }),
      ).rejects.toBeInstanceOf(Invalid);
      expect(await ledgerSum(channelId)).toBe(0n);
    },
  );

  test('refuses a recharge beyond the largest balance', async () => {
    const { workspaceId, channelId } = await aWallet();
    const recharge = () =>
      rechargeWallet({ database: database.pool }, { workspaceId, channelId, amount: '1000000000000' });
    await recharge();
    await expect(recharge()).rejects.toBeInstanceOf(Invalid);
  });

  test('does not recharge a channel of another workspace', async () => {
    const { channelId } = await aWallet();
    await expect(
      rechargeWallet(
        { database: database.pool },
        { workspaceId: await aWorkspace(), channelId, amount: '1' },
      ),
    ).rejects.toThrow(new NotFound('Channel'));
  });

  test('adjusts down to what is reserved and not below', async () => {
    const { workspaceId, channelId } = await aWallet();
    const dependencies = { database: database.pool };
    await rechargeWallet(dependencies, { workspaceId, channelId, amount: '10' });
    await database.pool.query(
      sql.type(nothing)`UPDATE wallet SET reserved = 4000000 WHERE channel_id = ${channelId}`,
    );
    const adjust = (amount: string) =>
      adjustWallet(dependencies, { workspaceId, channelId, amount, reason: 'promised in a call' });
    await expect(adjust('-6.000001')).rejects.toBeInstanceOf(Conflict);
    expect(await adjust('-6')).toBe(4_000_000n);
    expect(await ledgerSum(channelId)).toBe(4_000_000n);
    const tooMuch = rechargeWallet(dependencies, { workspaceId, channelId, amount: '1000000000000' });
    await expect(tooMuch).rejects.toBeInstanceOf(Invalid);
    const audited = await database.pool.anyFirst(sql.type(row(t.type({ action: t.string })))`
      SELECT action FROM audit_entry WHERE object_id = ${channelId} AND action LIKE 'wallet.%' ORDER BY id`);
    expect(audited).toEqual(['wallet.recharge', 'wallet.adjust']);
  });

  test('records each of many concurrent recharges', async () => {
    const { workspaceId, channelId } = await aWallet();
    await Promise.all(
      Array.from({ length: 20 }, () =>
        rechargeWallet({ database: database.pool }, { workspaceId, channelId, amount: '0.5' }),
      ),
    );
    expect((await getWallet(database.pool, workspaceId, channelId)).balance).toBe(10_000_000n);
  });
});

describe('setFeature', () => {
  const set = (workspaceId: number, feature: string, value: string) =>
    setFeature({ database: database.pool }, { workspaceId, feature, value });

  test('changes the one feature it names', async () => {
    const workspaceId = await aWorkspace();
    expect(await set(workspaceId, 'schedule_campaigns', 'off')).toEqual({
      workspaceId,
      feature: 'schedule_campaigns',
      value: 'off',
    });
    await set(workspaceId, 'broadcasts_per_month', '3');
    expect(await featuresOf(workspaceId)).toEqual({
      schedule: false,
      segments: true,
      broadcasts: 3,
    });
    await set(workspaceId, 'broadcasts_per_month', 'unlimited');
    expect((await featuresOf(workspaceId)).broadcasts).toBeNull();
  });

  test.each([
    ['schedule_campaigns', '1'],
    ['broadcasts_per_month', '-1'],
    ['broadcasts_per_month', '2147483648'],
    ['everything', 'on'],
  ])('refuses %s %s', async (feature, value) => {
    await expect(set(await aWorkspace(), feature, value)).rejects.toBeInstanceOf(Invalid);
  });
});

describe('prices', () => {
  test('come from the default card where the workspace has none of its own', async () => {
    const workspaceId = await aWorkspace();
    const { channelId } = await aChannel(workspaceId);
    await database.pool.query(sql.type(nothing)`
      INSERT INTO rate_card (workspace_id, category, country, price)
      VALUES (${workspaceId}, 'MARKETING', 'DE', 1), (${workspaceId}, 'MARKETING', 'FR', 2)`);
    const prices = await findPrices(database.pool, channelId, 'MARKETING');
    expect([prices.get('DE'), prices.get('FR'), prices.get('IN'), prices.get('')]).toEqual([
      1n,
      2n,
      10_700n,
      50_000n,
    ]);
    const { channelId: elsewhere } = await aChannel(await aWorkspace());
    const other = await findPrices(database.pool, elsewhere, 'MARKETING');
    expect([other.get('DE'), other.get('FR')]).toEqual([136_500n, undefined]);
    const card = await listPrices(database.pool, channelId);
    expect(card.filter(({ country }) => country === 'FR')).toEqual([
      { category: 'MARKETING', country: 'FR', price: 2n },
    ]);
  });

  test('of a category without a price are those of marketing', async () => {
    const { channelId } = await aChannel(await aWorkspace());
    expect(await findPrices(database.pool, channelId, 'SERVICE_NEW')).toEqual(
      await findPrices(database.pool, channelId, 'MARKETING'),
    );
  });
});

test('a channel that is blocked by an operator pauses its campaigns', async () => {
  const campaign = await seedCampaign(database.pool, { recipients: 1 });
  await updateChannel(
    { database: database.pool, secrets, now: () => new Date() },
    { channelId: campaign.channelId, status: 'blocked' },
  );
  expect(await getCampaignSnapshot(database.pool, campaign.campaignId)).toMatchObject({
    status: 'PAUSED',
    pauseReason: 'CHANNEL_BLOCKED',
  });
});

const waitsForLocks = sql.type(nothing)`
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Locks the channel as another transaction does, until `commit`. */
async function anotherChange(channelId: string, assignment: string) {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query(`UPDATE channel SET ${assignment} WHERE id = $1`, [channelId]);
  return {
    untilWaiting: async (transactions: number) => {
      await expect.poll(() => database.owner.any(waitsForLocks)).toHaveLength(transactions);
    },
    commit: async () => {
      await other.query('COMMIT');
      await other.end();
    },
  };
}

test('keeps a block by the provider that commits during a change of the channel', async () => {
  const { workspaceId, channelId } = await aWallet();
  const block = await anotherChange(channelId, `status = 'blocked', block_reason = 'ACCOUNT_UPDATE BAN'`);
  const change = updateChannel(
    { database: database.pool, secrets, now: () => new Date() },
    { channelId, messagesPerSecond: 20 },
  );
  await block.untilWaiting(1);
  await block.commit();
  expect(await change).toMatchObject({ status: 'blocked', messagesPerSecond: 20 });
  expect(await getChannel(database.pool, workspaceId, channelId)).toMatchObject({
    status: 'blocked',
    blockReason: 'ACCOUNT_UPDATE BAN',
    messagesPerSecond: 20,
  });
});

test('a messaging limit by an operator and a notice about the account wait for each other in one order', async () => {
  const workspaceId = await aWorkspace();
  const businessAccountId = unique('account');
  const { channelId } = await aChannel(workspaceId, { businessAccountId });
  const other = await anotherChange(channelId, `responder = 'none'`);
  const change = updateChannel(
    { database: database.pool, secrets, now: () => new Date() },
    { channelId, messagingLimit: 250 },
  );
  await other.untilWaiting(1);
  const item: AccountItem = {
    kind: 'account',
    businessAccountId,
    phoneNumberId: null,
    field: 'account_update',
    event: 'DISABLED_UPDATE',
    facts: {},
    maySend: false,
    blockedUntil: null,
    quality: null,
    errors: [],
    timestamp: null,
    raw: null,
    messagingLimit: undefined,
  };
  const notice = database.pool.transaction((transaction) =>
    applyAccountNotification({ logger: pino({ level: 'silent' }), now: () => new Date() }, transaction, {
      item,
      channel: undefined,
    }),
  );
  await other.untilWaiting(2);
  await other.commit();
  expect(await Promise.allSettled([change, notice])).toMatchObject([
    { status: 'fulfilled', value: { messagingLimit: 250 } },
    { status: 'fulfilled' },
  ]);
  expect(await getChannel(database.pool, workspaceId, channelId)).toMatchObject({ status: 'blocked' });
});

test('a block by an operator and a refusal of a country wait for each other in one order', async () => {
  const campaign = await seedCampaign(database.pool, { recipients: 1 });
  const other = await anotherChange(campaign.channelId, `responder = 'none'`);
  const block = updateChannel(
    { database: database.pool, secrets, now: () => new Date() },
    { channelId: campaign.channelId, status: 'blocked' },
  );
  await other.untilWaiting(1);
  const failed = { ...campaign, country: 'FR' };
  const callback = database.pool.transaction((transaction) =>
    applyConsequences({ logger: pino({ level: 'silent' }), now: () => new Date() }, transaction, [
      { ...failed, code: 132015 },
      { ...failed, code: 130497 },
    ]),
  );
  await other.untilWaiting(2);
  await other.commit();
  expect(await Promise.allSettled([block, callback])).toMatchObject([
    { status: 'fulfilled' },
    { status: 'fulfilled' },
  ]);
  expect(await getChannel(database.pool, campaign.workspaceId, campaign.channelId)).toMatchObject({
    status: 'blocked',
    blockedCountries: ['FR'],
  });
});
