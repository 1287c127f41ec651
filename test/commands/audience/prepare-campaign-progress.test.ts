import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { aCampaignToPrepare, aSender } from '../../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

test('reports the processed rows while the file is still downloading', async () => {
  const sender = await aSender(database.pool);
  const id = await aCampaignToPrepare(database.pool, sender, {
    audience: { csv_mapping: { phone_column: 0, country_code_column: 1 }, csv_file_key: 'k' },
  });
  const rows = Array.from({ length: 12_000 }, (_, index) => `+49151${10_000_000 + index},49\n`);
  let tellProgress = (): void => undefined;
  const progressed = new Promise<void>((resolve) => {
    tellProgress = resolve;
  });
  const file = async function* () {
    yield Buffer.from(`p,c\n${rows.slice(0, 8_000).join('')}`);
    await progressed;
    yield Buffer.from(rows.slice(8_000).join(''));
  };
  const reportedCounts: number[] = [];
  const dependencies = {
    config: { databaseUrl: database.url, publicUrl: undefined, host: '', port: 0 },
    database: database.pool,
    logger: silent,
    now: () => new Date(),
    storage: { read: async () => Readable.from(file()) },
  } as unknown as Dependencies;
  await prepareCampaign(dependencies, id, {
    signal: new AbortController().signal,
    heartbeat: (count) => {
      reportedCounts.push(count);
      if (count > 0) tellProgress();
    },
  });
  const [first = 0] = reportedCounts.filter((count) => count > 0);
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(8_000);
  expect(reportedCounts).toEqual(reportedCounts.toSorted((a, b) => a - b));
});
