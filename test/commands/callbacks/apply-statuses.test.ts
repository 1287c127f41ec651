import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applyUnmatchedStatuses,
  emitUnknownStatuses,
  startSettlingStatuses,
} from '../../../src/commands/callbacks/settle-unmatched-statuses.ts';
import { findOptedOut } from '../../../src/commands/contacts/opted-out-numbers.ts';
import { expireClaims } from '../../../src/records/sending/claim-expiry.ts';
import { claimBatch, type ClaimedRecipient } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes, type MessageOutcome } from '../../../src/records/sending/outcomes.ts';
import { outcomesOf } from '../../support/outcomes.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  createApplier,
  deliver,
  eventsOf,
  messagesCallback,
  rowsOf,
  status,
  subscribeToAll,
  type RecordingApplier,
  type StatusSpec,
} from '../../support/callback-fixtures.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let applier: RecordingApplier;

beforeAll(async () => {
  database = await createTestDatabase();
  applier = createApplier(database.pool);
});
afterAll(() => database.drop());

interface Sending extends SeededCampaign {
  readonly claimId: string;
  readonly recipients: readonly ClaimedRecipient[];
}

/** A campaign whose recipients are claimed: their messages may be sent, and no outcome is recorded. */
async function claimed(size: number): Promise<Sending> {
  const campaign = await seedCampaign(database.pool, { recipients: size });
  await subscribeToAll(database.pool, campaign.workspaceId);
  const claimId = randomUUID();
  const claim = await claimBatch(database.pool, {
    ...anyTokens,
    claimId,
    campaignId: campaign.campaignId,
    channelId: campaign.channelId,
    epoch: 0,
    limit: size,
    prices: new Map([['', messagePrice]]),
  });
  if (claim.kind !== 'batch') throw new Error(`nothing claimed: ${claim.kind}`);
  return { ...campaign, claimId, recipients: claim.recipients };
}

const wamid = (recipient: ClaimedRecipient | undefined): string => `wamid.${recipient?.id}`;

async function record(
  sending: Sending,
  outcomeOf: (recipient: ClaimedRecipient) => MessageOutcome,
): Promise<void> {
  const { campaignId, channelId, claimId } = sending;
  const outcomes = new Map(sending.recipients.map((recipient) => [recipient.position, outcomeOf(recipient)]));
  await recordOutcomes(database.pool, { campaignId, channelId, outcomes: outcomesOf(claimId, outcomes) });
}

/** A campaign whose messages the provider has accepted. */
async function accepted(size: number): Promise<Sending> {
  const sending = await claimed(size);
  await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
  return sending;
}

/** The callback of one status of one recipient, as the provider sends it. */
function callback(sending: Sending, name: string, at = 0, rest: Partial<StatusSpec> = {}) {
  const recipient = sending.recipients[at];
  const spec = { status: name, providerMessageId: wamid(recipient), callbackData: recipient?.id ?? '' };
  return messagesCallback(sending.channelId, { statuses: [status({ ...spec, ...rest })] });
}

interface RecipientLine {
  readonly state: string;
  readonly reason: string | null;
  readonly reason_detail: string | null;
  readonly settlement: string;
  readonly price: number;
  readonly provider_message_id: string | null;
}

const recipientsOf = ({ campaignId }: SeededCampaign) =>
  rowsOf<RecipientLine>(
    database.pool,
    sql.fragment`SELECT state, reason, reason_detail, settlement, price, provider_message_id
      FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position`,
  );

const ledgerOf = ({ channelId }: SeededCampaign) =>
  rowsOf<{ kind: string; amount: number; message_count: number | null; reason: string | null }>(
    database.pool,
    sql.fragment`SELECT kind, amount, message_count, reason FROM ledger_entry
      WHERE channel_id = ${channelId} AND kind NOT IN ('recharge', 'charge') ORDER BY id`,
  );

const reasonsOf = ({ campaignId }: SeededCampaign) =>
  rowsOf<{ reason: string; count: number }>(
    database.pool,
    sql.fragment`SELECT reason, count FROM campaign_reason WHERE campaign_id = ${campaignId} AND count <> 0 ORDER BY reason`,
  );

