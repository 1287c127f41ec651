/** Kills the process of a preparation at points spread over its statements, then repeats the preparation. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { nothing, nullable, row } from '../../src/records/database/row.ts';
import { aCampaignToPrepare, aSender, type Sender } from '../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openTcpCutter } from '../support/tcp-cutter.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const known = 40;
const listed = 1_200;

/** New contacts, deleted ones, incomplete ones, duplicates, and rows without a number. */
function csv(): string {
  const lines = Array.from({ length: listed }, (_, index) => {
    if (index % 97 === 0) return 'nobody,49,X';
    const number = index % 53 === 0 && index > 0 ? index - 1 : index;
    return `+49151${10_000_000 + number},49,Ada ${number}`;
  });
  return `phone,country,name\n${lines.join('\n')}\n`;
}

interface CampaignFixture {
  readonly sender: Sender;
  readonly campaignId: string;
}

async function createFixture(): Promise<CampaignFixture> {
  const sender = await aSender(database.pool, 'Hi {{1}}');
  const { workspaceId } = sender;
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source, deleted_at)
    SELECT ${workspaceId}, '49151' || (10000000 + n), '49', 'DE', 'manual', CASE WHEN n % 2 = 0 THEN now() END
    FROM generate_series(1, ${known}::int) AS n`);
  await database.pool.query(sql.type(nothing)`
    INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    VALUES (${workspaceId}, 'w', 'https://example.com', 'active', ARRAY['contact.created', 'contact.updated'])`);
  const campaignId = await aCampaignToPrepare(database.pool, sender, {
    audience: { csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2 } },
    variableMapping: { body: { 1: 'name_column' } },
    content: csv(),
  });
  return { sender, campaignId };
}

/** Prepares the campaign; returns the bytes that reached Postgres before the end, or before the cut. */
async function prepare(
  { campaignId }: CampaignFixture,
  cutAfter = Number.POSITIVE_INFINITY,
): Promise<number> {
  const cutter = await openTcpCutter(database.url, cutAfter);
  const dependencies = {
    config: { databaseUrl: cutter.url, publicUrl: undefined, host: '', port: 0 },
    database: database.pool,
    logger: silent,
    now: () => new Date(),
  } as unknown as Dependencies;
  const options = { heartbeat: () => undefined, signal: new AbortController().signal };
  try {
    await prepareCampaign(dependencies, campaignId, options);
  } catch (error) {
    if (cutAfter === Number.POSITIVE_INFINITY) throw error;
  } finally {
    await cutter.close();
  }
  return cutter.sent();
}

const Outcome = row(
  t.type({
    preparation_status: t.string,
    total_contacts: t.number,
    total_contacts_skipped: t.number,
    recipients: nullable(t.string),
    reasons: nullable(t.UnknownRecord),
    contacts: nullable(t.string),
    created: t.number,
    updated: t.number,
    has_input: t.boolean,
  }),
);

/** Everything that a preparation writes, without ids and times. */
const outcomeOf = ({ sender: { workspaceId }, campaignId }: CampaignFixture) =>
  database.pool.one(sql.type(Outcome)`
    SELECT preparation_status, total_contacts, total_contacts_skipped,
      (SELECT md5(string_agg(concat_ws('|', position, recipient.phone_number, contact.phone_number, state, reason,
         reason_detail, line_number, variables::text), ',' ORDER BY position))
       FROM recipient LEFT JOIN contact ON contact.id = contact_id WHERE campaign_id = ${campaignId}) AS recipients,
      (SELECT jsonb_object_agg(reason, count) FROM campaign_reason WHERE campaign_id = ${campaignId}) AS reasons,
      (SELECT md5(string_agg(concat_ws('|', phone_number, first_name, last_name, source, deleted_at IS NULL), ','
         ORDER BY phone_number)) FROM contact WHERE workspace_id = ${workspaceId}) AS contacts,
      (SELECT count(*)::int FROM event WHERE workspace_id = ${workspaceId} AND key = 'contact.created') AS created,
      (SELECT count(*)::int FROM event WHERE workspace_id = ${workspaceId} AND key = 'contact.updated') AS updated,
      EXISTS (SELECT FROM campaign_input WHERE campaign_id = ${campaignId}) AS has_input
    FROM campaign WHERE id = ${campaignId}`);

/** Waits until Postgres has noticed that the connections of the killed process are gone. */
async function connectionsGone(): Promise<void> {
  await expect
    .poll(
      () =>
        database.pool.exists(sql.type(nothing)`
          SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'prepare-%'`),
      { interval: 20 },
    )
    .toBe(false);
}

test('ends with the same records, and every event once, wherever it was killed', async () => {
  const whole = await createFixture();
  const before = await outcomeOf(whole);
  const bytes = await prepare(whole);
  const expected = await outcomeOf(whole);
  expect(expected).toMatchObject({ preparation_status: 'READY', updated: known, has_input: false });
  expect(expected.total_contacts + expected.total_contacts_skipped).toBe(listed);

  const spread = Array.from({ length: 5 }, (_, index) => Math.floor((bytes * (index + 1)) / 6));
  // The end: the last rows, the campaign's own record, both commits.
  const end = [1_000, 300, 100, 40, 20, 15, 10, 5].map((left) => bytes - left);
  const seen = new Set<string>();
  for (const cutAfter of [...spread, ...end]) {
    const fixture = await createFixture();
    await prepare(fixture, cutAfter);
    await connectionsGone();
    const left = await outcomeOf(fixture);
    const contactsStand = left.contacts === expected.contacts;
    seen.add(`${left.preparation_status}${contactsStand ? ' with contacts' : ''}`);
    // All contacts are written together with their events, all recipients together with the campaign's status.
    const contacts = contactsStand ? expected : before;
    expect(left).toMatchObject({
      contacts: contacts.contacts,
      created: contacts.created,
      updated: contacts.updated,
    });
    if (left.preparation_status !== 'READY') {
      const { preparation_status, total_contacts, recipients, reasons, has_input } = before;
      expect(left).toMatchObject({ preparation_status, total_contacts, recipients, reasons, has_input });
    }
    await prepare(fixture);
    expect(await outcomeOf(fixture)).toEqual(expected);
  }
  expect(seen).toContain('PREPARING');
  expect(seen).toContain('PREPARING with contacts');
});
