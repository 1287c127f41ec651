/** Preparations whose worker dies or hangs again and again. */
import { defaultPayloadConverter } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { getCampaignReport } from '../../src/records/campaigns/report.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { aCampaignToPrepare, aSender } from '../support/audience-campaign.ts';
import { createCampaignFixture, until } from '../support/campaign-fixture.ts';
import { createFakeProvider } from '../support/fake-provider.ts';
import { sendingDependencies } from '../support/sending-dependencies.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);

/** Runs one attempt after `lost` lost ones; returns its heartbeats and the campaign. */
async function attempt(lost: number, overrides: Partial<Dependencies> = {}) {
  const { database, databaseUrl = '' } = servers();
  const sender = await aSender(database);
  const id = await aCampaignToPrepare(database, sender, {
    selectionType: 'quick_contacts',
    content: '["+4915112345678"]',
  });
  const dependencies = {
    ...sendingDependencies({ database, provider: createFakeProvider(), config: { databaseUrl } }),
    ...overrides,
  };
  const { prepareCampaign } = createCampaignActivities(dependencies, { draining: () => false });
  const environment = new MockActivityEnvironment({ heartbeatDetails: { rows: 7, lost } });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  const ended = await environment.run(prepareCampaign, id).then(
    () => 'returned',
    () => 'failed',
  );
  const report = await getCampaignReport(database, sender.workspaceId, id);
  const { preparation_status, preparation_error_code: code, preparation_error_message: message } = report;
  return { ended, beats, preparation_status, code, message };
}

describe('a preparation', () => {
  it('is tried again after two lost attempts, and counts itself while it runs', async () => {
    const { ended, beats, preparation_status } = await attempt(2);
    expect({ ended, preparation_status }).toEqual({ ended: 'returned', preparation_status: 'READY' });
    expect(beats[0]).toEqual({ rows: 0, lost: 3 });
  });

  it('ends in FAILED after three', async () => {
    const { ended, preparation_status, code, message } = await attempt(3);
    expect({ ended, preparation_status }).toEqual({ ended: 'returned', preparation_status: 'FAILED' });
    expect(code).toBe('CSV_UNREADABLE');
    expect(message).toContain('Each of 3 attempts to read the audience took more memory or time');
  });

  it('begins to count anew after an attempt that ended with an error', async () => {
    const { databaseUrl: _, ...config } = sendingDependencies({
      database: servers().database,
      provider: createFakeProvider(),
    }).config;
    const unreachable = { ...config, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
    const { ended, beats, preparation_status } = await attempt(2, { config: unreachable });
    expect({ ended, preparation_status }).toEqual({ ended: 'failed', preparation_status: 'PREPARING' });
    expect(beats).toEqual([
      { rows: 0, lost: 3 },
      { rows: 0, lost: 0 },
    ]);
  });

  it('is tried until it works while the database is away', { timeout: 60_000 }, async () => {
    const away = { ...servers(), databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
    const fixture = await createCampaignFixture(away, { recipients: 1, unprepared: true });
    const handle = servers().temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId));
    const pending = async () => (await handle.describe()).raw.pendingActivities?.[0];
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => ((await pending())?.attempt ?? 0) > 5);
      const [details] = (await pending())?.heartbeatDetails?.payloads ?? [];
      if (details == null) throw new Error('The attempts sent no heartbeat');
      expect(defaultPayloadConverter.fromPayload(details)).toMatchObject({ rows: 0 });
      expect(await fixture.snapshot()).toMatchObject({ status: 'DRAFT', prepared: false });
      await handle.terminate();
    });
  });
});
