import { sql } from 'slonik';
import { expect, it } from 'vitest';
import { startCampaignAgain } from '../../src/commands/campaigns/change-campaign.ts';
import { nothing } from '../../src/records/database/row.ts';
import { messagePrice } from '../support/campaign-factory.ts';
import { setCampaignScene, until } from '../support/campaign-scene.ts';
import { openStage } from '../support/stage.ts';
import { startTemporal } from '../support/temporal.ts';

const stage = openStage(startTemporal);

it('sends nothing when its record is older than what it has seen, however often it is started again', async () => {
  const scene = await setCampaignScene(stage(), { recipients: 40, balance: messagePrice * 25n });
  await scene.withWorker(async () => {
    await scene.start();
    // The workflow has seen it, too: what it was told last is what it compares with.
    await until(async () => (await scene.progress())?.pauseReason === 'INSUFFICIENT_BALANCE');
    expect(scene.provider.received).toHaveLength(25);

    // The database of ten minutes ago: nobody was sent yet, and there is money.
    await stage().database.query(sql.type(nothing)`
      UPDATE campaign_counter SET claimed_position = 0, pending = 40, accepted = 0 WHERE campaign_id = ${scene.campaignId}`);
    await stage().database.query(sql.type(nothing)`
      UPDATE recipient SET state = 'PENDING', settlement = 'none', claim_id = NULL WHERE campaign_id = ${scene.campaignId}`);
    await stage().database.query(sql.type(nothing)`UPDATE wallet SET balance = ${messagePrice * 100n}`);
    for (let time = 0; time < 2; time += 1) {
      await startCampaignAgain(scene.dependencies, scene);
      await until(async () => (await scene.standing()).pauseReason === 'RECORD_RESTORED');
    }
  });
  expect(scene.provider.received).toHaveLength(25);
  expect(await scene.standing()).toMatchObject({ status: 'PAUSED', counts: { pending: 40 } });
});
