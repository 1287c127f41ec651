import { describe, expect, it } from 'vitest';
import { pauseCampaign, startCampaignAgain } from '../../src/commands/campaigns/change-campaign.ts';
import { setCampaignScene, until, type SceneSeed } from '../support/campaign-scene.ts';
import { openStage } from '../support/stage.ts';
import { startTemporal } from '../support/temporal.ts';

const stage = openStage(startTemporal);

const setScene = (seed: SceneSeed) => setCampaignScene(stage(), seed);

describe('the campaign workflow, when its worker goes away', () => {
  it('sleeps on while no worker runs', async () => {
    const scene = await setScene({ recipients: 4, scheduledInMs: 4_000 });
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.progress()) !== null);
    });
    const end = await scene.withWorker(scene.result);
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 4 } });
  });

  it('goes on after its worker went away in mid-send and in a pause', async () => {
    const scene = await setScene({ recipients: 200, messagesPerSecond: 100 });
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.standing()).counts.accepted > 20);
    });
    await pauseCampaign(scene.dependencies, scene);
    const sentBefore = scene.provider.received.length;
    await scene.withWorker(async () => {
      await until(async () => (await scene.progress())?.status === 'PAUSED');
      expect(scene.provider.received).toHaveLength(sentBefore);
    });
    await startCampaignAgain(scene.dependencies, scene);
    const end = await scene.withWorker(scene.result);
    expect(end.status).toBe('COMPLETED');
    expect(new Set(scene.provider.received.map(({ callbackData }) => callbackData)).size).toBe(200);
    expect(scene.provider.received).toHaveLength(200);
  });
});
