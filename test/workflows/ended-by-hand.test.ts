import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../src/commands/campaigns/change-campaign.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { setCampaignScene, until, type Scene, type SceneSeed } from '../support/campaign-scene.ts';
import { accept } from '../support/fake-provider.ts';
import { openStage } from '../support/stage.ts';
import { startTemporal } from '../support/temporal.ts';

const stage = openStage(startTemporal);

const setScene = (seed: SceneSeed) => setCampaignScene(stage(), seed);

const handleOf = ({ campaignId }: Scene) =>
  stage().temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));

const shows = (scene: Scene) => until(async () => (await scene.progress()) !== null);

const hour = 3_600_000;

describe('a campaign whose workflow is asked to cancel in the Web UI', () => {
  it('is cancelled in its sleep', async () => {
    const scene = await setScene({ recipients: 5, scheduledInMs: hour });
    const end = await scene.withWorker(async () => {
      await scene.start();
      await shows(scene);
      await handleOf(scene).cancel();
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, accepted: 0 } });
    expect(await scene.standing()).toMatchObject({ status: 'CANCELLED' });
    expect(scene.provider.received).toHaveLength(0);
  });

  it('is cancelled in mid-send: what has left is recorded, and nobody else is sent to', async () => {
    const scene = await setScene({ recipients: 2_000, messagesPerSecond: 100 });
    const end = await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.standing()).counts.accepted > 20);
      await handleOf(scene).cancel();
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, claimed: 0 } });
    expect(end.counts.accepted).toBe(scene.provider.received.length);
    expect(end.counts.accepted).toBeLessThan(2_000);
  });

  it('is cancelled before its workflow has taken a step, and takes signals all the same', async () => {
    const scene = await setScene({ recipients: 3, scheduledInMs: hour });
    await scene.start();
    await handleOf(scene).cancel();
    await handleOf(scene).signal('pause');
    const end = await scene.withWorker(scene.result);
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, accepted: 0 } });
  });
});

describe('a campaign whose workflow was terminated in the Web UI', () => {
  it('goes on from its record when it is paused and started again', async () => {
    const scene = await setScene({ recipients: 300, messagesPerSecond: 100 });
    const end = await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.standing()).counts.accepted > 20);
      await handleOf(scene).terminate();
      await pauseCampaign(scene.dependencies, scene);
      await startCampaignAgain(scene.dependencies, scene);
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 300 } });
    expect(new Set(scene.provider.received.map(({ callbackData }) => callbackData)).size).toBe(300);
    expect(scene.provider.received).toHaveLength(300);
  });

  it('comes to its end when it is cancelled', async () => {
    const scene = await setScene({ recipients: 5, scheduledInMs: hour });
    const end = await scene.withWorker(async () => {
      await scene.start();
      await shows(scene);
      await handleOf(scene).terminate();
      await cancelCampaign(scene.dependencies, scene);
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0 } });
  });
});

describe('a campaign whose workflow is reset in the Web UI', () => {
  /** Right after the first workflow task; the generated type wants a Long, the encoder takes a number. */
  const reset = ({ campaignId }: Scene) =>
    stage().temporal.client.workflowService.resetWorkflowExecution({
      namespace: stage().temporal.namespace ?? 'default',
      workflowExecution: { workflowId: campaignWorkflowId(campaignId) },
      workflowTaskFinishEventId: 4 as never,
      reason: 'test',
      requestId: randomUUID(),
    });
  const expectSentOnce = ({ provider }: Scene, recipients: number) => {
    expect(provider.received).toHaveLength(recipients);
    expect(new Set(provider.received.map(({ callbackData }) => callbackData)).size).toBe(recipients);
  };

  it('sends to each recipient once, and takes the signals of before again', async () => {
    const scene = await setScene({ recipients: 300, messagesPerSecond: 100 });
    const end = await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.standing()).counts.accepted > 20);
      await handleOf(scene).signal('pause');
      await until(async () => (await scene.standing()).status === 'PAUSED');
      await handleOf(scene).signal('resume');
      await until(async () => (await scene.standing()).status === 'RUNNING');
      await reset(scene);
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 300 } });
    expectSentOnce(scene, 300);
  });

  it('sends to each of a few once, whose single step it meets, and to nobody after their end', async () => {
    let answers = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answers = resolve;
    });
    const few = 20;
    const scene = await setScene({
      recipients: few,
      unprepared: true,
      answer: async (message, count) => {
        if (count === few / 2) await answered;
        return accept(message, count);
      },
    });
    const end = await scene.withWorker(async () => {
      await scene.start();
      await until(async () => scene.provider.received.length >= few / 2);
      await reset(scene);
      await until(async () => (await scene.progress())?.status === 'RUNNING');
      answers();
      await scene.result();
      await reset(scene);
      return scene.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: few, unknown: 0 } });
    expectSentOnce(scene, few);
  });
});
