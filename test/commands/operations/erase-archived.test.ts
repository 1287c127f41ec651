import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pino from 'pino';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eraseContact } from '../../../src/commands/contacts/erase-contact.ts';
import { stepErasure } from '../../../src/commands/contacts/run-erasures.ts';
import { archiveExpired } from '../../../src/commands/operations/archive-expired.ts';
import { eraseArchived } from '../../../src/commands/operations/erase-archived.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { noteErasedFrom, listDueErasures } from '../../../src/records/operations/archive-erasures.ts';
import { createSecretBox } from '../../../src/secrets.ts';
import { createArchivist, seedEndedCampaign, seedOldMessages } from '../../support/archive-fixture.ts';
import type { SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { tablesWith } from '../../support/tables-with.ts';

const number = '4915100000002';
let database: TestDatabase;
let fixture: Awaited<ReturnType<typeof createArchivist>>;
let campaign: SeededCampaign;
let contactId: string;
let keys: { readonly campaign: string; readonly messages: string };

const options = { batchSize: 10, onBatch: () => undefined };

beforeEach(async () => {
  database = await createTestDatabase();
  fixture = await createArchivist(database);
  campaign = await seedEndedCampaign(database.pool, { recipients: 3, monthsAgo: 7 });
  const { workspaceId, campaignId } = campaign;
  const today = new Date();
  const at = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 9, 1));
  await seedOldMessages(database.pool, campaign, { messages: 3, at });
  contactId = await database.pool.oneFirst(sql.type(row(t.type({ id: t.string })))`
    INSERT INTO contact (workspace_id, phone_number, source) VALUES (${workspaceId}, ${number}, 'api') RETURNING id`);
  // One message has the person's number, another only the contact's id. Every message has a line break and quotes in a field.
  await database.pool.query(sql.type(nothing)`
    UPDATE message SET phone_number = CASE WHEN content::text LIKE '%line 1"%' THEN ${number} ELSE phone_number END,
      contact_id = CASE WHEN content::text LIKE '%line 2"%' THEN ${contactId}::uuid END, reason_detail = E'two\nlines, "quoted"'
    WHERE workspace_id = ${workspaceId}`);
  keys = {
    campaign: `archive_campaign_${campaignId}.csv.gz`,
    messages: `archive_messages_${workspaceId}_${at.toISOString().slice(0, 7)}.csv.gz`,
  };
});
afterEach(async () => {
  await fixture.end();
  await database.drop();
});

const textOf = async (key: string): Promise<string> =>
  gunzipSync(await readFile(join(fixture.folder, key))).toString();

async function erase(): Promise<void> {
  const { archivist } = fixture;
  const eraser = { ...archivist, secrets: createSecretBox(['a key of the tests, long enough']) };
  await eraseContact(eraser, { workspaceId: campaign.workspaceId, contactId });
  while (await stepErasure(eraser, 0));
}

const age = (interval: string) =>
  database.pool.query(sql.type(nothing)`
    UPDATE archive_erasure SET created_at = created_at - ${interval}::interval`);
const eraseLater = async () => {
  await age('25 hours');
  return eraseArchived(fixture.archivist, options);
};

it('erases a person from every archive of the workspace, and leaves the rest byte for byte', async () => {
  await archiveExpired(fixture.archivist, options);
  const before = { campaign: await textOf(keys.campaign), messages: await textOf(keys.messages) };
  expect(before.messages).toContain('"two\nlines, ""quoted"""');
  await erase();
  expect(await eraseArchived(fixture.archivist, options)).toEqual({});
  await age('23 hours');
  expect(await eraseArchived(fixture.archivist, options)).toEqual({});
  expect(await eraseLater()).toEqual({ erasedArchives: 2 });
  const recipients = (await textOf(keys.campaign)).split('\n');
  const old = before.campaign.split('\n');
  expect(old[2]).toMatch(/,4915100000002,.*Ada 2.*wamid|wamid.*Ada 2/);
  expect(recipients[2]).toMatch(/^[\da-f-]{36},,,DELIVERED,,,.*,2,DE,,.*,1000,charged,/);
  expect(recipients[2]).not.toMatch(/Ada|wamid|49151/);
  expect(recipients.with(2, '')).toEqual(old.with(2, ''));
  const messages = await textOf(keys.messages);
  expect(messages).not.toContain(number);
  expect(messages).not.toMatch(/line [12]""/);
  const kept = before.messages.slice(before.messages.lastIndexOf('\n', before.messages.indexOf('line 3')));
  expect(messages.endsWith(kept)).toBe(true);
  expect(messages.match(/\n[\da-f-]{36},/g)).toHaveLength(3);
  expect(await tablesWith(database.pool, number)).toEqual([]);
  expect(await eraseArchived(fixture.archivist, options)).toEqual({});
});

it('reaches an archive that was being written when the person was erased', async () => {
  const { storage } = fixture.archivist;
  const overtaken = {
    ...storage,
    write: async (...file: Parameters<typeof storage.write>) => {
      const size = await storage.write(...file);
      if (file[0] === keys.campaign) await erase();
      return size;
    },
  };
  await archiveExpired({ ...fixture.archivist, storage: overtaken }, options);
  expect(await textOf(keys.campaign)).toContain(number);
  await eraseLater();
  expect(await textOf(keys.campaign)).not.toContain(number);
});

it('goes on with the archives that a dead process left, and retries those it cannot read', async () => {
  await archiveExpired(fixture.archivist, options);
  await erase();
  const { storage } = fixture.archivist;
  const dying = {
    ...storage,
    write: async () => {
      throw new Error('killed');
    },
  };
  await age('25 hours');
  const logger = pino({ level: 'silent' });
  expect(await eraseArchived({ ...fixture.archivist, storage: dying, logger }, options)).toEqual({
    erasedArchives: 0,
  });
  const whole = await readFile(join(fixture.folder, keys.campaign));
  await writeFile(join(fixture.folder, keys.campaign), whole.subarray(0, 40));
  expect(await eraseArchived(fixture.archivist, options)).toEqual({ erasedArchives: 0 });
  await writeFile(join(fixture.folder, keys.campaign), whole);
  expect(await eraseArchived(fixture.archivist, options)).toEqual({ erasedArchives: 2 });
  expect(await textOf(keys.campaign)).not.toContain(number);
});

it('does not replace an archive to which another process applied the same erasures', async () => {
  await archiveExpired(fixture.archivist, options);
  await erase();
  await age('25 hours');
  const [due] = await listDueErasures(database.pool);
  const { storage } = fixture.archivist;
  const overtaken = {
    ...storage,
    write: async (...file: Parameters<typeof storage.write>) => {
      if (due !== undefined) await noteErasedFrom(database.pool, { key: file[0], size: undefined }, due);
      return storage.write(...file);
    },
  };
  await eraseArchived({ ...fixture.archivist, storage: overtaken }, options);
  expect(await textOf(keys.campaign)).toContain(number);
});

it('keeps no name where nothing is archived', async () => {
  const archivist = { ...fixture.archivist, config: { databaseUrl: database.url } as never };
  fixture = { ...fixture, archivist };
  await erase();
  expect(await tablesWith(database.pool, number)).toEqual([]);
});
