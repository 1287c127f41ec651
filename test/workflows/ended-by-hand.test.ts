import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../src/commands/campaigns/change-campaign.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import {
  createCampaignFixture,
  until,
  type CampaignFixture,
  type CampaignFixtureSeed,
} from '../support/campaign-fixture.ts';
import { accept } from '../support/fake-provider.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);

const createFixture = (seed: CampaignFixtureSeed) => createCampaignFixture(servers(), seed);

const handleOf = ({ campaignId }: CampaignFixture) =>
  servers().temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));

const shows = (fixture: CampaignFixture) => until(async () => (await fixture.progress()) !== null);

const hour = 3_600_000;

describe('a campaign whose workflow is asked to cancel in the Web UI', () => {
  it('is cancelled in its sleep', async () => {
    const fixture = await createFixture({ recipients: 5, scheduledInMs: hour });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await shows(fixture);
      await handleOf(fixture).cancel();
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, accepted: 0 } });
    expect(await fixture.snapshot()).toMatchObject({ status: 'CANCELLED' });
    expect(fixture.provider.received).toHaveLength(0);
  });

  it('is cancelled in mid-send: sent messages are recorded, and no further recipient is sent to', async () => {
    const fixture = await createFixture({ recipients: 2_000, messagesPerSecond: 100 });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).counts.accepted > 20);
      await handleOf(fixture).cancel();
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, claimed: 0 } });
    expect(end.counts.accepted).toBe(fixture.provider.received.length);
    expect(end.counts.accepted).toBeLessThan(2_000);
  });

  it('is cancelled before its workflow has taken a step, and takes signals all the same', async () => {
    const fixture = await createFixture({ recipients: 3, scheduledInMs: hour });
    await fixture.start();
    await handleOf(fixture).cancel();
    await handleOf(fixture).signal('pause');
    const end = await fixture.withWorker(fixture.result);
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, accepted: 0 } });
  });
});

describe('a campaign whose workflow was terminated in the Web UI', () => {
  it('goes on from its record when it is paused and started again', async () => {
    const fixture = await createFixture({ recipients: 300, messagesPerSecond: 100 });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).counts.accepted > 20);
      await handleOf(fixture).terminate();
      await pauseCampaign(fixture.dependencies, fixture);
      await startCampaignAgain(fixture.dependencies, fixture);
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 300 } });
    expect(new Set(fixture.provider.received.map(({ callbackData }) => callbackData)).size).toBe(300);
    expect(fixture.provider.received).toHaveLength(300);
  });

  it('comes to its end when it is cancelled', async () => {
    const fixture = await createFixture({ recipients: 5, scheduledInMs: hour });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await shows(fixture);
      await handleOf(fixture).terminate();
      await cancelCampaign(fixture.dependencies, fixture);
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0 } });
  });
});

describe('a campaign whose workflow is reset in the Web UI', () => {
  /** Right after the first workflow task; the generated type wants a Long, the encoder takes a number. */
  const reset = ({ campaignId }: CampaignFixture) =>
    servers().temporal.client.workflowService.resetWorkflowExecution({
      namespace: servers().temporal.namespace ?? 'default',
      workflowExecution: { workflowId: campaignWorkflowId(campaignId) },
      workflowTaskFinishEventId: 4 as never,
      reason: 'test',
      requestId: randomUUID(),
    });
  const expectSentOnce = ({ provider }: CampaignFixture, recipients: number) => {
    expect(provider.received).toHaveLength(recipients);
    expect(new Set(provider.received.map(({ callbackData }) => callbackData)).size).toBe(recipients);
  };

  it('sends to each recipient once, and handles the signals from before the reset again', async () => {
    const fixture = await createFixture({ recipients: 300, messagesPerSecond: 100 });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).counts.accepted > 20);
      await handleOf(fixture).signal('pause');
      await until(async () => (await fixture.snapshot()).status === 'PAUSED');
      await handleOf(fixture).signal('resume');
      await until(async () => (await fixture.snapshot()).status === 'RUNNING');
      await reset(fixture);
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 300 } });
    expectSentOnce(fixture, 300);
  });

  it('sends to each recipient of a small campaign once, whether reset during its single step or after its end', async () => {
    let answers = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answers = resolve;
    });
    const few = 20;
    const fixture = await createFixture({
      recipients: few,
      unprepared: true,
      answer: async (message, count) => {
        if (count === few / 2) await answered;
        return accept(message, count);
      },
    });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => fixture.provider.received.length >= few / 2);
      await reset(fixture);
      await until(async () => (await fixture.progress())?.status === 'RUNNING');
      answers();
      await fixture.result();
      await reset(fixture);
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: few, unknown: 0 } });
    expectSentOnce(fixture, few);
  });
});
