import { describe, expect, it } from 'vitest';
import { pauseCampaign, startCampaignAgain } from '../../src/commands/campaigns/change-campaign.ts';
import { createWorkerOrchestrator } from '../../src/orchestrator.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { setCampaignScene, until, type Scene, type SceneSeed } from '../support/campaign-scene.ts';
import { openStage } from '../support/stage.ts';
import { startTemporal } from '../support/temporal.ts';

const stage = openStage(() => startTemporal(['limit.historyCount.suggestContinueAsNew=30']));

const setScene = (seed: SceneSeed) => setCampaignScene(stage(), seed);

const handleOf = ({ campaignId }: Scene) =>
  stage().temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));

const runOf = async (scene: Scene) => (await handleOf(scene).describe()).runId;

async function pauseAndGoOn(scene: Scene): Promise<void> {
  await pauseCampaign(scene.dependencies, scene);
  await until(async () => (await scene.progress())?.status === 'PAUSED');
  await startCampaignAgain(scene.dependencies, scene);
}

describe('the campaign workflow, when its history grows long', () => {
  it('goes on in another run where it stood', { timeout: 120_000 }, async () => {
    const scene = await setScene({ recipients: 600, messagesPerSecond: 100 });
    await scene.start();
    const first = await runOf(scene);
    const end = await scene.withWorker(async () => {
      await until(async () => (await scene.standing()).counts.accepted > 0);
      for (let round = 0; round < 4; round += 1) await pauseAndGoOn(scene);
      return scene.result();
    });
    expect(await runOf(scene)).not.toBe(first);
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 600 } });
    expect(new Set(scene.provider.received.map(({ callbackData }) => callbackData)).size).toBe(600);
    expect(scene.provider.received).toHaveLength(600);
  });

  it('loses no request to cancel that comes while it goes on', { timeout: 120_000 }, async () => {
    const scene = await setScene({ recipients: 2_000, messagesPerSecond: 100 });
    await scene.start();
    const first = await runOf(scene);
    const end = await scene.withWorker(async () => {
      await until(async () => (await scene.standing()).counts.accepted > 0);
      while ((await runOf(scene)) === first) {
        await pauseCampaign(scene.dependencies, scene);
        await startCampaignAgain(scene.dependencies, scene);
      }
      await handleOf(scene).cancel();
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, claimed: 0 } });
    expect(scene.provider.received).toHaveLength(end.counts.accepted);
  });
});

describe('the orchestrator of a worker', () => {
  it('tells a workflow that does not run from one that does, and starts it once', async () => {
    const { temporal } = stage();
    const orchestrator = createWorkerOrchestrator(temporal.nativeConnection, temporal.namespace ?? 'default');
    const scene = await setScene({ recipients: 1, scheduledInMs: 3_600_000 });
    const campaign = { id: scene.campaignId, workspaceId: 1, name: 'Test' };
    expect(await orchestrator.refreshCampaign(campaign.id)).toBe(false);
    await orchestrator.startCampaign(campaign);
    const first = await runOf(scene);
    await orchestrator.startCampaign(campaign);
    expect(await orchestrator.refreshCampaign(campaign.id)).toBe(true);
    expect(await runOf(scene)).toBe(first);
    await handleOf(scene).terminate();
    expect(await orchestrator.refreshCampaign(campaign.id)).toBe(false);
    await orchestrator.startCampaign(campaign);
    expect(await runOf(scene)).not.toBe(first);
    await handleOf(scene).terminate();
  });
});
