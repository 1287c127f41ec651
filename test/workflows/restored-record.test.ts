import { sql } from 'slonik';
import { expect, it } from 'vitest';
import { startCampaignAgain } from '../../src/commands/campaigns/change-campaign.ts';
import { nothing } from '../../src/records/database/row.ts';
import { messagePrice } from '../support/campaign-factory.ts';
import { createCampaignFixture, until } from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);

it('sends nothing when its record is older than what it has seen, however often it is started again', async () => {
  const fixture = await createCampaignFixture(servers(), { recipients: 40, balance: messagePrice * 25n });
  await fixture.withWorker(async () => {
    await fixture.start();
    // The workflow compares a snapshot with the last one it received, so it must have received this one.
    await until(async () => (await fixture.progress())?.pauseReason === 'INSUFFICIENT_BALANCE');
    expect(fixture.provider.received).toHaveLength(25);

    // The database of ten minutes ago: no recipient was sent to, and the wallet has money.
    await servers().database.query(sql.type(nothing)`
      UPDATE campaign_counter SET claimed_position = 0, pending = 40, accepted = 0 WHERE campaign_id = ${fixture.campaignId}`);
    await servers().database.query(sql.type(nothing)`
      UPDATE recipient SET state = 'PENDING', settlement = 'none', claim_id = NULL WHERE campaign_id = ${fixture.campaignId}`);
    await servers().database.query(sql.type(nothing)`UPDATE wallet SET balance = ${messagePrice * 100n}`);
    for (let time = 0; time < 2; time += 1) {
      await startCampaignAgain(fixture.dependencies, fixture);
      await until(async () => (await fixture.snapshot()).pauseReason === 'RECORD_RESTORED');
    }
  });
  expect(fixture.provider.received).toHaveLength(25);
  expect(await fixture.snapshot()).toMatchObject({ status: 'PAUSED', counts: { pending: 40 } });
});
