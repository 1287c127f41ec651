/** The process that archives dies right after each of its writes; the next one continues. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { archiveExpired } from '../../src/commands/operations/archive-expired.ts';
import { row } from '../../src/records/database/row.ts';
import { createArchivist, seedEndedCampaign, seedOldMessages } from '../support/archive-fixture.ts';
import { testSecretsKey } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { crashSeam, startProgram } from './child-process.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const Left = row(
  t.type({
    recipients: t.number,
    messages: t.number,
    open: t.number,
    reserved: t.bigint,
    delivered: t.number,
  }),
);
const rows = { recipients: 25, messages: 15 };
const writes = /^write \d+: (.*)$/gm;

/** Archives a campaign and a month; the process dies after its n-th write. Returns what it wrote until then. */
async function archiveAndDie(crashAfter: number): Promise<readonly string[]> {
  const fixture = await createArchivist(test);
  const seeded = await seedEndedCampaign(test.pool, { recipients: rows.recipients, monthsAgo: 7 });
  const at = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 9, 1));
  await seedOldMessages(test.pool, seeded, { messages: rows.messages, at });
  const { output, ended } = startProgram({
    path: 'test/outages/archive-program.mjs',
    preload: crashSeam,
    environment: {
      DATABASE_URL: test.url,
      DATA_DIR: fixture.dataDir,
      MESSAGE_RETENTION_MONTHS: '6',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PROVIDER_BASE_URL: 'http://127.0.0.1:1/v1',
      SECRETS_KEY: testSecretsKey,
      CRASH_ARMED: 'yes',
      CRASH_AFTER: String(crashAfter),
    },
  });
  const end = await ended;
  const written = [...output().matchAll(writes)].map(([, statement = '']) => statement);
  expect(end, output()).toBe(written.length < crashAfter || crashAfter === 0 ? 0 : 'SIGKILL');
  await archiveExpired(fixture.archivist, { batchSize: 10, onBatch: () => undefined });
  const { campaignId, channelId, workspaceId } = seeded;
  const left = await test.pool.one(sql.type(Left)`
    SELECT (SELECT count(*)::int FROM recipient WHERE campaign_id = ${campaignId}) AS recipients,
      (SELECT count(*)::int FROM message WHERE workspace_id = ${workspaceId}) AS messages,
      (SELECT count(*)::int FROM archive WHERE removed_at IS NULL) AS open, delivered, reserved
    FROM wallet, campaign_counter WHERE channel_id = ${channelId} AND campaign_id = ${campaignId}`);
  expect(left, `killed after write ${crashAfter}`).toEqual({
    recipients: 0,
    messages: 0,
    open: 0,
    reserved: 0n,
    delivered: rows.recipients - 1,
  });
  const month = at.toISOString().slice(0, 7);
  for (const [key, lines] of [
    [`archive_campaign_${campaignId}.csv.gz`, rows.recipients],
    [`archive_messages_${workspaceId}_${month}.csv.gz`, rows.messages],
  ] as const) {
    expect(await fixture.linesOf(key), `killed after write ${crashAfter}`).toHaveLength(lines);
  }
  await fixture.end();
  return written;
}

it('loses no row, whichever write was the last of the process', async () => {
  const all = await archiveAndDie(0);
  // Each has at least these writes: the record, the batches of rows, the end.
  expect(all.length).toBeGreaterThanOrEqual(1 + 3 + 1 + 1 + 2 + 1);
  for (let last = 1; last <= all.length; last += 1) await archiveAndDie(last);
});