async function expectBooksFit(campaign: SeededCampaign): Promise<void> {
  const books = await checkBooks(database.pool, campaign);
  expect(books).toMatchObject({ balance: books.ledger, reserved: books.owed, counters_fit: true });
}

const keysOf = async ({ workspaceId }: SeededCampaign) =>
  (await eventsOf(database.pool, workspaceId)).map(({ eventKey }) => eventKey);

describe('statuses of a campaign', () => {
  it('moves a whole batch on, with one event per message and status', async () => {
    const sending = await accepted(5);
    const all = ['sent', 'delivered', 'read'].flatMap((name) =>
      sending.recipients.map((_, at) => callback(sending, name, at)),
    );
    await deliver(applier, all);
    expect((await recipientsOf(sending)).map(({ state }) => state)).toEqual(Array(5).fill('READ'));
    const keys = await keysOf(sending);
    expect(keys.filter((key) => key === 'sent')).toHaveLength(5);
    expect(keys).toHaveLength(15);
    await expectBooksFit(sending);
  });

  it('counts each status by minute, the failures that receipts report too', async () => {
    const sending = await accepted(3);
    await deliver(applier, [
      callback(sending, 'failed', 0, { code: 131026 }),
      callback(sending, 'delivered', 1),
      callback(sending, 'read', 2),
    ]);
    const minutes = sql.fragment`SELECT sum(delivered)::int AS delivered, sum(read)::int AS read, sum(failed)::int AS failed
      FROM campaign_minute WHERE campaign_id = ${sending.campaignId}`;
    expect(await rowsOf(database.pool, minutes)).toEqual([{ delivered: 2, read: 1, failed: 1 }]);
  });

  it('ends in the same rows and events whatever the order and the repetitions', async () => {
    const orders = [
      ['sent', 'delivered', 'read'],
      ['read', 'delivered', 'sent'],
      ['delivered', 'sent', 'sent', 'read', 'delivered'],
      ['read', 'read', 'sent', 'delivered', 'sent'],
    ];
    const ends = [];
    for (const order of orders) {
      const sending = await accepted(1);
      for (const name of order) await deliver(applier, [callback(sending, name)]);
      const [recipient] = await recipientsOf(sending);
      ends.push({
        state: recipient?.state,
        settlement: recipient?.settlement,
        keys: (await keysOf(sending)).toSorted(),
      });
      await expectBooksFit(sending);
    }
    const end = { state: 'READ', settlement: 'charged', keys: ['delivered', 'read', 'sent'] };
    expect(ends).toEqual(orders.map(() => end));
  });

  it('sets the time of each status once', async () => {
    const sending = await accepted(1);
    const times = async () =>
      (
        await rowsOf<Readonly<Record<'sent_at' | 'delivered_at' | 'read_at', number | null>>>(
          database.pool,
          sql.fragment`SELECT sent_at, delivered_at, read_at FROM recipient WHERE campaign_id = ${sending.campaignId}`,
        )
      )[0];
    await deliver(applier, [callback(sending, 'sent')]);
    const sent = await times();
    expect(sent).toEqual({ sent_at: expect.anything(), delivered_at: null, read_at: null });
    await deliver(applier, [callback(sending, 'delivered')]);
    const delivered = await times();
    expect(delivered).toEqual({ ...sent, delivered_at: expect.anything() });
    await deliver(applier, [callback(sending, 'read')]);
    const read = await times();
    expect(read).toEqual({ ...delivered, read_at: expect.anything() });
    for (const name of ['sent', 'delivered', 'read']) await deliver(applier, [callback(sending, name)]);
    expect(await times()).toEqual(read);
  });

  it('gives the event the data of the contract', async () => {
    const sending = await accepted(1);
    const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
    await deliver(applier, [callback(sending, 'sent', 0, { pricing })]);
    const [event] = await eventsOf(database.pool, sending.workspaceId);
    const raw = {
      id: wamid(sending.recipients[0]),
      status: 'sent',
      timestamp: '1751142888',
      recipient_id: '4915100000001',
      biz_opaque_callback_data: sending.recipients[0]?.id,
      pricing,
    };
    expect(event).toEqual({
      eventKey: 'sent',
      workspaceId: sending.workspaceId,
      timestamp: '2026-03-01T12:00:00.000Z',
      data: {
        status: raw,
        phoneNumberId: sending.channelId,
        messageSource: 'campaign',
        messageId: sending.recipients[0]?.id,
        campaignId: sending.campaignId,
        contactId: null,
        providerEvent: { statuses: [raw] },
      },
    });
  });

  it('passes the errors of a failure through, counts its reason and gives the money back', async () => {
    const sending = await accepted(2);
    await deliver(applier, [callback(sending, 'sent'), callback(sending, 'failed', 0, { code: 131026 })]);
    const [failed, other] = await recipientsOf(sending);
    expect(failed).toMatchObject({
      state: 'FAILED',
      reason: 'PROVIDER_131026',
      reason_detail: 'because of 131026',
      settlement: 'refunded',
    });
    expect(other?.state).toBe('ACCEPTED');
    expect(await ledgerOf(sending)).toEqual([
      { kind: 'refund', amount: Number(messagePrice), message_count: 1, reason: null },
    ]);
    expect(await reasonsOf(sending)).toEqual([{ reason: 'PROVIDER_131026', count: 1 }]);
    const events = await eventsOf(database.pool, sending.workspaceId);
    const failure = events.find(({ eventKey }) => eventKey === 'failed');
    expect(failure?.data.status.errors[0].error_data.details).toBe('because of 131026');
    await expectBooksFit(sending);
  });

  it('takes a failure back when the message arrived after all', async () => {
    const sending = await accepted(1);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 131026 })]);
    await deliver(applier, [callback(sending, 'delivered')]);
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'DELIVERED', reason: null, settlement: 'charged' },
    ]);
    expect(await reasonsOf(sending)).toEqual([]);
    await expectBooksFit(sending);
  });

  it('settles what a crash left CLAIMED by the receipt that carries our id', async () => {
    const sending = await claimed(3);
    await deliver(applier, [
      callback(sending, 'delivered', 0),
      callback(sending, 'failed', 1, { code: 131049 }),
    ]);
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'DELIVERED', settlement: 'charged', provider_message_id: wamid(sending.recipients[0]) },
      { state: 'FAILED', settlement: 'none', reason: 'PROVIDER_131049' },
      { state: 'CLAIMED', settlement: 'reserved' },
    ]);
    await expectBooksFit(sending);
  });

  it('settles UNKNOWN too, and takes it off the reasons', async () => {
    const sending = await claimed(2);
    await expireClaims(database.pool, { campaignId: sending.campaignId, graceSeconds: 0 });
    await deliver(applier, [callback(sending, 'read', 1)]);
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'UNKNOWN', settlement: 'reserved' },
      { state: 'READ', settlement: 'charged', reason: null },
    ]);
    expect(await reasonsOf(sending)).toEqual([{ reason: 'OUTCOME_UNKNOWN', count: 1 }]);
    await expectBooksFit(sending);
  });

  it('charges once when the receipt is faster than the answer', async () => {
    const sending = await claimed(2);
    await deliver(applier, [callback(sending, 'sent', 0)]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'SENT', settlement: 'charged' },
      { state: 'ACCEPTED', settlement: 'charged' },
    ]);
    await expectBooksFit(sending);
  });

  it('finds later statuses by the provider id of the first one', async () => {
    const sending = await claimed(1);
    await deliver(applier, [callback(sending, 'sent')]);
    const bare = status({ status: 'read', providerMessageId: wamid(sending.recipients[0]) });
    await deliver(applier, [messagesCallback(sending.channelId, { statuses: [bare] })]);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'READ' }]);
  });

  it('removes a recipient from the retry queue when its first message was sent after all', async () => {
    const sending = await claimed(1);
    await record(sending, () => ({ kind: 'released', delayMs: 60_000, attempted: true }));
    await deliver(applier, [callback(sending, 'failed', 0, { code: 131000 }), callback(sending, 'sent')]);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'SENT' }]);
    const waiting = sql.fragment`SELECT position FROM recipient_retry WHERE campaign_id = ${sending.campaignId}`;
    expect(await rowsOf(database.pool, waiting)).toEqual([]);
    await expectBooksFit(sending);
  });
});

