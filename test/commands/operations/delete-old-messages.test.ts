import pino from 'pino';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deleteMessages } from '../../../src/commands/operations/delete-expired.ts';
import type { Config } from '../../../src/config.ts';
import { findTargetsById, findTargetsByProviderId } from '../../../src/records/callbacks/message-statuses.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { listBookDifferences } from '../../../src/records/operations/books.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { seedEndedCampaign, seedOldMessages } from '../../support/old-campaigns.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const options = { batchSize: 10, onBatch: () => undefined };
const remover = (config = { messageRetentionMonths: 6 } as Config) => ({
  database: database.pool,
  config,
  logger: pino({ level: 'silent' }),
});

const Left = row(t.type({ recipients: t.number, messages: t.number, reserved: t.bigint, balance: t.bigint }));
const left = ({ campaignId, channelId, workspaceId }: SeededCampaign) =>
  database.pool.one(sql.type(Left)`
    SELECT (SELECT count(*)::int FROM recipient WHERE campaign_id = ${campaignId}) AS recipients,
      (SELECT count(*)::int FROM message WHERE workspace_id = ${workspaceId}) AS messages, reserved, balance
    FROM wallet WHERE channel_id = ${channelId}`);

it('keeps everything without the setting', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 60 });
  expect(await deleteMessages(remover({} as Config), options)).toEqual({});
  expect(await left(old)).toMatchObject({ recipients: 25 });
});

it('deletes the recipients of campaigns that ended long enough ago, and no others', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 6 });
  const recent = await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 5 });
  const running = await seedCampaign(database.pool, { recipients: 5 });
  let batches = 0;
  const counted = { ...options, onBatch: () => void (batches += 1) };
  expect(await deleteMessages(remover(), counted)).toEqual({ recipients: 25, messages: 0 });
  expect(batches).toBe(3);
  // The reservation of the unknown one is released, and counters and ledger stay.
  expect(await left(old)).toMatchObject({ recipients: 0, reserved: 0n, balance: 1_000_000_000n });
  const kept = sql.type(row(t.type({ delivered: t.number, unknown: t.number })))`
    SELECT delivered, unknown FROM campaign_counter WHERE campaign_id = ${old.campaignId}`;
  expect(await database.pool.one(kept)).toEqual({ delivered: 24, unknown: 1 });
  expect(await listBookDifferences(database.pool)).toEqual([]);
  expect(await left(recent)).toMatchObject({ recipients: 5 });
  expect(await left(running)).toMatchObject({ recipients: 5 });
  expect(await deleteMessages(remover(), options)).toEqual({ recipients: 0, messages: 0 });
});

it('waits while the outcome of a recipient is not recorded', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 9 });
  await database.pool.query(sql.type(nothing)`UPDATE campaign_counter SET claimed = 1, delivered = 3`);
  expect(await deleteMessages(remover(), options)).toEqual({ recipients: 0, messages: 0 });
  expect(await left(old)).toMatchObject({ recipients: 5 });
});

it('deletes old messages of every workspace, and keeps the later ones', async () => {
  const one = await seedCampaign(database.pool, { recipients: 1 });
  const other = await seedCampaign(database.pool, { recipients: 1 });
  const monthsAgo = (months: number) => {
    const date = new Date();
    date.setUTCMonth(date.getUTCMonth() - months);
    return date;
  };
  await seedOldMessages(database.pool, one, { messages: 25, at: monthsAgo(9) });
  await seedOldMessages(database.pool, other, { messages: 7, at: monthsAgo(9) });
  await seedOldMessages(database.pool, one, { messages: 3, at: monthsAgo(5) });
  expect(await deleteMessages(remover(), options)).toEqual({ recipients: 0, messages: 32 });
  // The three that are kept hold one reservation.
  expect(await left(one)).toMatchObject({ messages: 3, reserved: 1_000n });
  expect(await left(other)).toMatchObject({ messages: 0, reserved: 0n });
  expect(await listBookDifferences(database.pool)).toEqual([]);
});

it('continues a deletion that was interrupted', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 });
  let batches = 0;
  const interrupted = {
    ...options,
    onBatch: () => {
      batches += 1;
      throw Object.assign(new Error('the connection is cut'), { code: 'ECONNRESET' });
    },
  };
  await expect(deleteMessages(remover(), interrupted)).rejects.toThrow('the connection is cut');
  expect(batches).toBe(1);
  expect(await left(old)).toMatchObject({ recipients: 15 });
  expect(await deleteMessages(remover(), options)).toEqual({ recipients: 15, messages: 0 });
});

it('deletes the others if one campaign cannot be finished, and that one once it can', async () => {
  const broken = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 9 });
  const whole = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 });
  // Less is reserved than its recipients hold: deleting them would make the reservations negative.
  const reserve = (amount: bigint) =>
    database.pool.query(sql.type(nothing)`
      UPDATE wallet SET reserved = ${amount} WHERE channel_id = ${broken.channelId}`);
  const { reserved } = await left(broken);
  await reserve(0n);
  expect(await deleteMessages(remover(), options)).toMatchObject({ recipients: 25 });
  expect([await left(broken), await left(whole)]).toMatchObject([{ recipients: 25 }, { recipients: 0 }]);
  await reserve(reserved);
  expect(await deleteMessages(remover(), options)).toMatchObject({ recipients: 25 });
  expect(await left(broken)).toMatchObject({ recipients: 0, reserved: 0n });
});

it('knows no message for a status that comes after the deletion', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 2, monthsAgo: 7 });
  const ids = await database.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`
    SELECT id FROM recipient WHERE campaign_id = ${old.campaignId}`);
  expect(await findTargetsById(database.pool, ids)).toHaveLength(2);
  await deleteMessages(remover(), options);
  expect(await findTargetsById(database.pool, ids)).toEqual([]);
  expect(await findTargetsByProviderId(database.pool, [`wamid.${old.campaignId}.2`])).toEqual([]);
});
