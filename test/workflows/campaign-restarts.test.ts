import { describe, expect, it } from 'vitest';
import { pauseCampaign, startCampaignAgain } from '../../src/commands/campaigns/change-campaign.ts';
import { createCampaignFixture, until, type CampaignFixtureSeed } from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);

const createFixture = (seed: CampaignFixtureSeed) => createCampaignFixture(servers(), seed);

describe('the campaign workflow, when its worker goes away', () => {
  it('sleeps on while no worker runs', async () => {
    const fixture = await createFixture({ recipients: 4, scheduledInMs: 4_000 });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress()) !== null);
    });
    const end = await fixture.withWorker(fixture.result);
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 4 } });
  });

  it('goes on after its worker went away in mid-send and in a pause', async () => {
    const fixture = await createFixture({ recipients: 200, messagesPerSecond: 100 });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).counts.accepted > 20);
    });
    await pauseCampaign(fixture.dependencies, fixture);
    const sentBefore = fixture.provider.received.length;
    await fixture.withWorker(async () => {
      await until(async () => (await fixture.progress())?.status === 'PAUSED');
      expect(fixture.provider.received).toHaveLength(sentBefore);
    });
    await startCampaignAgain(fixture.dependencies, fixture);
    const end = await fixture.withWorker(fixture.result);
    expect(end.status).toBe('COMPLETED');
    expect(new Set(fixture.provider.received.map(({ callbackData }) => callbackData)).size).toBe(200);
    expect(fixture.provider.received).toHaveLength(200);
  });
});