describe('statuses while batches are claimed', () => {
  it('does not deadlock with claims, and the books agree', async () => {
    const campaign = await seedCampaign(database.pool, { recipients: 60 });
    const recipients = await rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${campaign.campaignId} ORDER BY position`,
    );
    const claimAll = async (): Promise<number> => {
      for (let claimedSoFar = 0; ;) {
        const claim = await claimBatch(database.pool, {
          ...anyTokens,
          claimId: randomUUID(),
          campaignId: campaign.campaignId,
          channelId: campaign.channelId,
          epoch: 0,
          limit: 3,
          prices: new Map([['', messagePrice]]),
        });
        if (claim.kind !== 'batch') return claimedSoFar;
        claimedSoFar += claim.recipients.length;
      }
    };
    // From the end, so that receipts meet recipients before, while and after they are claimed.
    const applyReceipts = async (): Promise<void> => {
      for (const { id } of recipients.toReversed()) {
        const sent = status({ status: 'sent', providerMessageId: `wamid.${id}`, callbackData: id });
        await deliver(applier, [messagesCallback(campaign.channelId, { statuses: [sent] })]);
      }
    };
    await Promise.all([claimAll(), applyReceipts()]);
    expect((await recipientsOf(campaign)).every(({ state }) => state === 'SENT')).toBe(true);
    await expectBooksFit(campaign);
  });
});

describe('prices reported by the provider', () => {
  const pricing = (category: string, billable = true) => ({ billable, pricing_model: 'PMP', category });

  it('corrects the ledger once when the category is another', async () => {
    const sending = await accepted(2);
    const other = { pricing: pricing('marketing') };
    await deliver(
      applier,
      [0, 1].map((at) => callback(sending, 'sent', at, other)),
    );
    await deliver(applier, [callback(sending, 'delivered', 0, other)]);
    const difference = 136_500 - Number(messagePrice);
    expect(await ledgerOf(sending)).toEqual([
      { kind: 'correction', amount: -2 * difference, message_count: 2, reason: 'CATEGORY_MARKETING' },
    ]);
    expect(await recipientsOf(sending)).toMatchObject([{ price: 136_500 }, { price: 136_500 }]);
    await expectBooksFit(sending);
  });

  it('gives the price back when the message is free', async () => {
    const sending = await accepted(1);
    await deliver(applier, [callback(sending, 'sent', 0, { pricing: pricing('utility', false) })]);
    expect(await ledgerOf(sending)).toEqual([
      { kind: 'correction', amount: Number(messagePrice), message_count: 1, reason: 'NOT_BILLABLE' },
    ]);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 131026 })]);
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'FAILED', price: 0, settlement: 'refunded' },
    ]);
    await expectBooksFit(sending);
  });

  it('charges nothing for a message that turns out to be free, in either order of its statuses', async () => {
    const sending = await accepted(2);
    const regular = { pricing: { type: 'regular', category: 'utility' } };
    const free = { pricing: { type: 'free_entry_point', category: 'referral_conversion', billable: true } };
    await deliver(applier, [callback(sending, 'sent', 0, regular)]);
    await deliver(applier, [callback(sending, 'delivered', 0, free)]);
    await deliver(applier, [callback(sending, 'delivered', 1, free)]);
    await deliver(applier, [callback(sending, 'sent', 1, regular)]);
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'DELIVERED', price: 0 },
      { state: 'DELIVERED', price: 0 },
    ]);
    await expectBooksFit(sending);
  });

  it('changes nothing when a status names neither a type nor whether it is billable', async () => {
    const sending = await accepted(1);
    await deliver(applier, [callback(sending, 'sent', 0, { pricing: { category: 'marketing' } })]);
    expect(await ledgerOf(sending)).toEqual([]);
  });

  it('changes nothing when the category is the expected one, or has no price', async () => {
    const sending = await accepted(2);
    await deliver(applier, [
      callback(sending, 'sent', 0, { pricing: pricing('utility') }),
      callback(sending, 'sent', 1, { pricing: pricing('referral_conversion') }),
    ]);
    expect(await ledgerOf(sending)).toEqual([]);
    await expectBooksFit(sending);
  });

  it('never takes more than the wallet has', async () => {
    const campaign = await accepted(1);
    await database.pool.query(sql.type(nothing)`
      UPDATE wallet SET balance = 500 WHERE channel_id = ${campaign.channelId}`);
    await database.pool.query(sql.type(nothing)`
      INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
      SELECT channel_id, workspace_id, 'adjustment', 500 - (SELECT sum(amount) FROM ledger_entry AS entry
        WHERE entry.channel_id = wallet.channel_id)
      FROM wallet WHERE channel_id = ${campaign.channelId}`);
    await deliver(applier, [callback(campaign, 'sent', 0, { pricing: pricing('marketing') })]);
    expect(await checkBooks(database.pool, campaign)).toMatchObject({ balance: 0n, ledger: 0n });
    expect(await recipientsOf(campaign)).toMatchObject([{ price: 136_500 }]);
    const owed = sql.fragment`SELECT amount FROM uncollected WHERE channel_id = ${campaign.channelId}`;
    expect(await rowsOf(database.pool, owed)).toEqual([{ amount: 136_500 - Number(messagePrice) - 500 }]);
  });
});

describe('failures that mean more than their message', () => {
  const campaignOf = async ({ campaignId }: SeededCampaign) =>
    (
      await rowsOf<{ status: string; pause_reason: string | null }>(
        database.pool,
        sql.fragment`SELECT status, pause_reason FROM campaign WHERE id = ${campaignId}`,
      )
    )[0];

  const accountOf = async ({ channelId }: SeededCampaign) =>
    (
      await rowsOf<{ id: string }>(
        database.pool,
        sql.fragment`SELECT business_account_id AS id FROM channel WHERE id = ${channelId}`,
      )
    )[0]?.id;

  it('pauses the campaigns of a template that the provider has paused', async () => {
    const sending = await accepted(2);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 132015 })]);
    expect(await campaignOf(sending)).toEqual({ status: 'PAUSED', pause_reason: 'TEMPLATE_UNAVAILABLE' });
    expect(applier.orchestratorCalls).toContain(`refresh ${sending.campaignId}`);
    const template = sql.fragment`SELECT status FROM template WHERE id = ${sending.templateId}`;
    expect(await rowsOf(database.pool, template)).toEqual([{ status: 'PAUSED' }]);
    await expectBooksFit(sending);
  });

  it('pauses the campaigns of every channel of a portfolio of which the provider pauses three templates within an hour', async () => {
    const [sending, other] = [await accepted(3), await accepted(1)];
    const account = (await accountOf(sending)) ?? '';
    await database.pool.query(sql.type(nothing)`
      UPDATE business_account SET portfolio_id = ${account} WHERE id IN (${account}, ${(await accountOf(other)) ?? ''})`);
    const pausedBefore = (name: string, ago: string) =>
      database.pool.query(sql.type(nothing)`
        INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status,
          components, refused_as_paused_at)
        SELECT workspace_id, business_account_id, ${name}, ${name}, 'en', category, 'PAUSED', components, now() - ${ago}::interval
        FROM template WHERE id = ${sending.templateId}`);
    await pausedBefore('first', '2 hours');
    await pausedBefore('second', '50 minutes');
    await deliver(applier, [callback(sending, 'failed', 0, { code: 132015 })]);
    expect(await campaignOf(other)).toMatchObject({ status: 'RUNNING' });
    await pausedBefore('third', '10 minutes');
    // Noted a moment ago: the template is not written for each failure.
    await deliver(applier, [callback(sending, 'failed', 1, { code: 132015 })]);
    expect(await campaignOf(other)).toMatchObject({ status: 'RUNNING' });
    await database.pool.query(sql.type(nothing)`
      UPDATE template SET refused_as_paused_at = now() - interval '6 minutes' WHERE id = ${sending.templateId}`);
    await deliver(applier, [callback(sending, 'failed', 2, { code: 132015 })]);
    expect(await campaignOf(other)).toEqual({ status: 'PAUSED', pause_reason: 'CHANNEL_BLOCKED' });
    const refusals = sql.fragment`SELECT refusal_code, refusal_cause FROM channel WHERE id IN (${sending.channelId}, ${other.channelId})`;
    expect(await rowsOf(database.pool, refusals)).toEqual(
      [0, 1].map(() => ({ refusal_code: 132015, refusal_cause: 'limit' })),
    );
  });

  it('pauses the campaigns of a channel that may not send', async () => {
    const sending = await accepted(1);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 131042 })]);
    expect(await campaignOf(sending)).toEqual({ status: 'PAUSED', pause_reason: 'CHANNEL_BLOCKED' });
  });

  it.each([
    ['no errors at all', {}],
    ['an empty list of errors', { errors: [] }],
    ['errors that cannot be read', { errors: ['oops', { title: 'no code' }] }],
  ])('ends the message and nothing else when it comes with %s', async (_, rest) => {
    const sending = await accepted(2);
    const recipient = sending.recipients[0];
    const failed = {
      status: 'failed',
      providerMessageId: wamid(recipient),
      callbackData: recipient?.id ?? '',
    };
    const element = { ...status(failed), ...rest };
    await deliver(applier, [messagesCallback(sending.channelId, { statuses: [element] })]);
    expect(await recipientsOf(sending)).toMatchObject([
      { state: 'FAILED', reason: 'PROVIDER_0', settlement: 'refunded' },
      { state: 'ACCEPTED' },
    ]);
    expect(await campaignOf(sending)).toEqual({ status: 'RUNNING', pause_reason: null });
    expect(await keysOf(sending)).toEqual(['failed']);
  });

  it('has no second effect when the failure is repeated', async () => {
    const sending = await accepted(1);
    const failed = callback(sending, 'failed', 0, { code: 131042 });
    await deliver(applier, [failed]);
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign SET status = 'RUNNING', pause_reason = NULL WHERE id = ${sending.campaignId}`);
    await deliver(applier, [failed]);
    expect(await campaignOf(sending)).toEqual({ status: 'RUNNING', pause_reason: null });
  });

  it('emits one event when a template that is already paused fails further messages', async () => {
    const sending = await accepted(2);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 132015 })]);
    await deliver(applier, [callback(sending, 'failed', 1, { code: 132015 })]);
    const lines = await recipientsOf(sending);
    expect(lines.map(({ state }) => state)).toEqual(['FAILED', 'FAILED']);
    const keys = (await keysOf(sending)).filter((key) => key !== 'failed');
    expect(keys).toHaveLength(1);
  });

  it('unsubscribes a contact that opted out at the provider', async () => {
    const sending = await accepted(1);
    const contactId = randomUUID();
    await database.pool.query(sql.type(nothing)`
      INSERT INTO contact (id, workspace_id, phone_number, country_code, source)
      VALUES (${contactId}, ${sending.workspaceId}, '4915100000001', '49', 'csv_import')`);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET contact_id = ${contactId} WHERE campaign_id = ${sending.campaignId}`);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 131050 })]);
    const events = await eventsOf(database.pool, sending.workspaceId);
    const updated = events.filter(({ eventKey }) => eventKey === 'contact.updated');
    expect(updated.map(({ data }) => data.contact)).toMatchObject([
      { id: contactId, subscribed: false, phoneNumber: '15100000001', countryCode: '49', tagsId: [] },
    ]);
  });

  it('keeps the opt-out of a person who is no contact yet', async () => {
    const sending = await accepted(1);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 131050 })]);
    const numbers = ['4915100000001', '4915100000002'];
    expect(await findOptedOut(applier, database.pool, sending.workspaceId, numbers)).toEqual(
      new Map([['4915100000001', 'no_marketing']]),
    );
  });

  it('has the templates fetched again when the provider does not have the template as we hold it', async () => {
    const sending = await accepted(2);
    const missing = [0, 1].map((at) => callback(sending, 'failed', at, { code: 132001 }));
    await deliver(applier, missing);
    expect(await campaignOf(sending)).toEqual({ status: 'PAUSED', pause_reason: 'TEMPLATE_UNAVAILABLE' });
    const account = await accountOf(sending);
    expect(applier.orchestratorCalls.filter((line) => line === `sync ${account}`)).toHaveLength(1);
  });

  it('slows the channel down when the provider says too late that it was too fast', async () => {
    const sending = await accepted(3);
    await deliver(
      applier,
      [0, 1, 2].map((at) => callback(sending, 'failed', at, { code: 130429 })),
    );
    const rate = sql.fragment`SELECT factor FROM channel_rate WHERE channel_id = ${sending.channelId}`;
    expect(await rowsOf(database.pool, rate)).toEqual([{ factor: 0.5 }]);
  });

  it('keeps the channel away from a country it may not message', async () => {
    const sending = await accepted(1);
    await deliver(applier, [callback(sending, 'failed', 0, { code: 130497 })]);
    const channel = sql.fragment`SELECT blocked_countries FROM channel WHERE id = ${sending.channelId}`;
    expect(await rowsOf(database.pool, channel)).toEqual([{ blocked_countries: ['DE'] }]);
  });
});

describe('statuses of messages we do not know', () => {
  const bare = (sending: Sending, name: string) =>
    messagesCallback(sending.channelId, {
      statuses: [status({ status: name, providerMessageId: wamid(sending.recipients[0]) })],
    });

  it('keeps them unmatched until our own record arrives', async () => {
    const sending = await claimed(1);
    await deliver(applier, [bare(sending, 'delivered'), bare(sending, 'sent'), bare(sending, 'sent')]);
    expect(await keysOf(sending)).toEqual([]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    expect(await applyUnmatchedStatuses(applier)).toBe(2);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'DELIVERED' }]);
    expect((await keysOf(sending)).toSorted()).toEqual(['delivered', 'sent']);
    expect(await applyUnmatchedStatuses(applier)).toBe(0);
  });

  it('keeps at most 64 KiB of each, and applies it all the same', async () => {
    const sending = await claimed(1);
    const junk = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 'junk']));
    const [one] = sending.recipients;
    const delivered = { ...junk, ...status({ status: 'delivered', providerMessageId: wamid(one) }) };
    const sent = {
      ...status({ status: 'sent', providerMessageId: wamid(one) }),
      recipient_user_id: `DE.${randomUUID().repeat(200)}`,
    };
    await deliver(applier, [messagesCallback(sending.channelId, { statuses: [delivered, sent] })]);
    const sizes = sql.fragment`SELECT octet_length(body) <= 65536 AS small FROM unmatched_status
      WHERE channel_id = ${sending.channelId}`;
    expect(await rowsOf(database.pool, sizes)).toEqual([{ small: true }, { small: true }]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    expect(await applyUnmatchedStatuses(applier)).toBe(2);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'DELIVERED' }]);
    await deliver(applier, [
      messagesCallback(sending.channelId, { statuses: [{ ...sent, status: 'read' }, sent] }),
    ]);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'READ' }]);
  });

  it('draws the consequences of a failure when the record arrives', async () => {
    const sending = await claimed(1);
    const failed = { status: 'failed', providerMessageId: wamid(sending.recipients[0]), code: 132015 };
    await deliver(applier, [messagesCallback(sending.channelId, { statuses: [status(failed)] })]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    expect(await applyUnmatchedStatuses(applier)).toBe(1);
    const paused = sql.fragment`SELECT campaign.status, template.status AS template FROM campaign
      JOIN template ON template.id = campaign.template_id WHERE campaign.id = ${sending.campaignId}`;
    expect(await rowsOf(database.pool, paused)).toEqual([{ status: 'PAUSED', template: 'PAUSED' }]);
    expect(applier.orchestratorCalls).toContain(`refresh ${sending.campaignId}`);
  });

  it('sets the one aside that Postgres rejects, and applies the others', async () => {
    const sending = await claimed(3);
    const statuses = sending.recipients.map((recipient) =>
      status({ status: 'delivered', providerMessageId: wamid(recipient) }),
    );
    await deliver(applier, [messagesCallback(sending.channelId, { statuses })]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    await database.owner.query(sql.type(nothing)`
      CREATE FUNCTION refuse_delivered() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'refused'; END$$`);
    await database.owner.query(sql.type(nothing)`
      CREATE TRIGGER refuse_delivered BEFORE UPDATE ON recipient FOR EACH ROW
        WHEN (NEW.state = 'DELIVERED' AND NEW.campaign_id = ${sql.literalValue(sending.campaignId)} AND NEW.position = 1)
        EXECUTE FUNCTION refuse_delivered()`);
    expect(await applyUnmatchedStatuses(applier)).toBe(2);
    await database.owner.query(sql.type(nothing)`DROP TRIGGER refuse_delivered ON recipient`);
    expect((await recipientsOf(sending)).map(({ state }) => state).toSorted()).toEqual([
      'ACCEPTED',
      'DELIVERED',
      'DELIVERED',
    ]);
    expect(await applyUnmatchedStatuses(applier)).toBe(0);
  });

  it('applies expired ones whose record was written while no worker ran', async () => {
    const sending = await claimed(1);
    await deliver(applier, [bare(sending, 'delivered')]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    await database.pool.query(sql.type(nothing)`
      UPDATE unmatched_status SET received_at = now() - interval '11 minutes' WHERE channel_id = ${sending.channelId}`);
    const loop = startSettlingStatuses(applier);
    await expect.poll(() => keysOf(sending)).toEqual(['delivered']);
    await loop.stop();
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'DELIVERED' }]);
    const [event] = await eventsOf(database.pool, sending.workspaceId);
    expect(event?.data).toMatchObject({ messageSource: 'campaign' });
  });

  it('applies them when the record was written by a statement that began before midnight', async () => {
    const sending = await claimed(1);
    await deliver(applier, [bare(sending, 'delivered')]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    // Around midnight (UTC): the record has yesterday's date, the status arrived in the first second of today.
    await database.pool.query(sql.type(nothing)`UPDATE provider_message SET day = current_date - 1
      WHERE recipient_id IN (SELECT id FROM recipient WHERE campaign_id = ${sending.campaignId})`);
    await database.pool.query(sql.type(nothing)`
      UPDATE unmatched_status SET received_at = date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '1 second'
      WHERE channel_id = ${sending.channelId}`);
    expect(await applyUnmatchedStatuses(applier)).toBe(1);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'DELIVERED' }]);
  });

  it('emits no unknown status when the record arrives at the same moment', async () => {
    const sending = await claimed(1);
    await deliver(applier, [bare(sending, 'sent')]);
    await record(sending, (recipient) => ({ kind: 'accepted', providerMessageId: wamid(recipient) }));
    while ((await emitUnknownStatuses(applier, 0)) > 0);
    expect(await keysOf(sending)).toEqual([]);
    expect(await applyUnmatchedStatuses(applier)).toBe(1);
    expect(await keysOf(sending)).toEqual(['sent']);
  });

  it('emits each once with messageSource unknown when no record arrives', async () => {
    const sending = await claimed(1);
    await deliver(applier, [bare(sending, 'sent')]);
    while ((await emitUnknownStatuses(applier, 0)) > 0);
    await deliver(applier, [bare(sending, 'sent')]);
    while ((await emitUnknownStatuses(applier, 0)) > 0);
    const events = await eventsOf(database.pool, sending.workspaceId);
    expect(events).toMatchObject([
      { eventKey: 'sent', data: { messageSource: 'unknown', status: { id: wamid(sending.recipients[0]) } } },
    ]);
  });

  it('distinguishes messages of two channels with the same provider id', async () => {
    const both = [await claimed(1), await claimed(1)];
    const same = `wamid.${randomUUID()}`;
    for (const sending of both) await record(sending, () => ({ kind: 'accepted', providerMessageId: same }));
    await deliver(
      applier,
      both.map(({ channelId }) =>
        messagesCallback(channelId, {
          statuses: [status({ status: 'delivered', providerMessageId: same })],
        }),
      ),
    );
    for (const sending of both) {
      expect(await recipientsOf(sending)).toMatchObject([{ state: 'DELIVERED' }]);
      expect(await keysOf(sending)).toEqual(['delivered']);
    }
  });

  it('applies no status of one channel to a message of another', async () => {
    const [sending, stranger] = [await accepted(1), await accepted(1)];
    const recipient = sending.recipients[0];
    const forged = status({
      status: 'read',
      providerMessageId: wamid(recipient),
      callbackData: recipient?.id ?? '',
    });
    await deliver(applier, [messagesCallback(stranger.channelId, { statuses: [forged] })]);
    expect(await recipientsOf(sending)).toMatchObject([{ state: 'ACCEPTED' }]);
    expect(await keysOf(sending)).toEqual([]);
  });
});
