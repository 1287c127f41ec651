/** Contacts locked by another transaction, as the preparation of a large campaign locks them for minutes. */
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCallbackPoll } from '../../../src/commands/callbacks/apply-provider-callbacks.ts';
import { applyUnmatchedStatuses } from '../../../src/commands/callbacks/settle-unmatched-statuses.ts';
import { createDatabase, type Database } from '../../../src/records/database/database.ts';
import { insertProviderCallbacks } from '../../../src/records/callbacks/provider-callbacks.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  createApplier,
  messagesCallback,
  rowsOf,
  status,
  subscribeToAll,
} from '../../support/callback-fixtures.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const statementLimitMs = 4_000;

let test: TestDatabase;
let database: Database;
let holder: pg.Client;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await createDatabase(test.url, 4, { answerTimeoutMs: statementLimitMs });
  holder = new pg.Client({ connectionString: test.ownerUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await database.end();
  await test.drop();
});

const held = '4915112345678';

async function holdNewContact({ workspaceId }: SeededCampaign): Promise<void> {
  await holder.query('BEGIN');
  await holder.query(
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, source) VALUES ($1, $2, '49', 'DE', 'csv_import')`,
    [workspaceId, held],
  );
}

const inbound = ({ channelId }: SeededCampaign, id: string, from: string) =>
  Buffer.from(
    JSON.stringify(
      messagesCallback(channelId, {
        messages: [{ id, from, timestamp: '1749416383', type: 'text', text: { body: 'Hi' } }],
      }),
    ),
  );

const savedOf = ({ channelId }: SeededCampaign) =>
  rowsOf<{ id: string }>(
    database,
    sql.fragment`SELECT provider_message_id AS id FROM message WHERE channel_id = ${channelId} ORDER BY 1`,
  );

it(
  'applies callbacks of other contacts at once, and those of locked contacts after the unlock',
  { timeout: 60_000 },
  async () => {
    const place = await seedCampaign(database, { recipients: 1 });
    await subscribeToAll(database, place.workspaceId);
    const applier = createApplier(database);
    const apply = createCallbackPoll(applier, { restMs: 0 });
    await holdNewContact(place);
    await insertProviderCallbacks(database, [
      inbound(place, 'held', held),
      inbound(place, 'free', '4915187654321'),
    ]);
    await apply();
    expect(await savedOf(place)).toEqual([{ id: 'free' }]);
    await holder.query('COMMIT');
    while ((await apply()) > 0);
    expect(await savedOf(place)).toEqual([{ id: 'free' }, { id: 'held' }]);
    const contacts = sql.fragment`SELECT source FROM contact WHERE phone_number = ${held}`;
    expect(await rowsOf(database, contacts)).toEqual([{ source: 'csv_import' }]);
    expect(
      await rowsOf(database, sql.fragment`SELECT id FROM provider_callback WHERE error IS NOT NULL`),
    ).toEqual([]);
  },
);

it('tries a locked contact again only after a pause', { timeout: 60_000 }, async () => {
  const place = await seedCampaign(database, { recipients: 1 });
  const apply = createCallbackPoll(createApplier(database), { restMs: 60_000 });
  await holdNewContact(place);
  await insertProviderCallbacks(database, [inbound(place, 'resting', held)]);
  expect(await apply()).toBe(1);
  expect(await apply()).toBe(0);
  await holder.query('ROLLBACK');
  await createCallbackPoll(createApplier(database))();
  expect(await savedOf(place)).toEqual([{ id: 'resting' }]);
});

it(
  'keeps an unmatched status that unsubscribes a locked contact until the unlock',
  { timeout: 60_000 },
  async () => {
    const place = await seedCampaign(database, { recipients: 1 });
    const { campaignId, channelId, workspaceId } = place;
    const run = (statement: ReturnType<typeof sql.fragment>) =>
      database.query(sql.type(nothing)`${statement}`);
    await run(
      sql.fragment`INSERT INTO contact (workspace_id, phone_number, source) VALUES (${workspaceId}, ${held}, 'manual')`,
    );
    await run(sql.fragment`UPDATE recipient SET state = 'ACCEPTED', provider_message_id = 'wamid.stop',
    contact_id = (SELECT id FROM contact WHERE workspace_id = ${workspaceId}) WHERE campaign_id = ${campaignId}`);
    await run(
      sql.fragment`UPDATE campaign_counter SET pending = 0, accepted = 1 WHERE campaign_id = ${campaignId}`,
    );
    await run(sql.fragment`INSERT INTO provider_message (hash, recipient_id)
    SELECT hashtextextended('wamid.stop', 0), id FROM recipient WHERE campaign_id = ${campaignId}`);
    // 131050: the recipient stopped marketing messages.
    const body = JSON.stringify(status({ status: 'failed', providerMessageId: 'wamid.stop', code: 131050 }));
    await run(sql.fragment`INSERT INTO unmatched_status (channel_id, provider_message_id, status, body)
    VALUES (${channelId}, 'wamid.stop', 'failed', ${body})`);
    await holder.query('BEGIN');
    await holder.query('UPDATE contact SET updated_at = now() WHERE workspace_id = $1', [workspaceId]);
    const applier = createApplier(database);
    expect(await applyUnmatchedStatuses(applier)).toBe(0);
    await holder.query('COMMIT');
    expect(await applyUnmatchedStatuses(applier)).toBe(1);
    const subscribed = sql.fragment`SELECT subscribed FROM contact WHERE workspace_id = ${workspaceId}`;
    expect(await rowsOf(database, subscribed)).toEqual([{ subscribed: false }]);
  },
);
