import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type Check,
  checkBooks,
  runDoctor,
  type Doctor,
  type Finding,
} from '../../../src/commands/operations/doctor.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { seedEndedCampaign } from '../../support/old-campaigns.ts';

let database: TestDatabase;
let seeded: SeededCampaign;
beforeEach(async () => {
  database = await createTestDatabase();
  seeded = await seedCampaign(database.pool, { recipients: 10 });
});
afterEach(() => database.drop());

const run = (statement: ReturnType<typeof sql.fragment>) =>
  database.owner.query(sql.type(nothing)`${statement}`);
async function findings(quick = false): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for await (const finding of checkBooks({ database: database.pool, quick } as Doctor)) found.push(finding);
  return found;
}

it('finds nothing where everything agrees', async () => {
  await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 1 });
  expect(await findings()).toEqual([]);
});

it('reports a balance that is not the sum of its entries, and repairs nothing', async () => {
  await run(sql.fragment`UPDATE wallet SET balance = balance - 700`);
  expect(await findings()).toEqual([
    {
      kind: 'ledger-differs-from-balance',
      id: seeded.channelId,
      fingerprint: 'micro-units 999999300 ≠ 1000000000',
      isCertain: true,
      meaning:
        'the balance of the wallet differs from the sum of its entries (stored ≠ found): micro-units 999999300 ≠ 1000000000',
    },
  ]);
});

it('compares them once, because one snapshot shows both sides', async () => {
  await run(sql.fragment`UPDATE wallet SET balance = balance - 700`);
  let comparisons = 0;
  const check: Check = (doctor) => {
    comparisons += 1;
    return checkBooks(doctor);
  };
  const found = await runDoctor({ database: database.pool } as Doctor, { pauseMs: 0, checks: [check] });
  expect([found.map(({ kind }) => kind), comparisons]).toEqual([['ledger-differs-from-balance'], 1]);
});

it('reports a reserved amount that is not the price of the messages without an outcome', async () => {
  await run(sql.fragment`UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN', price = 1000,
    settlement = 'reserved' WHERE position <= 2`);
  await run(sql.fragment`UPDATE campaign_counter SET pending = 8, unknown = 2, claimed_position = 2`);
  await run(
    sql.fragment`INSERT INTO campaign_reason VALUES (${seeded.campaignId}, 'failed', 'OUTCOME_UNKNOWN', 2)`,
  );
  await run(sql.fragment`INSERT INTO message (workspace_id, channel_id, direction, source, state, price, settlement)
    VALUES (${seeded.workspaceId}, ${seeded.channelId}, 'outbound', 'api', 'UNKNOWN', 300, 'reserved')`);
  await run(sql.fragment`UPDATE wallet SET reserved = 5000`);
  expect(await findings()).toMatchObject([
    {
      kind: 'reserved-differs-from-messages',
      id: seeded.channelId,
      fingerprint: 'micro-units 5000 ≠ 2300',
    },
  ]);
  await run(sql.fragment`UPDATE wallet SET reserved = 2300`);
  expect(await findings()).toEqual([]);
});

it('reports counters, reasons and totals that differ from the recipients', async () => {
  await run(
    sql.fragment`UPDATE recipient SET state = 'FAILED', reason = 'PROVIDER_131026' WHERE position <= 3`,
  );
  await run(sql.fragment`UPDATE campaign_counter SET pending = 4, failed = 1, claimed_position = 3`);
  await run(sql.fragment`UPDATE campaign SET total_contacts = 9`);
  const found = await findings();
  expect(found.map(({ kind, id }) => [kind, id])).toEqual(
    ['counters-differ-from-rows', 'reasons-differ-from-rows', 'totals-differ-from-rows'].map((kind) => [
      kind,
      seeded.campaignId,
    ]),
  );
  expect(found[0]?.fingerprint.split(', ').toSorted()).toEqual(['failed 1 ≠ 3', 'pending 4 ≠ 7']);
  expect(found[1]?.fingerprint).toBe('failed PROVIDER_131026 0 ≠ 3');
  expect(found[2]?.fingerprint).toBe('recipients and skipped 9 and 0 ≠ 10 and 0');
});

it('reports PENDING recipients that no claim would reach', async () => {
  await run(sql.fragment`UPDATE campaign_counter SET claimed_position = 4`);
  await run(sql.fragment`INSERT INTO recipient_retry VALUES (${seeded.campaignId}, 2, now())`);
  expect(await findings()).toMatchObject([
    { kind: 'recipients-stranded', id: seeded.campaignId, fingerprint: 'waiting for another attempt 1 ≠ 4' },
  ]);
});

it('leaves out campaigns that have ended with every outcome known, if it is to be quick', async () => {
  await run(sql.fragment`UPDATE campaign SET status = 'COMPLETED'`);
  await run(sql.fragment`UPDATE campaign_counter SET pending = 3`);
  expect(await findings()).toMatchObject([{ kind: 'counters-differ-from-rows' }]);
  expect(await findings(true)).toEqual([]);
  await run(
    sql.fragment`UPDATE recipient SET state = 'CLAIMED', claim_id = ${randomUUID()} WHERE position = 1`,
  );
  await run(sql.fragment`UPDATE campaign_counter SET claimed = 1`);
  expect(await findings(true)).toMatchObject([{ kind: 'counters-differ-from-rows' }]);
});
