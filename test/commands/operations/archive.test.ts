import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { archiveExpired } from '../../../src/commands/operations/archive-expired.ts';
import type { Config } from '../../../src/config.ts';
import { findTargetsById, findTargetsByProviderId } from '../../../src/records/callbacks/message-statuses.ts';
import { row } from '../../../src/records/database/row.ts';
import { readCampaignBooks } from '../../../src/records/operations/doctor-campaigns.ts';
import { compareReservations } from '../../../src/records/operations/doctor-wallets.ts';
import { recordArchive } from '../../../src/records/operations/archives.ts';
import { StorageFailure } from '../../../src/storage/storage-failure.ts';
import { createArchivist, seedEndedCampaign, seedOldMessages } from '../../support/archive-fixture.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let fixture: Awaited<ReturnType<typeof createArchivist>>;
beforeEach(async () => {
  database = await createTestDatabase();
  fixture = await createArchivist(database);
});
afterEach(async () => {
  await fixture.end();
  await database.drop();
});

const options = { batchSize: 10, onBatch: () => undefined };
const keyOf = ({ campaignId }: SeededCampaign) => `archive_campaign_${campaignId}.csv.gz`;

const Left = row(t.type({ recipients: t.number, messages: t.number, reserved: t.bigint, balance: t.bigint }));
const left = ({ campaignId, channelId, workspaceId }: SeededCampaign) =>
  database.pool.one(sql.type(Left)`
    SELECT (SELECT count(*)::int FROM recipient WHERE campaign_id = ${campaignId}) AS recipients,
      (SELECT count(*)::int FROM message WHERE workspace_id = ${workspaceId}) AS messages, reserved, balance
    FROM wallet WHERE channel_id = ${channelId}`);

it('keeps everything without the setting', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 60 });
  const archivist = { ...fixture.archivist, config: { databaseUrl: database.url } as Config };
  expect(await archiveExpired(archivist, options)).toEqual({});
  expect(await left(old)).toMatchObject({ recipients: 25 });
});

it('archives the recipients of campaigns that ended long enough ago, and no others', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 6 });
  const recent = await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 5 });
  const running = await seedCampaign(database.pool, { recipients: 5 });
  let batches = 0;
  const counted = { ...options, onBatch: () => void (batches += 1) };
  expect(await archiveExpired(fixture.archivist, counted)).toEqual({ archives: 1, archivedRows: 25 });
  expect(batches).toBeGreaterThanOrEqual(4);
  expect(await readdir(fixture.folder)).toEqual([keyOf(old)]);
  const lines = await fixture.linesOf(keyOf(old));
  expect(lines).toHaveLength(25);
  expect(lines[0]).toMatch(/^[\da-f-]{36},4915100000001,,UNKNOWN,OUTCOME_UNKNOWN,.*,1,DE,.*,1000,reserved,/);
  expect(lines[24]).toMatch(/,4915100000025,,DELIVERED,.*,25,DE,.*Ada 25.*,1000,charged,/);
  // The reservation of the unknown one is released, and counters and ledger stay.
  expect(await left(old)).toMatchObject({ recipients: 0, reserved: 0n, balance: 1_000_000_000n });
  expect(await readCampaignBooks(database.pool, old.campaignId)).toMatchObject({
    archived: true,
    kept: { delivered: 24, unknown: 1 },
  });
  expect(await left(recent)).toMatchObject({ recipients: 5 });
  expect(await left(running)).toMatchObject({ recipients: 5 });
  expect(await archiveExpired(fixture.archivist, options)).toEqual({ archives: 0, archivedRows: 0 });
});

it('lets a campaign wait while the outcome of a recipient is not recorded', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 9 });
  await database.pool.query(
    sql.type(row(t.type({})))`UPDATE campaign_counter SET claimed = 1, delivered = 3`,
  );
  expect(await archiveExpired(fixture.archivist, options)).toEqual({ archives: 0, archivedRows: 0 });
  expect(await left(old)).toMatchObject({ recipients: 5 });
});

it('archives messages by workspace and month, and leaves the month that is not old enough', async () => {
  const [one, other] = [
    await seedCampaign(database.pool, { recipients: 1 }),
    await seedCampaign(database.pool, { recipients: 1 }),
  ];
  const now = new Date();
  const month = (ago: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
  const nameOf = (date: Date) => date.toISOString().slice(0, 7);
  // 2,500 messages are three batches of the archive.
  await seedOldMessages(database.pool, one, { messages: 2_500, at: month(9) });
  await seedOldMessages(database.pool, one, { messages: 12, at: month(8) });
  await seedOldMessages(database.pool, other, { messages: 7, at: month(9) });
  await seedOldMessages(database.pool, one, { messages: 3, at: month(5) });
  const summary = await archiveExpired(fixture.archivist, { ...options, batchSize: 1_000 });
  expect(summary).toEqual({ archives: 3, archivedRows: 2_519 });
  const key = `archive_messages_${one.workspaceId}_${nameOf(month(9))}.csv.gz`;
  expect((await readdir(fixture.folder)).toSorted()).toEqual(
    [
      key,
      `archive_messages_${one.workspaceId}_${nameOf(month(8))}.csv.gz`,
      `archive_messages_${other.workspaceId}_${nameOf(month(9))}.csv.gz`,
    ].toSorted(),
  );
  const text = (await fixture.linesOf(key)).join('\n');
  const numbers = [...text.matchAll(/line (\d+)""}"/g)].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1));
  // The three that are kept hold one reservation.
  expect(await left(one)).toMatchObject({ messages: 3, reserved: 1_000n });
  expect(await left(other)).toMatchObject({ messages: 0, reserved: 0n });
  const { channelId } = one;
  expect(await compareReservations(database.pool, { channelId, campaignIds: [] })).toMatchObject({
    owed: 1_000n,
    reserved: 1_000n,
  });
});

it('deletes nothing when the storage fails, and writes the same object the next time', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 });
  const { storage } = fixture.archivist;
  let bytes = Buffer.alloc(0);
  const lost = {
    ...storage,
    write: async (...file: Parameters<typeof storage.write>) => {
      await storage.write(...file);
      bytes = await readFile(join(fixture.folder, file[0]));
      throw new StorageFailure('the answer is lost');
    },
  };
  expect(await archiveExpired({ ...fixture.archivist, storage: lost }, options)).toEqual({
    archives: 0,
    archivedRows: 0,
  });
  expect(await left(old)).toMatchObject({ recipients: 25 });
  expect(await archiveExpired(fixture.archivist, options)).toEqual({ archives: 1, archivedRows: 25 });
  expect(bytes.length).toBeGreaterThan(100);
  expect(await readFile(join(fixture.folder, keyOf(old)))).toEqual(bytes);
});

