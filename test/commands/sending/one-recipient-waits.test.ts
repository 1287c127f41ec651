import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { row } from '../../../src/records/database/row.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { accept, createFakeProvider, refuse, type FakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

function dependenciesWith(provider: FakeProvider): Dependencies {
  return sendingDependencies({ database: test.pool, provider });
}

const Waiting = row(t.type({ position: t.number, delay_ms: t.number, attempts: t.number, factor: t.number }));

it('delays only the recipient for whom the provider had too many messages', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 60 });
  const provider = createFakeProvider((message, count) =>
    (message.to === '4915100000007' ? refuse(131056) : accept)(message, count),
  );
  await runSendStep(dependenciesWith(provider), seeded.campaignId, {
    budgetMs: 5_000,
    draining: () => false,
  });
  const waiting = await test.pool.one(sql.type(Waiting)`
    SELECT recipient.position, recipient.attempts, channel_rate.factor,
      extract(epoch FROM recipient_retry.not_before - recipient.updated_at)::float8 * 1000 AS delay_ms
    FROM recipient_retry JOIN recipient USING (campaign_id, position)
    JOIN campaign ON campaign.id = campaign_id JOIN channel_rate USING (channel_id)
    WHERE campaign_id = ${seeded.campaignId}`);
  // One second, then four times as long each time. A step itself retries what is due soon. The channel keeps its rate.
  expect(waiting).toMatchObject({ position: 7, factor: 1, delay_ms: 1_000 * 4 ** (waiting.attempts - 1) });
  expect(provider.received).toHaveLength(59 + waiting.attempts);
  expect((await getCampaignSnapshot(test.pool, seeded.campaignId)).counts).toMatchObject({
    accepted: 59,
    pending: 1,
    claimed: 0,
  });
});
