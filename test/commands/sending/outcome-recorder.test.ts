import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOutcomeRecorder } from '../../../src/commands/sending/outcome-recorder.ts';
import { settleCampaign } from '../../../src/commands/campaigns/settle-campaign.ts';
import type { Config } from '../../../src/config.ts';
import type { Connection, Database } from '../../../src/records/database/database.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { getCampaignCounts } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { claimBatch, countOpenClaims } from '../../../src/records/sending/claim-batch.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  testSecrets,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const logger = pino({ level: 'silent' }) as unknown as Logger;
const prices = new Map([['', messagePrice]]);

async function claimAll(recipients: number) {
  const seeded = await seedCampaign(test.pool, { recipients });
  const claimId = randomUUID();
  const claim = await claimBatch(test.pool, {
    ...anyTokens,
    ...seeded,
    claimId,
    epoch: 0,
    limit: recipients,
    prices,
  });
  if (claim.kind !== 'batch') throw new Error(claim.kind);
  return { seeded, recipients: claim.recipients };
}

/** A database whose statements that record outcomes fail like a statement that timed out when `refuse` returns true. */
function failing(refuse: (statement: string) => boolean, database: Connection = test.pool): Database {
  return new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === 'transaction')
        return (routine: (transaction: Connection) => Promise<unknown>) =>
          target.transaction((transaction) => routine(failing(refuse, transaction)));
      if ((name !== 'query' && name !== 'any') || typeof member !== 'function') return member;
      return (statement: { readonly sql: string; readonly values: readonly unknown[] }) => {
        if (statement.sql.includes('by_position') && refuse(String(statement.values[0])))
          throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
        return Reflect.apply(member, target, [statement]);
      };
    },
  }) as Database;
}

const countOf = (outcomes: string): number => Object.keys(JSON.parse(outcomes) as object).length;

it('keeps outcomes whose statement fails, and records them in smaller batches', async () => {
  const { seeded, recipients } = await claimAll(40);
  const tried: number[] = [];
  const database = failing((outcomes) => {
    tried.push(countOf(outcomes));
    return countOf(outcomes) > 7;
  });
  const recorder = createOutcomeRecorder(
    { database, logger, metrics: createMetrics('test'), secrets: testSecrets },
    seeded,
    { onRecorded: () => undefined, onBraked: () => undefined },
  );
  for (const { position, claimId } of recipients)
    recorder.add({
      position,
      claimId,
      outcome: { kind: 'accepted', providerMessageId: `wamid.${position}` },
    });
  await recorder.flush();
  expect(tried.slice(0, 4)).toEqual([40, 20, 10, 5]);
  expect(await getCampaignCounts(test.pool, seeded.campaignId)).toMatchObject({ accepted: 40, claimed: 0 });
  expect(await checkBooks(test.pool, seeded)).toMatchObject({ counters_fit: true, reserved: 0n });
  expect(await countOpenClaims(test.pool, seeded.channelId)).toBe(0);
});

it('writes at most 500 outcomes per statement, and reports a backlog while statements fail', async () => {
  const { seeded, recipients } = await claimAll(1_200);
  let isAway = true;
  let most = 0;
  const database = failing((outcomes) => {
    most = Math.max(most, countOf(outcomes));
    return isAway;
  });
  const recorder = createOutcomeRecorder(
    { database, logger, metrics: createMetrics('test'), secrets: testSecrets },
    seeded,
    { onRecorded: () => undefined, onBraked: () => undefined },
  );
  for (const { position, claimId } of recipients)
    recorder.add({ position, claimId, outcome: { kind: 'failed', reason: 'PROVIDER_100', detail: '' } });
  const flushed = recorder.flush();
  await expect.poll(() => recorder.isBehind()).toBe(true);
  isAway = false;
  await flushed;
  expect(recorder.isBehind()).toBe(false);
  expect(most).toBe(500);
  expect(await getCampaignCounts(test.pool, seeded.campaignId)).toMatchObject({ failed: 1_200, claimed: 0 });
});

it('records everything although its statements are cancelled', async () => {
  const { seeded, recipients } = await claimAll(1_000);
  const [holder, killer] = [1, 2].map(() => new pg.Client({ connectionString: test.ownerUrl })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([holder.connect(), killer.connect()]);
  // Each statement that records the held recipient waits, and is cancelled; the fifth is let through.
  await holder.query('BEGIN');
  await holder.query('SELECT FROM recipient WHERE campaign_id = $1 AND position = 700 FOR UPDATE', [
    seeded.campaignId,
  ]);
  const cancelling = (async () => {
    for (let cancelled = 0; cancelled < 4;) {
      const { rowCount } = await killer.query(`
        SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%by_position%'`);
      cancelled += rowCount ?? 0;
      await sleep(5);
    }
    await holder.query('COMMIT');
  })();
  const recorder = createOutcomeRecorder(
    { database: test.pool, logger, metrics: createMetrics('test'), secrets: testSecrets },
    seeded,
    { onRecorded: () => undefined, onBraked: () => undefined },
  );
  for (const { position, claimId } of recipients)
    recorder.add({
      position,
      claimId,
      outcome: { kind: 'accepted', providerMessageId: `wamid.${position}` },
    });
  await recorder.flush();
  await cancelling;
  await Promise.all([holder.end(), killer.end()]);
  expect(await getCampaignCounts(test.pool, seeded.campaignId)).toMatchObject({
    accepted: 1_000,
    claimed: 0,
  });
  expect(await checkBooks(test.pool, seeded)).toMatchObject({ counters_fit: true, reserved: 0n });
});

it('settles recipients that are CLAIMED without an open claim, so that the campaign ends', async () => {
  const { seeded } = await claimAll(3);
  await test.pool.query(
    sql.type(nothing)`DELETE FROM campaign_claim WHERE campaign_id = ${seeded.campaignId}`,
  );
  const dependencies = {
    database: test.pool,
    config: { outcomeGraceSeconds: 600 } as Config,
    logger,
    metrics: createMetrics('test'),
  };
  expect(await settleCampaign(dependencies, seeded.campaignId)).toBeGreaterThan(0);
  expect(await settleCampaign(dependencies, seeded.campaignId)).toBe(0);
  expect(await getCampaignCounts(test.pool, seeded.campaignId)).toMatchObject({ unknown: 3, claimed: 0 });
});
