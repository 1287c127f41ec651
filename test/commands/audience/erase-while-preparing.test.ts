/** Erases a person while a campaign that reads the person's contact is prepared. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import { eraseContact } from '../../../src/commands/contacts/erase-contact.ts';
import { stepErasure } from '../../../src/commands/contacts/run-erasures.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { nullable, row } from '../../../src/records/database/row.ts';
import { aSignal } from '../../support/a-signal.ts';
import { aCampaignToPrepare, aSender } from '../../support/audience-campaign.ts';
import { testSecrets } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const number = '4915112345678';

const Id = row(t.type({ id: t.string }));
const Added = row(t.type({ state: t.string, subscribed: t.boolean }));
const Erased = row(
  t.type({
    firstName: t.string,
    isDeleted: t.boolean,
    phoneNumber: nullable(t.string),
    variables: nullable(t.array(t.string)),
  }),
);

const reading = (file: AsyncIterable<Buffer>) =>
  ({
    config: { databaseUrl: database.url, publicUrl: undefined, host: '', port: 0 },
    database: database.pool,
    logger: silent,
    now: () => new Date(),
    secrets: testSecrets,
    storage: { read: async () => Readable.from(file) },
  }) as unknown as Dependencies;

const prepare = (dependencies: Dependencies, campaignId: string) =>
  prepareCampaign(dependencies, campaignId, {
    heartbeat: () => undefined,
    signal: new AbortController().signal,
  });

test('leaves neither number nor name in the recipients, and does not restore the contact', async () => {
  const sender = await aSender(database.pool, 'Hello {{1}}');
  const { workspaceId } = sender;
  const contactId = await database.pool.oneFirst(sql.type(Id)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
    VALUES (${workspaceId}, ${number}, '49', 'DE', 'api') RETURNING id`);
  const csv_mapping = { phone_column: 0, country_code_column: 1, name_column: 2 };
  const campaignId = await aCampaignToPrepare(database.pool, sender, {
    audience: { csv_mapping, csv_file_key: 'k' },
    variableMapping: { body: { '1': 'name_column' } },
  });
  const others = Array.from({ length: 8_000 }, (_, index) => `+49152${10_000_000 + index},49,Bo\n`);
  const [begun, begin] = aSignal();
  const [erased, erase] = aSignal();
  const file = async function* () {
    yield Buffer.from(`p,c,n\n+${number},49,Ada\n${others.slice(0, 1_500).join('')}`);
    begin();
    await erased;
    yield Buffer.from(others.slice(1_500).join(''));
  };
  const dependencies = reading(file());
  const prepared = prepare(dependencies, campaignId);
  await begun;
  // The preparation has looked the first contacts up.
  const lookedUp = sql.type(
    Id,
  )`SELECT pid::text AS id FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'prepare-contacts' AND state = 'idle in transaction' AND query LIKE '%AS given (phone_number)%'`;
  await expect.poll(() => database.owner.any(lookedUp)).toHaveLength(1);
  await eraseContact(dependencies, { workspaceId, contactId });
  expect(await stepErasure(dependencies, 0)).toBe(true);
  expect(await stepErasure(dependencies, 0)).toBe(false);
  erase();
  expect(await prepared).toBe(8_001);
  // The erasure waits for two seconds before it looks again whether the preparation is over.
  const isLeft = sql.type(Id)`SELECT contact_id AS id FROM erasure WHERE contact_id = ${contactId}`;
  await expect
    .poll(async () => {
      await stepErasure(dependencies, 0);
      return database.pool.any(isLeft);
    })
    .toEqual([]);
  const found = await database.pool.one(sql.type(Erased)`
    SELECT first_name AS "firstName", deleted_at IS NOT NULL AS "isDeleted", recipient.phone_number AS "phoneNumber", variables
    FROM contact JOIN recipient ON recipient.contact_id = contact.id WHERE contact.id = ${contactId}`);
  expect(found).toEqual({ firstName: '', isDeleted: true, phoneNumber: null, variables: null });
});

test('stays opted out when the row of the file comes after the erasure', async () => {
  const sender = await aSender(database.pool, 'Hello');
  const { workspaceId } = sender;
  const contactId = await database.pool.oneFirst(sql.type(Id)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source, subscribed)
    VALUES (${workspaceId}, ${number}, '49', 'DE', 'api', false) RETURNING id`);
  const campaignId = await aCampaignToPrepare(database.pool, sender, {
    audience: { csv_mapping: { phone_column: 0, country_code_column: 1 }, csv_file_key: 'k' },
  });
  const others = Array.from({ length: 8_000 }, (_, index) => `+49152${10_000_000 + index},49\n`);
  const [begun, begin] = aSignal();
  const [erased, erase] = aSignal();
  const file = async function* () {
    yield Buffer.from(`p,c\n${others.slice(0, 1_500).join('')}`);
    begin();
    await erased;
    yield Buffer.from(`${others.slice(1_500).join('')}+${number},49\n`);
  };
  const dependencies = reading(file());
  const prepared = prepare(dependencies, campaignId);
  await begun;
  await eraseContact(dependencies, { workspaceId, contactId });
  erase();
  expect(await prepared).toBe(8_000);
  expect(
    await database.pool.one(sql.type(Added)`
      SELECT recipient.state, contact.subscribed FROM recipient JOIN contact ON contact.id = contact_id
      WHERE campaign_id = ${campaignId} AND recipient.phone_number = ${number}`),
  ).toEqual({ state: 'SKIPPED', subscribed: false });
});
