import { describe, expect, it } from 'vitest';
import { pauseCampaign, startCampaignAgain } from '../../src/commands/campaigns/change-campaign.ts';
import { createWorkerOrchestrator } from '../../src/orchestrator/orchestrator.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import {
  createCampaignFixture,
  until,
  type CampaignFixture,
  type CampaignFixtureSeed,
} from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(() => startTemporal(['limit.historyCount.suggestContinueAsNew=30']));

const createFixture = (seed: CampaignFixtureSeed) => createCampaignFixture(servers(), seed);

const handleOf = ({ campaignId }: CampaignFixture) =>
  servers().temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));

const runOf = async (fixture: CampaignFixture) => (await handleOf(fixture).describe()).runId;

async function pauseAndGoOn(fixture: CampaignFixture): Promise<void> {
  await pauseCampaign(fixture.dependencies, fixture);
  await until(async () => (await fixture.progress())?.status === 'PAUSED');
  await startCampaignAgain(fixture.dependencies, fixture);
}

describe('the campaign workflow, when its history grows long', () => {
  it('goes on in another run where it stood', { timeout: 120_000 }, async () => {
    const fixture = await createFixture({ recipients: 600, messagesPerSecond: 100 });
    await fixture.start();
    const first = await runOf(fixture);
    const end = await fixture.withWorker(async () => {
      await until(async () => (await fixture.snapshot()).counts.accepted > 0);
      for (let round = 0; round < 4; round += 1) await pauseAndGoOn(fixture);
      return fixture.result();
    });
    expect(await runOf(fixture)).not.toBe(first);
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 600 } });
    expect(new Set(fixture.provider.received.map(({ callbackData }) => callbackData)).size).toBe(600);
    expect(fixture.provider.received).toHaveLength(600);
  });

  it('loses no request to cancel that comes while it goes on', { timeout: 120_000 }, async () => {
    const fixture = await createFixture({ recipients: 2_000, messagesPerSecond: 100 });
    await fixture.start();
    const first = await runOf(fixture);
    const end = await fixture.withWorker(async () => {
      await until(async () => (await fixture.snapshot()).counts.accepted > 0);
      while ((await runOf(fixture)) === first) {
        await pauseCampaign(fixture.dependencies, fixture);
        await startCampaignAgain(fixture.dependencies, fixture);
      }
      await handleOf(fixture).cancel();
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, claimed: 0 } });
    expect(fixture.provider.received).toHaveLength(end.counts.accepted);
  });
});

describe('the orchestrator of a worker', () => {
  it('distinguishes a running workflow from one that does not run, and starts it once', async () => {
    const { temporal } = servers();
    const orchestrator = createWorkerOrchestrator(temporal.nativeConnection, temporal.namespace ?? 'default');
    const fixture = await createFixture({ recipients: 1, scheduledInMs: 3_600_000 });
    const campaign = { id: fixture.campaignId, workspaceId: 1, name: 'Test' };
    expect(await orchestrator.refreshCampaign(campaign.id)).toBe(false);
    await orchestrator.startCampaign(campaign);
    const first = await runOf(fixture);
    await orchestrator.startCampaign(campaign);
    expect(await orchestrator.refreshCampaign(campaign.id)).toBe(true);
    expect(await runOf(fixture)).toBe(first);
    await handleOf(fixture).terminate();
    expect(await orchestrator.refreshCampaign(campaign.id)).toBe(false);
    await orchestrator.startCampaign(campaign);
    expect(await runOf(fixture)).not.toBe(first);
    await handleOf(fixture).terminate();
  });
});
