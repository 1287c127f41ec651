/** Erasures of people to whom a message is under way, or who write at the same moment. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eraseContact } from '../../../src/commands/contacts/erase-contact.ts';
import { stepErasure } from '../../../src/commands/contacts/run-erasures.ts';
import type { Config } from '../../../src/config.ts';
import { NotFound } from '../../../src/domain/error.ts';
import { learnIdentities } from '../../../src/records/callbacks/identities.ts';
import { insertInboundMessage } from '../../../src/records/callbacks/inbound-messages.ts';
import type { Database } from '../../../src/records/database/database.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { claimMessage, recordMessageResult } from '../../../src/records/messages/outbound-messages.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes } from '../../../src/records/sending/outcomes.ts';
import { aSignal } from '../../support/a-signal.ts';
import { createApplier, deliverAnyhow, messagesCallback, rowsOf } from '../../support/callback-fixtures.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  testSecrets,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { outcomesOf } from '../../support/outcomes.ts';

let test: TestDatabase;
let seeded: SeededCampaign;
let contactId: string;
const number = '4915100000001';
const providerMessageId = `wamid.of ${number}`;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  seeded = await seedCampaign(test.pool, { recipients: 1 });
  const { workspaceId, campaignId } = seeded;
  contactId = randomUUID();
  await test.pool.query(sql.type(
    nothing,
  )`INSERT INTO contact (id, workspace_id, phone_number, country_code, country, source)
    VALUES (${contactId}, ${workspaceId}, ${number}, '49', 'DE', 'api')`);
  await test.pool.query(
    sql.type(nothing)`UPDATE recipient SET contact_id = ${contactId} WHERE campaign_id = ${campaignId}`,
  );
});

const eraser = (database: Database = test.pool) => ({
  config: {} as Config,
  database,
  logger: pino({ enabled: false }),
  secrets: testSecrets,
});

const erase = (database?: Database) =>
  eraseContact(eraser(database), { workspaceId: seeded.workspaceId, contactId });

/** Erases the person; `meanwhile` runs before the transaction that clears the data commits, and goes on after it. */
async function eraseWhile(meanwhile: () => Promise<unknown>): Promise<void> {
  let transactions = 0;
  const [reached, reach] = aSignal();
  const going = reached.then(meanwhile);
  const { pool } = test;
  const slow = new Proxy(pool, {
    get: (target, name) =>
      name === 'transaction'
        ? (work: Parameters<typeof pool.transaction>[0]) =>
            pool.transaction(async (transaction) => {
              const result = await work(transaction);
              transactions += 1;
              if (transactions === 2) {
                reach();
                await sleep(100);
              }
              return result;
            })
        : Reflect.get(target, name),
  });
  await erase(slow);
  await going;
}

async function finishErasure(): Promise<void> {
  while (await stepErasure(eraser(), 0));
}

/** All rows of the workspace in which the number occurs. */
async function naming(): Promise<readonly unknown[]> {
  const tables = await rowsOf<{ readonly name: string }>(
    test.pool,
    sql.fragment`SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND relname IN ('recipient', 'message', 'contact', 'contact_identity')`,
  );
  const found = await Promise.all(
    tables.map(({ name }) =>
      rowsOf(
        test.pool,
        sql.fragment`SELECT * FROM ${sql.identifier([name])} AS line WHERE strpos(to_jsonb(line)::text, ${number}) > 0
          AND (to_jsonb(line) ->> 'workspace_id' = ${String(seeded.workspaceId)} OR to_jsonb(line) ->> 'campaign_id' = ${seeded.campaignId})`,
      ),
    ),
  );
  return found.flat();
}

async function claim(): Promise<string> {
  const claimId = randomUUID();
  await claimBatch(test.pool, {
    ...anyTokens,
    ...seeded,
    claimId,
    epoch: 0,
    limit: 1,
    prices: new Map([['', messagePrice]]),
  });
  return claimId;
}

const accept = (claimId: string) =>
  recordOutcomes(test.pool, {
    ...seeded,
    outcomes: outcomesOf(
      claimId,
      new Map([[1, { kind: 'accepted', providerMessageId, otherIds: [`${number}9`] }]]),
    ),
  });

async function expectAccepted(): Promise<void> {
  const indexed = sql.fragment`SELECT 1 FROM provider_message JOIN recipient ON recipient.id = recipient_id
    WHERE campaign_id = ${seeded.campaignId}`;
  expect([await naming(), await rowsOf(test.pool, indexed)]).toEqual([[], []]);
  const state = sql.fragment`SELECT state, settlement FROM recipient WHERE campaign_id = ${seeded.campaignId}`;
  expect(await rowsOf(test.pool, state)).toEqual([{ state: 'ACCEPTED', settlement: 'charged' }]);
  expect(await checkBooks(test.pool, seeded)).toMatchObject({ reserved: 0n, counters_fit: true });
}

it('keeps no id of a campaign message whose answer comes later', async () => {
  const claimId = await claim();
  await erase();
  await accept(claimId);
  await expectAccepted();
});

it('keeps no id of a campaign message whose answer comes during the erasure', async () => {
  const claimId = await claim();
  await eraseWhile(() => accept(claimId));
  await finishErasure();
  await expectAccepted();
});

async function claimSingle(): Promise<string> {
  const id = randomUUID();
  const { workspaceId, channelId, templateId } = seeded;
  const message = { id, workspaceId, channelId, templateId, source: 'api', campaignId: null } as const;
  await claimMessage(test.pool, {
    ...message,
    to: number,
    country: 'DE',
    price: messagePrice,
    ttlSeconds: 600,
  });
  return id;
}

