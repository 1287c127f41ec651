import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelCampaign } from '../../../src/commands/campaigns/change-campaign.ts';
import { cancelRecipients } from '../../../src/commands/campaigns/settle-campaign.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { findCampaignInput } from '../../../src/records/campaigns/files.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes, type MessageOutcome } from '../../../src/records/sending/outcomes.ts';
import { outcomesOf } from '../../support/outcomes.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const unsent: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };

async function claimSome(seeded: SeededCampaign, limit: number) {
  const claimId = randomUUID();
  const prices = new Map([['', messagePrice]]);
  const page = await claimBatch(test.pool, { ...anyTokens, ...seeded, claimId, epoch: 0, limit, prices });
  if (page.kind !== 'batch') throw new Error('nothing was claimed');
  return { claimId, positions: page.recipients.map(({ position }) => position) };
}

function cancelling(seeded: SeededCampaign, graceSeconds: number) {
  const orchestrator = { refreshCampaign: async () => true };
  const metrics = createMetrics('test');
  const dependencies = {
    database: test.pool,
    config: { outcomeGraceSeconds: graceSeconds },
    logger: { info: () => undefined },
    metrics,
    orchestrator,
  } as unknown as Dependencies;
  return {
    metrics,
    cancel: () => cancelCampaign(dependencies, seeded),
    /** As the workflow does. */
    settle: async () => {
      for (;;) {
        const waitMs = await cancelRecipients(dependencies, seeded.campaignId, () => undefined);
        if (waitMs === 0) return;
        await sleep(Math.min(waitMs, 100));
      }
    },
  };
}

async function counted({ recipientChanges }: Metrics, state: string): Promise<number | undefined> {
  const { values } = await recipientChanges.get();
  return values.find(({ labels }) => labels.state === state)?.value;
}

describe('cancelRecipients', () => {
  it('cancels recipients that a running batch releases after the cancellation', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 10 });
    const { claimId, positions } = await claimSome(seeded, 4);
    const { cancel, settle, metrics } = cancelling(seeded, 600);
    await cancel();
    const settled = settle();
    const countsNow = async () => (await getCampaignSnapshot(test.pool, seeded.campaignId)).counts;
    await expect.poll(countsNow).toMatchObject({ claimed: 4, pending: 0 });
    const outcomes = new Map(positions.map((position) => [position, unsent]));
    await recordOutcomes(test.pool, { ...seeded, outcomes: outcomesOf(claimId, outcomes) });
    await settled;
    const books = await checkBooks(test.pool, seeded);
    expect(books).toMatchObject({ counters_fit: true, reserved: 0n, owed: 0n });
    const { counts } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(counts).toMatchObject({ claimed: 0, pending: 0, unknown: 0 });
    expect(await counted(metrics, 'cancelled')).toBe(10);
  });

  it('marks recipients of a crashed batch UNKNOWN after the grace period', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 10 });
    await claimSome(seeded, 4);
    const { cancel, settle, metrics } = cancelling(seeded, 1);
    await cancel();
    await settle();
    const { status, counts } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(status).toBe('CANCELLED');
    expect(counts).toMatchObject({ claimed: 0, pending: 0, unknown: 4 });
    expect([await counted(metrics, 'cancelled'), await counted(metrics, 'unknown')]).toEqual([6, 4]);
    expect(await checkBooks(test.pool, seeded)).toMatchObject({
      counters_fit: true,
      reserved: 4n * messagePrice,
      owed: 4n * messagePrice,
    });
  });

  it('deletes the audience input of a campaign whose preparation never ended', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 0 });
    await test.pool.query(sql.type(nothing)`
      INSERT INTO campaign_input (campaign_id, content) VALUES (${seeded.campaignId}, '["+491511234567"]')`);
    const { cancel, settle } = cancelling(seeded, 600);
    await cancel();
    await settle();
    expect(await findCampaignInput(test.pool, seeded.campaignId)).toBeUndefined();
  });
});
