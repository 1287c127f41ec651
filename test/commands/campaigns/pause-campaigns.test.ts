/** Campaigns that begin or are started while their channel is blocked, or their template becomes unavailable. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import {
  pauseCampaign,
  pauseCampaignsOfTemplate,
  startCampaignAgain,
} from '../../../src/commands/campaigns/change-campaign.ts';
import { updateChannel } from '../../../src/commands/workspaces/channels.ts';
import { Conflict } from '../../../src/domain/error.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { setTemplateStatus } from '../../../src/records/templates/templates.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { connectLockHolder, type LockHolder } from '../../support/lock-holder.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
let locks: LockHolder;
beforeAll(async () => {
  test = await createTestDatabase();
  locks = await connectLockHolder(test.ownerUrl);
});
afterAll(async () => {
  await locks.end();
  await test.drop();
});

const dependencies = () => sendingDependencies({ database: test.pool, provider: createFakeProvider() });

it('a campaign that begins while its channel is blocked ends up paused', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 3, status: 'DRAFT', broadcastsPerMonth: 5 });
  const { campaignId, channelId, workspaceId } = seeded;
  await locks.hold(
    `INSERT INTO broadcast_usage (workspace_id, month, used) VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 1)`,
    [workspaceId],
  );
  // Has read the channel and waits for the quota of its workspace.
  const begins = beginCampaign(dependencies(), campaignId);
  await locks.untilWaiting(1, begins);
  const blocks = updateChannel(dependencies(), { channelId, status: 'blocked' });
  await locks.untilWaiting(2, blocks);
  await locks.release();
  await Promise.all([begins, blocks]);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({
    status: 'PAUSED',
    pauseReason: 'CHANNEL_BLOCKED',
  });
});

it('a campaign is not started again while its channel is being blocked', async () => {
  const { campaignId, channelId } = await seedCampaign(test.pool, { recipients: 3 });
  await pauseCampaign(dependencies(), { campaignId });
  await locks.hold('LOCK TABLE notice IN SHARE MODE');
  // Has looked for campaigns to pause and waits to write its notice.
  const blocks = updateChannel(dependencies(), { channelId, status: 'blocked' });
  await locks.untilWaiting(1, blocks);
  const starts = startCampaignAgain(dependencies(), { campaignId }).catch((error: unknown) => error);
  await locks.untilWaiting(2, starts);
  await locks.release();
  await blocks;
  expect(await starts).toBeInstanceOf(Conflict);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ status: 'PAUSED' });
});

/** A transaction that makes the template unavailable and pauses its campaigns; it commits when `commit` is called. */
async function makeUnavailable(templateId: string) {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let committed = Promise.resolve();
  await new Promise<void>((paused) => {
    committed = test.pool.transaction(async (transaction) => {
      await setTemplateStatus(transaction, templateId, 'PAUSED');
      await pauseCampaignsOfTemplate(dependencies(), transaction, templateId);
      paused();
      await released;
    });
  });
  return {
    commit: (): Promise<void> => {
      release();
      return committed;
    },
  };
}

it('a campaign that begins while its template becomes unavailable is paused', async () => {
  const { campaignId, templateId } = await seedCampaign(test.pool, { recipients: 3, status: 'DRAFT' });
  const { commit } = await makeUnavailable(templateId);
  const begins = beginCampaign(dependencies(), campaignId);
  await locks.untilWaiting(1, begins);
  await commit();
  await begins;
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({
    status: 'PAUSED',
    pauseReason: 'TEMPLATE_UNAVAILABLE',
  });
});

it('a campaign is not started again while its template becomes unavailable', async () => {
  const { campaignId, templateId } = await seedCampaign(test.pool, { recipients: 3 });
  await pauseCampaign(dependencies(), { campaignId });
  const { commit } = await makeUnavailable(templateId);
  const starts = startCampaignAgain(dependencies(), { campaignId }).catch((error: unknown) => error);
  await locks.untilWaiting(1, starts);
  await commit();
  expect(await starts).toBeInstanceOf(Conflict);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ status: 'PAUSED' });
});