it('gives up an archive that takes longer than an hour while it is written', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 });
  const clock = vi.spyOn(performance, 'now');
  const onBatch = () => void clock.mockReturnValue(Infinity);
  expect(await archiveExpired(fixture.archivist, { ...options, onBatch })).toEqual({
    archives: 0,
    archivedRows: 0,
  });
  clock.mockRestore();
  expect(await readdir(fixture.folder)).toEqual([]);
  expect(await left(old)).toMatchObject({ recipients: 25 });
});

it('tries an archive that took too long after all others, also in the next runs', async () => {
  const slow = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 9 });
  const others = [
    await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 }),
    await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 6 }),
  ];
  const late = new Set<string>();
  const clock = vi.spyOn(performance, 'now');
  const onBatch = () => void clock.mockReturnValue(Infinity);
  await archiveExpired(fixture.archivist, { ...options, onBatch, late });
  clock.mockRestore();
  const { storage } = fixture.archivist;
  const tried: string[] = [];
  const write: typeof storage.write = (key, content) => {
    tried.push(key);
    return storage.write(key, content);
  };
  const archivist = { ...fixture.archivist, storage: { ...storage, write } };
  expect(await archiveExpired(archivist, { ...options, late })).toMatchObject({ archives: 3 });
  expect(tried).toEqual([...others, slow].map(keyOf));
  expect(late.size).toBe(0);
});

it('archives the others when one cannot be finished, and that one once it can', async () => {
  const [broken, whole] = [
    await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 9 }),
    await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 }),
  ];
  // Less is reserved than its recipients hold: deleting them would make the reservations negative.
  const reserve = (amount: bigint) =>
    database.pool.query(sql.type(row(t.type({})))`
      UPDATE wallet SET reserved = ${amount} WHERE channel_id = ${broken.channelId}`);
  const { reserved } = await left(broken);
  await reserve(0n);
  expect(await archiveExpired(fixture.archivist, options)).toMatchObject({ archives: 1 });
  expect([await left(broken), await left(whole)]).toMatchObject([{ recipients: 25 }, { recipients: 0 }]);
  await reserve(reserved);
  expect(await archiveExpired(fixture.archivist, options)).toMatchObject({ archives: 1 });
  expect(await left(broken)).toMatchObject({ recipients: 0, reserved: 0n });
});

it('archives what comes after a whole page of archives that fail', async () => {
  for (let failing = 0; failing < 100; failing += 1)
    await seedEndedCampaign(database.pool, { recipients: 1, monthsAgo: 9 });
  const whole = await seedEndedCampaign(database.pool, { recipients: 1, monthsAgo: 7 });
  const { storage } = fixture.archivist;
  const write: typeof storage.write = async (key, content) => {
    if (key.includes(whole.campaignId)) return storage.write(key, content);
    content.destroy();
    throw new Error('broken');
  };
  const archivist = { ...fixture.archivist, storage: { ...storage, write } };
  expect(await archiveExpired(archivist, options)).toMatchObject({ archives: 1 });
  expect(await left(whole)).toMatchObject({ recipients: 0 });
});

it('replaces no archive that another process recorded while it read', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 25, monthsAgo: 7 });
  const { storage } = fixture.archivist;
  const { workspaceId, campaignId } = old;
  const key = keyOf(old);
  const overtaken = {
    ...storage,
    write: async (...file: Parameters<typeof storage.write>) => {
      await recordArchive(database.pool, { workspaceId, campaignId, month: null, key, size: 1 });
      return storage.write(...file);
    },
  };
  await archiveExpired({ ...fixture.archivist, storage: overtaken }, options);
  expect(await readdir(fixture.folder)).toEqual([]);
});

it('knows no message for a status that comes after the archive', async () => {
  const old = await seedEndedCampaign(database.pool, { recipients: 2, monthsAgo: 7 });
  const ids = await database.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`
    SELECT id FROM recipient WHERE campaign_id = ${old.campaignId}`);
  expect(await findTargetsById(database.pool, ids)).toHaveLength(2);
  await archiveExpired(fixture.archivist, options);
  expect(await findTargetsById(database.pool, ids)).toEqual([]);
  expect(await findTargetsByProviderId(database.pool, [`wamid.${old.campaignId}.2`])).toEqual([]);
});