async function expectSingleAccepted(): Promise<void> {
  expect(await naming()).toEqual([]);
  const { channelId } = seeded;
  const state = sql.fragment`SELECT state, settlement FROM message WHERE channel_id = ${channelId}`;
  expect(await rowsOf(test.pool, state)).toEqual([{ state: 'ACCEPTED', settlement: 'charged' }]);
}

it('keeps no id of a single message whose answer comes later', async () => {
  const id = await claimSingle();
  await erase();
  await recordMessageResult(test.pool, id, { state: 'ACCEPTED', providerMessageId });
  await expectSingleAccepted();
});

it('keeps no id of a single message whose answer comes during the erasure', async () => {
  const id = await claimSingle();
  await eraseWhile(() => recordMessageResult(test.pool, id, { state: 'ACCEPTED', providerMessageId }));
  await finishErasure();
  await expectSingleAccepted();
});

it('clears a message that another transaction was writing during the erasure', async () => {
  const { workspaceId, channelId } = seeded;
  const [written, write] = aSignal();
  const erased = written.then(() => erase());
  await test.pool.transaction(async (transaction) => {
    await insertInboundMessage(transaction, {
      workspaceId,
      channelId,
      contactId,
      conversationId: null,
      campaignId: null,
      phoneNumber: number,
      country: 'DE',
      type: 'text',
      content: `{"from":"${number}"}`,
      providerMessageId,
      sentAt: null,
    });
    write();
    await sleep(300);
  });
  await erased;
  await finishErasure();
  expect(await naming()).toEqual([]);
});

/** Applies a callback with a message; `from` and `contact` name its sender. */
function receive(text: string, from: object, contact: object): Promise<unknown> {
  const message = {
    id: `wamid.${randomUUID()}`,
    ...from,
    timestamp: '1749416383',
    type: 'text',
    text: { body: text },
  };
  const contacts = [{ profile: { name: 'Ada' }, ...contact }];
  return deliverAnyhow(createApplier(test.pool, { secrets: testSecrets }), [
    messagesCallback(seeded.channelId, { contacts, messages: [message] }),
  ]);
}

it('registers a person who writes during the erasure as a new contact', async () => {
  await eraseWhile(() => receive('STOP', { from: number }, { wa_id: number }));
  const found = sql.fragment`SELECT id = ${contactId} AS erased, phone_number, chat_name, subscribed
    FROM contact WHERE workspace_id = ${seeded.workspaceId} ORDER BY created_at`;
  expect(await rowsOf(test.pool, found)).toEqual([
    { erased: true, phone_number: null, chat_name: '', subscribed: false },
    { erased: false, phone_number: number, chat_name: 'Ada', subscribed: false },
  ]);
});

it('clears an id of the provider that is learned during the erasure', async () => {
  const { workspaceId } = seeded;
  await eraseWhile(() => learnIdentities(test.pool, [{ workspaceId, contactId, providerId: `${number}9` }]));
  await finishErasure();
  expect(await naming()).toEqual([]);
});

it('stays opted out when the person is known by user id alone and writes again', async () => {
  const { workspaceId } = seeded;
  const userId = 'US.13491208655302741918';
  await test.pool.query(sql.type(nothing)`
    UPDATE contact SET phone_number = NULL, provider_user_id = ${userId}, subscribed = false WHERE id = ${contactId}`);
  await erase();
  await receive('Hi', { from_user_id: userId }, { user_id: userId });
  const found = sql.fragment`SELECT subscribed FROM contact
    WHERE workspace_id = ${workspaceId} AND provider_user_id = ${userId}`;
  expect(await rowsOf(test.pool, found)).toEqual([{ subscribed: false }]);
});

it('clears a second row of the same number, which was skipped before its contact was known', async () => {
  await test.pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, phone_number, sendable, state, reason)
    VALUES (${seeded.campaignId}, 2, ${number}, false, 'SKIPPED', 'DUPLICATE')`);
  await erase();
  expect(await naming()).toEqual([]);
});

it('clears the messages to a former number of the person', async () => {
  const id = await claimSingle();
  await recordMessageResult(test.pool, id, { state: 'ACCEPTED', providerMessageId });
  await test.pool.query(
    sql.type(nothing)`UPDATE contact SET phone_number = '4915100000002' WHERE id = ${contactId}`,
  );
  await erase();
  const { channelId } = seeded;
  const left = sql.fragment`SELECT phone_number, provider_message_id FROM message WHERE channel_id = ${channelId}`;
  expect(await rowsOf(test.pool, left)).toEqual([{ phone_number: null, provider_message_id: null }]);
});

it('clears the recipients under a former number of the person, and none of the person who has it now', async () => {
  const { workspaceId, campaignId } = seeded;
  const strangerId = randomUUID();
  await test.pool.query(
    sql.type(nothing)`UPDATE contact SET phone_number = '4915100000002' WHERE id = ${contactId}`,
  );
  await test.pool.query(sql.type(nothing)`
    INSERT INTO contact (id, workspace_id, phone_number, country_code, country, source)
    VALUES (${strangerId}, ${workspaceId}, ${number}, '49', 'DE', 'api')`);
  await test.pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, contact_id, phone_number, sendable, state, reason)
    VALUES (${campaignId}, 2, ${strangerId}, ${number}, false, 'SKIPPED', 'UNSUBSCRIBED')`);
  await erase();
  const left = (await naming()) as readonly { readonly id: string; readonly contact_id?: string }[];
  expect(left.map(({ id, contact_id: owner = id }) => owner)).toEqual([strangerId, strangerId]);
});

it('answers NotFound to a second request that comes during the erasure', async () => {
  const second = await new Promise<unknown>((resolve) => {
    void eraseWhile(() => erase().then(resolve, resolve));
  });
  expect(second).toBeInstanceOf(NotFound);
});
