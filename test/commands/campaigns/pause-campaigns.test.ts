/** Campaigns that begin or are started while their channel is blocked, or their template becomes unavailable. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as t from 'io-ts';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { pauseCampaign, startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { pauseCampaignsOfTemplate } from '../../../src/commands/campaigns/pause-campaigns.ts';
import { updateChannel } from '../../../src/commands/workspaces/update-channel.ts';
import { Conflict } from '../../../src/domain/error.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { row } from '../../../src/records/database/row.ts';
import { setTemplateStatus } from '../../../src/records/templates/status.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
let holder: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  holder = new pg.Client({ connectionString: test.ownerUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await test.drop();
});

const dependencies = () => sendingDependencies({ database: test.pool, provider: createFakeProvider() });

const Waiting = row(t.type({ waiting: t.number }));

/** Resolves when `work` has ended, or when so many transactions wait for a lock. */
async function untilWaiting(transactions: number, work: Promise<unknown>): Promise<void> {
  const state = { ended: false };
  const end = () => (state.ended = true);
  work.then(end, end);
  while (!state.ended) {
    const { waiting } = await test.owner.one(sql.type(Waiting)`
      SELECT count(*)::int AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    if (waiting >= transactions) return;
    await sleep(10);
  }
}

it('a campaign that begins while its channel is blocked ends up paused', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 3, status: 'DRAFT', broadcastsPerMonth: 5 });
  const { campaignId, channelId, workspaceId } = seeded;
  await holder.query(
    `INSERT INTO broadcast_usage (workspace_id, month, used) VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 1)`,
    [workspaceId],
  );
  await holder.query('BEGIN');
  await holder.query('SELECT FROM broadcast_usage WHERE workspace_id = $1 FOR UPDATE', [workspaceId]);
  // Has read the channel and waits for the quota of its workspace.
  const begins = beginCampaign(dependencies(), campaignId);
  await untilWaiting(1, begins);
  const blocks = updateChannel(dependencies(), { channelId, status: 'blocked' });
  await untilWaiting(2, blocks);
  await holder.query('COMMIT');
  await Promise.all([begins, blocks]);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({
    status: 'PAUSED',
    pauseReason: 'CHANNEL_BLOCKED',
  });
});

it('a campaign is not started again while its channel is being blocked', async () => {
  const { campaignId, channelId } = await seedCampaign(test.pool, { recipients: 3 });
  await pauseCampaign(dependencies(), { campaignId });
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE notice IN SHARE MODE');
  // Has looked for campaigns to pause and waits to write its notice.
  const blocks = updateChannel(dependencies(), { channelId, status: 'blocked' });
  await untilWaiting(1, blocks);
  const starts = startCampaignAgain(dependencies(), { campaignId }).catch((error: unknown) => error);
  await untilWaiting(2, starts);
  await holder.query('COMMIT');
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
  await untilWaiting(1, begins);
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
  await untilWaiting(1, starts);
  await commit();
  expect(await starts).toBeInstanceOf(Conflict);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ status: 'PAUSED' });
});
