import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from 'slonik';
import { setTimeout as sleep } from 'node:timers/promises';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { checkSendingHours } from '../../../src/commands/campaigns/send-campaign.ts';
import { weekDays, type SendingWindow } from '../../../src/domain/campaigns/sending-window.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { lockCampaign, moveCampaign } from '../../../src/records/campaigns/lifecycle.ts';
import { getSendingHours } from '../../../src/records/campaigns/sending-hours.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { saveWorkspaceWindow } from '../../../src/records/workspaces/workspaces.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const inHours = (hours: number): string =>
  new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
const closed = (): SendingWindow => ({ timezone: 'UTC', from: inHours(2), to: inHours(4), days: weekDays });
const seed = async (status: 'DRAFT' | 'RUNNING') => {
  const seeded = await seedCampaign(test.pool, { recipients: 10, status });
  await test.pool.query(sql.type(nothing)`
    UPDATE template SET category = 'MARKETING' WHERE workspace_id = ${seeded.workspaceId}`);
  return seeded;
};
const dependencies = () => sendingDependencies({ database: test.pool, provider: createFakeProvider() });

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

it('holds for a campaign that begins while the window is being set', async () => {
  const { workspaceId, campaignId } = await seed('DRAFT');
  const window = closed();
  const saved = gate();
  const began = gate();
  const setting = test.pool.transaction(async (transaction) => {
    await saveWorkspaceWindow(transaction, workspaceId, window);
    saved.open();
    await Promise.race([began.opened, sleep(300)]);
  });
  await saved.opened;
  await beginCampaign(dependencies(), campaignId);
  const begun = await getSendingHours(test.pool, campaignId);
  began.open();
  await setting;
  expect(begun).toMatchObject({ status: 'RUNNING', windows: [window] });
});

it('no longer keeps a campaign waiting that was paused when the window was removed', async () => {
  const { workspaceId, campaignId } = await seed('RUNNING');
  const set = (window: SendingWindow | null) =>
    test.pool.transaction((transaction) => saveWorkspaceWindow(transaction, workspaceId, window));
  const move = (action: 'pause' | 'resume') =>
    test.pool.transaction(async (transaction) =>
      moveCampaign(
        transaction,
        await lockCampaign(transaction, campaignId),
        action,
        action === 'pause' ? 'OPERATOR' : null,
      ),
    );
  await set(closed());
  await checkSendingHours(dependencies(), campaignId, await getSendingHours(test.pool, campaignId));
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ waitingFor: 'SENDING_WINDOW' });
  await move('pause');
  await set(null);
  await move('resume');
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ waitingFor: null });
});
