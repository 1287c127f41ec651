import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testCampaign } from '../../../src/commands/campaigns/test-campaign.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('refuses a blocked country with a problem of the number’s field', async () => {
  const { workspaceId, campaignId, channelId } = await seedCampaign(database.pool, { recipients: 1 });
  await database.pool.query(sql.type(nothing)`
    UPDATE channel SET blocked_countries = '{DE}' WHERE id = ${channelId}`);
  const dependencies = sendingDependencies({ database: database.pool, provider: {} });
  const test = { workspaceId, campaignId, phoneNumber: '+4915112345678', variables: ['Ada'] };
  await expect(testCampaign(dependencies, test)).rejects.toMatchObject({
    problems: [{ field: 'phone_number', message: expect.stringContaining('does not send to this country') }],
  });
});
