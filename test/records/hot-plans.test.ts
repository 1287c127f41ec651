/**
 * Limits the rows that the most frequent statements touch on tables of 100,000 rows, with every kind of statistics (of small
 * owners, none, of empty tables, of one other campaign, of these rows) and with custom and generic plans. A plan that
 * reads a whole table, or compares a batch with one, touches far more.
 */
import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveredResult } from '../../bench/support/delivered-result.ts';
import { learnIdentities, learnIdsOfCampaignRecipients } from '../../src/records/callbacks/identities.ts';
import {
  claimExpiredStatuses,
  claimKnownStatuses,
  deleteRetries,
  findTargetsById,
  findTargetsByProviderId,
  lockRecipients,
} from '../../src/records/callbacks/message-statuses.ts';
import { insertAppMessage, lockOrBeginConversation } from '../../src/records/callbacks/inbound-messages.ts';
import { decideConsent } from '../../src/records/contacts/consents.ts';
import { lockPerson } from '../../src/records/callbacks/sender-contacts.ts';
import { acceptCategory, cancelPending } from '../../src/records/campaigns/lifecycle.ts';
import { listOutboxMessages, takeStarts } from '../../src/records/campaigns/workflow-outbox.ts';
import { listConversations } from '../../src/records/conversations/conversations.ts';
import { listMessages } from '../../src/records/messages/messages.ts';
import { suspectCampaigns } from '../../src/records/operations/standstill.ts';
import { countDelivered } from '../../src/records/wallet/comparison.ts';
import { listLedgerEntries } from '../../src/records/wallet/wallets.ts';
import { listDeliveries } from '../../src/records/webhooks/deliveries.ts';
import {
  claimProviderCallbacks,
  claimProviderCallbacksById,
} from '../../src/records/callbacks/provider-callbacks.ts';
import type { RecipientState } from '../../src/domain/campaigns/recipient.ts';
import { possibleNumbers } from '../../src/domain/contacts/search.ts';
import { listRecipients } from '../../src/records/campaigns/recipient-report.ts';
import { deleteContact, getContact, listContactsById } from '../../src/records/contacts/contacts.ts';
import {
  stopSendingTo,
  clearContact,
  erasePersonTraces,
  exportPerson,
  findKnownPerson,
} from '../../src/records/contacts/erasure.ts';
import { eraseLateTraces } from '../../src/records/contacts/erasure-job.ts';
import { listHistory } from '../../src/records/contacts/history.ts';
import { listContacts, searchContacts } from '../../src/records/contacts/list.ts';
import { lockContact } from '../../src/records/contacts/changes.ts';
import type { Connection, Database, Transaction } from '../../src/records/database/database.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import {
  deleteOldMessages,
  deleteRecipients,
  listCampaignsToDelete,
  listWorkspacesWithOldMessages,
} from '../../src/records/operations/retention.ts';
import { claimBatch, type ClaimRequest, listClaimed } from '../../src/records/sending/claim-batch.ts';
import { expireClaims } from '../../src/records/sending/claim-expiry.ts';
import { recordOutcomes } from '../../src/records/sending/outcomes.ts';
import { countKnownOutcomes } from '../../src/records/sending/failure-brake.ts';
import { claimAttempts, recordDeliveryOutcomes } from '../../src/records/webhooks/attempts.ts';
import { schedulerLimits } from '../support/webhook-fixtures.ts';
import { findWaitingDelivery, scheduleDeliveries } from '../../src/records/webhooks/delivery-scheduler.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../src/records/webhooks/events.ts';
import { anyTokens, messagePrice, seedCampaign, type SeededCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { outcomesOf } from '../support/outcomes.ts';
import { knowledges, setStatistics } from '../support/table-statistics.ts';

const rows = 100_000;
const batch = 500;
/**
 * A batch statement touches ten to thirty rows per item, and a claim may look three times at each of the 10,000 positions that it
 * scans; a wrong plan reads at least a whole table.
 */
const mostTouched = 60_000;

let database: TestDatabase;
let owner: pg.Client;
let seeded: SeededCampaign;
let recent: string;
let recipientIds: readonly string[];
let deliveryIds: readonly string[];
let contactId: string;
let contactIds: readonly string[];
const claimId = randomUUID();
const expiredClaimId = randomUUID();

beforeAll(async () => {
  database = await createTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(`DO $$ DECLARE one regclass; BEGIN
    FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', one);
    END LOOP; END $$`);
  const fill = (statement: string, values: readonly unknown[] = []) => owner.query(statement, [...values]);
  // Statistics of a time when every owner had one or two rows, and callbacks came one by one.
  for (let campaigns = 0; campaigns < 60; campaigns += 1)
    await seedCampaign(database.pool, { recipients: 2 });
  await fill(
    `INSERT INTO contact (workspace_id, phone_number, last_name, source, subscribed)
       SELECT id, (4915200000000 + 2 * id + n)::text, 'Family', 'test', true FROM workspace, generate_series(0, 1) AS n;
     INSERT INTO contact_identity (workspace_id, provider_id, contact_id)
       SELECT workspace_id, 'user.' || phone_number, id FROM contact;
     INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
       SELECT id, 'Tag ' || n, '#fff', '#000', 'key' FROM workspace, generate_series(1, 2) AS n;
     INSERT INTO contact_tag SELECT workspace_id, contact.id, tag.id FROM contact JOIN tag USING (workspace_id);
     INSERT INTO conversation (workspace_id, channel_id, contact_id, inbound_at)
       SELECT workspace_id, channel.id, contact.id, now() FROM channel JOIN contact USING (workspace_id);
     INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, phone_number, state,
         provider_message_id, created_at)
       SELECT workspace_id, channel_id, 'inbound', 'inbox', contact_id, conversation.id, phone_number, 'RECEIVED',
         'wamid.in.' || phone_number, timestamptz '2020-01-01T00:00:00Z'
       FROM conversation JOIN contact USING (workspace_id) WHERE contact.id = contact_id;
     INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, campaign_id, phone_number, state,
         provider_message_id, created_at)
       SELECT message.workspace_id, message.channel_id, 'outbound', 'campaign', contact_id, conversation_id, campaign.id, phone_number,
         'SENT', 'wamid.out.' || phone_number, message.created_at
       FROM message JOIN campaign USING (workspace_id);
     INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, campaign_id)
       SELECT channel_id, workspace_id, 'charge', -1, id FROM campaign;
     INSERT INTO account_reach SELECT id, n, now() FROM business_account, generate_series(1, 2) AS n;
     INSERT INTO campaign_claim (id, campaign_id, epoch, open, first_position, last_position)
       SELECT uuidv7(), id, 0, 1, 1, 1 FROM campaign;
     INSERT INTO recipient_retry (campaign_id, position, not_before)
       SELECT id, 1, now() FROM campaign;
     INSERT INTO workflow_outbox (campaign_id, kind) SELECT id, 'refresh' FROM campaign, generate_series(1, 2);
     INSERT INTO unmatched_status (channel_id, provider_message_id, status, body, emitted_at)
       SELECT id, 'small', kind, '{}', CASE kind WHEN 'read' THEN now() END FROM channel, unnest('{sent,read}'::text[]) AS kind;
     INSERT INTO webhook_configuration (workspace_id, title, url, status, events, proven_at)
       SELECT id, 'Test', 'https://receiver.example/', 'active', '{sent}', now() FROM workspace LIMIT 20;
     WITH emitted AS (
       INSERT INTO event (workspace_id, key, body, fanned_out_at)
       SELECT workspace_id, 'sent', 'x', now() FROM webhook_configuration RETURNING id, workspace_id)
     INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, dispatched_at)
       SELECT workspace_id, webhook.id, emitted.id, 'sent', 'delivered', now()
       FROM emitted JOIN webhook_configuration AS webhook USING (workspace_id);
     INSERT INTO provider_callback (body, received_at)
       SELECT 'x', now() - n * interval '1 millisecond' FROM generate_series(1, 200) AS n;
     INSERT INTO waiting_callback (id, received_at, size) SELECT id, received_at, 1 FROM provider_callback ORDER BY id LIMIT 100`,
  );
  await fill('ANALYZE');
  // With these statistics, the joins below would compare each row with each.
  await fill('SET enable_nestloop = off');
  seeded = await seedCampaign(database.pool, { recipients: rows });
  const { campaignId, workspaceId } = seeded;
  await fill(
    `INSERT INTO contact (workspace_id, phone_number, last_name, source, subscribed)
     SELECT $1, (4915100000000 + n)::text, 'Family ' || n % 1000, 'test', n % 50 <> 0 FROM generate_series(1, $2::int) AS n`,
    [workspaceId, rows],
  );
  await fill(
    `UPDATE recipient SET contact_id = contact.id FROM contact
     WHERE campaign_id = $1 AND contact.workspace_id = $2 AND contact.phone_number = recipient.phone_number`,
    [campaignId, workspaceId],
  );
  // Without a number, recorded outcomes look the contact up.
  await fill(`UPDATE recipient SET phone_number = NULL WHERE campaign_id = $1 AND position <= $2`, [
    campaignId,
    batch / 2,
  ]);
  // Two batches are claimed, one of them by a process that died; half a batch waits for another attempt, most for their first.
  await fill(
    `UPDATE recipient SET state = 'CLAIMED', settlement = 'reserved', price = $2, attempts = 1, provider_message_id = 'wamid.' || position,
       claim_id = CASE WHEN position <= $3 THEN $4::uuid ELSE $5::uuid END
     WHERE campaign_id = $1 AND position <= 2 * $3`,
    [campaignId, messagePrice, batch, claimId, expiredClaimId],
  );
  await fill(
    `INSERT INTO campaign_claim (id, campaign_id, epoch, open, first_position, last_position, claimed_at)
     VALUES ($1, $3, 0, $4, 1, $4, now()), ($2, $3, 0, $4, $4 + 1, 2 * $4, now() - interval '1 hour')`,
    [claimId, expiredClaimId, campaignId, batch],
  );
  await fill(
    `UPDATE campaign_counter SET claimed = 2 * $2::int, pending = pending - 2 * $2::int, claimed_position = 5 * $2::int / 2
     WHERE campaign_id = $1`,
    [campaignId, batch],
  );
  await fill(`UPDATE wallet SET reserved = $1`, [messagePrice * BigInt(2 * batch)]);
  await fill(
    `INSERT INTO recipient_retry (campaign_id, position, not_before)
     SELECT $1, n, now() - interval '1 minute' FROM generate_series(2 * $2::int + 1, 5 * $2::int / 2) AS n`,
    [campaignId, batch],
  );
  await fill(
    `INSERT INTO provider_message (hash, recipient_id)
     SELECT hashtextextended('wamid.' || position, 0), id FROM recipient WHERE campaign_id = $1`,
    [campaignId],
  );
  // Foreign keys are left out: with these statistics, their checks alone would read a table for each row if a plan goes wrong.
  await fill('SET session_replication_role = replica');
  await fill(
    `INSERT INTO contact_identity (workspace_id, provider_id, contact_id)
     SELECT workspace_id, 'user.' || phone_number, id FROM contact WHERE workspace_id = $1`,
    [workspaceId],
  );
  await fill(
    `WITH added AS (
       INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
       VALUES ($1, 'Tag', '#fff', '#000', 'key') RETURNING workspace_id, id)
     INSERT INTO contact_tag SELECT workspace_id, contact.id, added.id FROM contact JOIN added USING (workspace_id)`,
    [workspaceId],
  );
  await fill(
    `INSERT INTO conversation (workspace_id, channel_id, contact_id, inbound_at)
     SELECT workspace_id, $2, id, now() FROM contact WHERE workspace_id = $1`,
    [workspaceId, seeded.channelId],
  );
  await fill(
    `INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, phone_number, state,
       provider_message_id, created_at)
     SELECT $1, $2, 'inbound', 'inbox', contact_id, conversation.id, phone_number, 'RECEIVED', 'wamid.in.' || phone_number,
       timestamptz '2020-01-01T00:00:00Z' + row_number() OVER () * interval '10 seconds'
     FROM conversation JOIN contact ON contact.id = contact_id WHERE conversation.workspace_id = $1`,
    [workspaceId, seeded.channelId],
  );
  await fill(
    `INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, campaign_id)
     SELECT $1::uuid, $2::int, 'charge', -1, $3::uuid FROM generate_series(1, $4::int)`,
    [seeded.channelId, workspaceId, campaignId, rows],
  );
  await fill(
    `INSERT INTO account_reach SELECT business_account_id, n, now() FROM channel, generate_series(1, $2::int) AS n WHERE channel.id = $1`,
    [seeded.channelId, rows],
  );
  await fill(
    `INSERT INTO unmatched_status (channel_id, provider_message_id, status, body, received_at, emitted_at)
     SELECT $1::uuid, 'wamid.foreign.' || n, 'sent', '{}', now() - interval '5 minutes', CASE WHEN n > 1000 THEN now() END
     FROM generate_series(1, $2::int) AS n`,
    [seeded.channelId, rows],
  );
  await fill(
    `INSERT INTO workflow_outbox (campaign_id, kind, workspace_id)
     SELECT $1::uuid, 'start', $2::int FROM generate_series(1, $3::int)`,
    [campaignId, workspaceId, rows],
  );
  await fill('RESET session_replication_role');
  await fill(
    `INSERT INTO webhook_configuration (workspace_id, title, url, status, events, proven_at)
     VALUES ($1, 'Test', 'https://receiver.example/', 'active', '{sent}', now())`,
    [workspaceId],
  );
  // Ids contain the present time, so that all events and deliveries lie in the partition of today.
  await fill(
    `WITH emitted AS (
       INSERT INTO event (workspace_id, key, body, fanned_out_at)
       SELECT $1, 'sent', repeat('x', 300), CASE WHEN n > 1000 THEN now() END FROM generate_series(1, $2::int) AS n
       RETURNING id, fanned_out_at)
     INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, dispatched_at)
     SELECT $1, webhook.id, emitted.id, 'sent', CASE WHEN place > 2000 THEN 'delivered' ELSE 'pending' END,
       CASE WHEN place > 1000 THEN now() END
     FROM (SELECT *, row_number() OVER () AS place FROM emitted WHERE fanned_out_at IS NOT NULL) AS emitted
     CROSS JOIN webhook_configuration AS webhook WHERE webhook.workspace_id = $1`,
    [workspaceId, rows],
  );
  await fill(
    `WITH stored AS (
       INSERT INTO provider_callback (body)
       SELECT convert_to(repeat('x', 400), 'UTF8') FROM generate_series(1, $1::int) RETURNING id, received_at)
     INSERT INTO waiting_callback (id, received_at, size) SELECT id, received_at, 400 FROM stored ORDER BY id DESC LIMIT 1000`,
    [rows],
  );
  await fill('RESET enable_nestloop');
  recent = await recentId(database.pool);
  const ids = (statement: ReturnType<typeof sql.fragment>) =>
    database.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`${statement} LIMIT ${batch}`);
  recipientIds = await ids(
    sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position`,
  );
  [contactId = ''] = await ids(
    sql.fragment`SELECT id FROM contact WHERE workspace_id = ${workspaceId} AND phone_number = '4915100000777'`,
  );
  contactIds = await ids(
    sql.fragment`SELECT id FROM contact WHERE workspace_id = ${workspaceId} ORDER BY id`,
  );
  deliveryIds = await ids(
    sql.fragment`SELECT id FROM webhook_delivery WHERE state = 'pending' AND dispatched_at IS NOT NULL`,
  );
}, 240_000);
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

const positions = Array.from({ length: batch }, (_, index) => index + 1);
const prices = new Map([['', messagePrice]]);

/** A number without its country code is looked up behind every calling code, with and without its leading zero. */
const nationalForms = possibleNumbers('0151 00000007');
const lookUpNumber = (connection: Connection, states: readonly RecipientState[]) =>
  listRecipients(connection, {
    campaignId: seeded.campaignId,
    states,
    reasons: [],
    phoneNumbers: nationalForms,
    afterPosition: 0,
    limit: 100,
  });

const byLastName = (value: string) =>
  ({ segment: { match: 'all', conditions: [{ field: 'lastName', operator: 'eq', value }] } }) as const;

/** A person of the seeded campaign. */
const place = () => ({
  workspaceId: seeded.workspaceId,
  person: {
    id: contactId,
    phoneNumber: '4915100000777',
    formerNumbers: ['4915100000778'],
    providerIds: [],
  },
});

async function claim(connection: Connection, more: Partial<ClaimRequest> = {}): Promise<void> {
  const request = { ...anyTokens, ...seeded, epoch: 0, limit: batch, prices, ...more };
  for (;;) {
    const { kind } = await claimBatch(connection, { ...request, claimId: randomUUID() });
    if (kind === 'batch') return;
    // A statement that begins late, as on a busy machine, takes no token.
    expect(kind).toBe('rate_limited');
  }
}

const hot: Readonly<Record<string, (connection: Connection) => Promise<unknown>>> = {
  'claim a batch, retries first': (connection) => claim(connection),
  'claim a batch whose contacts may have changed': (connection) => claim(connection, { rendersAgain: true }),
  'claim a batch of a utility template': (connection) => claim(connection, { isMarketing: false }),
  'claim a batch under a frequency cap': (connection) =>
    claim(connection, {
      cap: { workspaceId: seeded.workspaceId, messages: 2, days: 7, categories: ['UTILITY'] },
    }),
  'record outcomes': (connection) => {
    const outcomes = new Map(
      positions.map((at) => [at, { kind: 'accepted', providerMessageId: `wamid.${at}` } as const]),
    );
    return recordOutcomes(connection, { ...seeded, outcomes: outcomesOf(claimId, outcomes) });
  },
  'find what an unanswered claim took': (connection) =>
    listClaimed(connection, { campaignId: seeded.campaignId, claimId }),
  'count outcomes for the failure brake': (connection) =>
    countKnownOutcomes(connection, [
      { campaignId: seeded.campaignId, outcomes: positions.map(() => ({ kind: 'delivered' }) as const) },
    ]),
  'count what was delivered': (connection) =>
    countDelivered(
      connection,
      ['DE', 'IN', ''].map((country) => ({
        ...seeded,
        at: new Date(),
        category: null,
        country,
        isFree: false,
        messages: 100,
        cost: 100n * messagePrice,
      })),
    ),
  'estimate the cost of a campaign': (connection) => acceptCategory(connection, seeded.campaignId),
  'expire a claim': (connection) => expireClaims(connection, { ...seeded, graceSeconds: 600 }),
  'learn ids from answers': (connection) =>
    learnIdsOfCampaignRecipients(
      connection,
      seeded.campaignId,
      positions.map((position) => ({ position, providerId: `id.${position}` })),
    ),
  'claim callbacks': (connection) =>
    claimProviderCallbacks(connection, { limit: 400, maxBytes: 1024 * 1024, except: [] }),
  'claim callbacks by id': (connection) =>
    claimProviderCallbacksById(
      connection,
      positions.map((position) => BigInt(position)),
    ),
  'find messages by our ids': (connection) => findTargetsById(connection, recipientIds),
  'find messages by ids of the provider': (connection) =>
    findTargetsByProviderId(
      connection,
      positions.map((position) => `wamid.${position}`),
    ),
  'lock recipients of statuses': (connection) => lockRecipients(connection, recipientIds),
  'read a contact': (connection) => getContact(connection, seeded.workspaceId, contactId),
  'read contacts by id': (connection) => listContactsById(connection, seeded.workspaceId, contactIds),
  'lock a contact': (connection) => lockContact(connection as Transaction, seeded.workspaceId, contactId),
  'delete a contact': (connection) => deleteContact(connection, seeded.workspaceId, contactId),
  'list contacts': (connection) =>
    listContacts(connection, seeded.workspaceId, { after: { id: contactId }, limit: 100 }),
  'search a contact by its number': (connection) =>
    searchContacts(connection, seeded.workspaceId, {
      search: { words: [], forms: [], numbers: ['4915100000777'] },
      limit: 100,
    }),
  'search a contact by a word of its name': (connection) =>
    searchContacts(connection, seeded.workspaceId, {
      search: { words: ['77'], forms: [], numbers: [] },
      limit: 100,
    }),
  'list the messages of a contact': (connection) =>
    listHistory(connection, { workspaceId: seeded.workspaceId, contactId, limit: 100 }),
  'find a person': (connection) => findKnownPerson(connection, seeded.workspaceId, contactId),
  'export a person': async (connection) => {
    for await (const _ of exportPerson(connection, place()));
  },
  'send nothing more to a person': (connection) => stopSendingTo(connection, place()),
  'erase what names a person': (connection) => erasePersonTraces(connection, place()),
  'erase what was written during an erasure': (connection) =>
    eraseLateTraces(connection, {
      workspaceId: seeded.workspaceId,
      contactId,
      names: [contactId, '4915100000777'],
      formerNumbers: ['4915100000778'],
    }),
  'erase a contact': (connection) => clearContact(connection, seeded.workspaceId, contactId),
  'delete old recipients': (connection) =>
    deleteRecipients(connection, { campaignId: seeded.campaignId, after: batch, limit: 1_000 }),
  'delete old messages': (connection) =>
    deleteOldMessages(connection, { workspaceId: seeded.workspaceId, olderThanMonths: 6, limit: 1_000 }),
  'list campaigns whose recipients are deleted': (connection) =>
    listCampaignsToDelete(connection, { olderThanMonths: 6, limit: 100, except: [] }),
  'list workspaces with old messages': (connection) => listWorkspacesWithOldMessages(connection, 6),
  'delete retries of statuses': (connection) =>
    deleteRetries(
      connection,
      positions.map((at) => ({ campaignId: seeded.campaignId, position: 2 * batch + at })),
    ),
  'look up a national number among recipients': (connection) => lookUpNumber(connection, []),
  'look up a national number among those who failed': (connection) => lookUpNumber(connection, ['FAILED']),
  'list the contacts of a last name': (connection) =>
    listContacts(connection, seeded.workspaceId, { ...byLastName('Family 7'), limit: 25 }),
  'find a waiting event': (connection) => findWaitingEvent(connection, recent),
  'fan events out': (connection) => fanOutEvents(connection, batch, recent),
  'find a waiting delivery': (connection) => findWaitingDelivery(connection, recent),
  'hand deliveries out': (connection) => scheduleDeliveries(connection as Database, schedulerLimits, recent),
  // The batch size of a worker.
  'claim deliveries': (connection) =>
    claimAttempts(connection, deliveryIds.slice(0, 50), {
      leaseSeconds: 15,
      expiryHours: 24,
      claimedBy: randomUUID(),
    }),
  'take the starts whose turn it is': (connection) => takeStarts(connection),
  'record deliveries': (connection) =>
    recordDeliveryOutcomes(connection, deliveryIds.slice(0, 50).map(deliveredResult)),
};

const someone = {
  phoneNumber: '4915100000777',
  waId: '4915100000777',
  providerUserId: 'user.4915100000777',
};

/** Further calls that keep to their batch once ANALYZE has run; on a table it has never seen, some read more. */
const hotOnceAnalyzed: typeof hot = {
  'lock who wrote': (connection) => lockPerson(connection, seeded.workspaceId, someone),
  'opt people out': (connection) =>
    decideConsent(connection, seeded.workspaceId, {
      contactIds,
      decision: { category: 'ALL', allows: false },
      at: new Date(),
      source: 'person',
    }),
  'learn ids from statuses': (connection) =>
    learnIdentities(
      connection,
      contactIds.map((id) => ({
        workspaceId: seeded.workspaceId,
        contactId: id,
        providerId: `user.new.${id}`,
      })),
    ),
  'begin a conversation': (connection) => lockOrBeginConversation(connection, { ...seeded, contactId }),
  'save a message of the app': (connection) =>
    insertAppMessage(connection, {
      ...seeded,
      ...someone,
      country: 'DE',
      type: 'text',
      content: '{}',
      providerMessageId: 'wamid.app',
      sentAt: null,
    }),
  'list the conversations of a contact': (connection) =>
    listConversations(connection, seeded.workspaceId, { contactId, page: 1, limit: 100 }),
  'list the messages of a campaign': (connection) =>
    listMessages(connection, seeded.workspaceId, {
      campaignId: seeded.campaignId,
      states: [],
      after: undefined,
      limit: 100,
    }),
  'list the contacts of a tag': (connection) =>
    listContacts(connection, seeded.workspaceId, { tagId: randomUUID(), limit: 100 }),
  'match unmatched statuses': (connection) =>
    claimKnownStatuses(connection, { withinSeconds: undefined, limit: batch }),
  'expire unmatched statuses': (connection) =>
    claimExpiredStatuses(connection, { afterSeconds: 60, limit: batch }),
  'list ledger entries': (connection) =>
    listLedgerEntries(connection, seeded.channelId, { before: undefined, limit: 100 }),
  'list failed deliveries': (connection) =>
    listDeliveries(connection, seeded.workspaceId, { states: ['failed'], beforeId: undefined, limit: 100 }),
  'list what waits in the outbox': (connection) =>
    listOutboxMessages(connection, { olderThanMs: 0, afterId: 0n }),
  'cancel a batch': (connection) =>
    cancelPending(connection as Database, { campaignId: seeded.campaignId, limit: 1_000 }),
  'suspect campaigns': suspectCampaigns,
};

const hotUnderLimit: typeof hot = {
  'claim a batch under a messaging limit': (connection) => claim(connection, { limited: true }),
};

interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The statements that `ask` runs; what they changed is rolled back. */
async function statementsOf(
  ask: (connection: Connection) => Promise<unknown>,
): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  const recorded = (connection: object): Connection =>
    new Proxy(connection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (argument: unknown) => {
          if (name === 'transaction')
            return Reflect.apply(member, target, [
              (inner: object) => (argument as (one: object) => unknown)(recorded(inner)),
            ]);
          statements.push(argument as Statement);
          return Reflect.apply(member, target, [argument]);
        };
      },
    }) as Connection;
  const rolledBack = new Error('rolled back');
  await database.pool
    .transaction(async (transaction) => {
      await ask(recorded(transaction));
      throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  return statements;
}

interface PlanNode {
  readonly Plans?: readonly PlanNode[];
  readonly [name: string]: unknown;
}

/** Rows that the nodes of a plan returned or looked at and threw away. */
function touchedBy(node: PlanNode): number {
  const of = (name: string): number => Number(node[name] ?? 0);
  const here =
    of('Actual Rows') +
    of('Rows Removed by Filter') +
    of('Rows Removed by Join Filter') +
    of('Rows Removed by Index Recheck');
  return here * of('Actual Loops') + (node.Plans ?? []).reduce((sum, one) => sum + touchedBy(one), 0);
}

/** A value as a literal of SQL; arrays in the form that Postgres reads. */
function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((one) => JSON.stringify(String(one))).join(',')}}`);
  return pg.escapeLiteral(`${value as string | number | bigint | boolean}`);
}

/** Runs the statement, returns the number of rows it read, and rolls back. */
async function touched(client: pg.Client, { sql: text, values }: Statement): Promise<number> {
  await client.query('BEGIN');
  try {
    await client.query(`PREPARE hot AS ${text.replaceAll('$slonik_', '$')}`);
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    const {
      rows: [plan],
    } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE hot${given}`,
    );
    return plan === undefined ? Number.NaN : touchedBy(plan['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('ROLLBACK; DEALLOCATE ALL');
  }
}

it('looks a national number up in hundreds of forms', () => {
  expect(nationalForms.length).toBeGreaterThan(400);
});

/** Returns a text for each statement that reads too much. Each is planned in each of the `modes`. */
async function dearStatements(calls: typeof hot, ...modes: readonly string[]): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // A plan that goes wrong ends here instead of in minutes.
  await client.query(`SET statement_timeout = '20s'`);
  const dear: string[] = [];
  for (const [what, ask] of Object.entries(calls)) {
    const statements = await statementsOf(ask);
    expect(statements.length, what).toBeGreaterThan(0);
    for (const mode of modes) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      for (const statement of statements) {
        const count = await touched(client, statement).catch((error: unknown) => String(error));
        if (!(Number(count) <= mostTouched)) dear.push(`${what} (${mode}): ${count}`);
      }
    }
  }
  await client.end();
  return dear;
}

// The first of these tests, because the others replace the statistics. The driver names no statement, so Postgres plans each with
// its values; generic plans would read more for a person's export and erasure, and for a national number among recipients.
it('hot statements touch no more rows than their batch needs after a time of small owners', async () => {
  expect(await dearStatements({ ...hot, ...hotOnceAnalyzed }, 'force_custom_plan')).toEqual([]);
  const limit = (people: number | null) =>
    owner.query('UPDATE business_account SET messaging_limit = $2 WHERE workspace_id = $1', [
      seeded.workspaceId,
      people,
    ]);
  // An account with a limit gives nothing to a claim that knows of none.
  await limit(2 * rows);
  expect(await dearStatements(hotUnderLimit, 'force_custom_plan')).toEqual([]);
  await limit(null);
}, 240_000);

describe.each(knowledges)('with statistics that know: %s', (knowledge) => {
  it('hot statements touch no more rows than their batch needs', async () => {
    await setStatistics(owner, knowledge);
    expect(await dearStatements(hot, 'force_custom_plan', 'force_generic_plan')).toEqual([]);
  }, 240_000);
});

it('finds a plan that compares a batch with a table', async () => {
  const { campaignId } = seeded;
  const compared = sql.type(nothing)`
    SELECT FROM recipient JOIN generate_series(1, ${batch}::int) AS given (position)
      ON recipient.campaign_id = ${campaignId} AND recipient.position + 0 = given.position`;
  expect(await touched(owner, compared)).toBeGreaterThan(mostTouched);
});
