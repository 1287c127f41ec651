/** Cancelled campaigns whose messages have no outcome yet, on a worker with few slots. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { cancelCampaign } from '../../src/commands/campaigns/change-campaign.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { claimBatch } from '../../src/records/sending/claim-batch.ts';
import { anyTokens, messagePrice, seedCampaign } from '../support/campaign-factory.ts';
import { createCampaignFixture } from '../support/campaign-fixture.ts';
import { startTemporal } from '../support/temporal.ts';
import { openTestServers } from '../support/test-servers.ts';

const servers = openTestServers(startTemporal);
const slots = 4;

it('leave the slots to the campaigns of others while they wait for open claims', async () => {
  const { database } = servers();
  const fixture = await createCampaignFixture(servers(), { recipients: 50 });
  const { orchestrator } = fixture.dependencies;
  const prices = new Map([['', messagePrice]]);
  const cancelled = await Promise.all(
    Array.from({ length: slots * 2 }, async () => {
      const seeded = await seedCampaign(database, { recipients: 2 });
      const claimed = await claimBatch(database, {
        ...anyTokens,
        ...seeded,
        claimId: randomUUID(),
        epoch: 0,
        limit: 1,
        prices,
      });
      expect(claimed.kind).toBe('batch');
      await cancelCampaign({ ...fixture.dependencies, orchestrator }, seeded);
      await orchestrator.startCampaign({ ...seeded, id: seeded.campaignId, name: 'Test' });
      return seeded.campaignId;
    }),
  );
  const snapshots = () => Promise.all(cancelled.map((id) => getCampaignSnapshot(database, id)));
  await fixture.withWorker(
    async () => {
      // Each of them has had a step, and waits for the outcome of its claim.
      await expect
        .poll(async () => (await snapshots()).map(({ counts }) => counts.pending), { timeout: 30_000 })
        .toEqual(cancelled.map(() => 0));
      await fixture.start();
      await expect.poll(async () => (await fixture.snapshot()).status, { timeout: 30_000 }).toBe('COMPLETED');
    },
    { maxConcurrentActivityTaskExecutions: slots },
  );
  expect((await snapshots()).map(({ counts }) => counts.claimed)).toEqual(cancelled.map(() => 1));
  expect(fixture.provider.received).toHaveLength(50);
});
