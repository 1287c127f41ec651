/**
 * Any order of starts, pauses, cancels, recharges, single sends, opt-outs, receipts, price changes, lost answers and deaths of
 * workers: what must hold all the while. `MODEL_SEED` repeats a run; `MODEL_MINUTES` makes it longer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../src/commands/campaigns/change-campaign.ts';
import { sendSingleMessage, type SingleMessage } from '../../src/commands/messages/send-single-message.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { Conflict, Invalid, Overloaded, ProviderRefused } from '../../src/domain/error.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { messagePrice, seedCampaign, testSecrets, type SeededCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  createApplier,
  deliver,
  deliverAnyhow,
  fieldCallback,
  messagesCallback,
  status as receipt,
  type RecordingApplier,
} from '../support/callback-fixtures.ts';
import { accept, createFakeProvider, refuse, type FakeProvider } from '../support/fake-provider.ts';
import { watchStalls } from '../support/watch-stalls.ts';
import { startMortalWorker, type MortalWorker } from './mortal-worker.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const recipients = 60;
const messagesPerSecond = 150;
/** Every third recipient lives where a message costs more. */
const dearPrice = 2_300n;
const graceSeconds = 2;
/** Time limit for the effect of a pause or a cancel. */
const actsWithinMs = 1_000;

type Action =
  | { readonly kind: 'start' | 'pause' | 'cancel'; readonly campaign: 0 | 1 }
  | { readonly kind: 'recharge'; readonly messages: number }
  | { readonly kind: 'single' | 'kill' | 'price' | 'lose-answers' }
  /** Of the recipient at this position: every campaign has the same people. */
  | { readonly kind: 'stop' | 'stop-in-app'; readonly position: number }
  /** Statuses of the messages so far, mixed and repeated by this seed. */
  | { readonly kind: 'receipts'; readonly order: number }
  | { readonly kind: 'wait'; readonly ms: number };

const campaignIndex = fc.constantFrom(0 as const, 1 as const);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('start' as const), campaign: campaignIndex }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pause' as const), campaign: campaignIndex }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), campaign: campaignIndex }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('recharge' as const),
      messages: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('single' as const, 'kill' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('price' as const, 'lose-answers' as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('stop' as const, 'stop-in-app' as const),
      position: fc.integer({ min: 1, max: recipients }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('receipts' as const),
      order: fc.integer({ min: 1, max: 9_999 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 250 }) }),
  },
);

interface World {
  readonly campaigns: readonly [SeededCampaign, SeededCampaign];
  readonly provider: FakeProvider;
  readonly dependencies: Dependencies;
  /** When a campaign may not send: from a second after its pause until its next start. */
  readonly silences: { readonly campaignId: string; readonly from: number; until: number }[];
  readonly stalls: ReturnType<typeof watchStalls>;
  /** When the opt-out of a number was applied. */
  readonly optOuts: Map<string, number>;
  readonly applier: RecordingApplier;
}

async function makeWorld(balance: bigint): Promise<World> {
  const first = await seedCampaign(test.pool, { recipients, messagesPerSecond, balance, status: 'DRAFT' });
  const second = await seedCampaign(test.pool, {
    recipients,
    messagesPerSecond,
    balance: 0n,
    status: 'DRAFT',
  });
  const statements = [
    sql.fragment`UPDATE campaign SET channel_id = ${first.channelId}, workspace_id = ${first.workspaceId},
      template_id = ${first.templateId} WHERE id = ${second.campaignId}`,
    sql.fragment`UPDATE recipient SET country = 'FR'
      WHERE campaign_id IN (${first.campaignId}, ${second.campaignId}) AND position % 3 = 0`,
    sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
      VALUES (${first.workspaceId}, 'UTILITY', 'FR', ${dearPrice})`,
    sql.fragment`INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
      SELECT ${first.workspaceId}, phone_number, '49', 'DE', 'csv_import' FROM recipient
      WHERE campaign_id = ${first.campaignId}`,
    sql.fragment`UPDATE recipient SET contact_id = contact.id FROM contact
      WHERE campaign_id IN (${first.campaignId}, ${second.campaignId}) AND workspace_id = ${first.workspaceId}
        AND contact.phone_number = recipient.phone_number`,
  ];
  for (const statement of statements) await test.pool.query(sql.type(nothing)`${statement}`);
  // Rejects some messages permanently, and leaves the outcome of others unknown.
  const provider = createFakeProvider(async (message, count) => {
    await sleep(count % 7);
    if (count % 11 === 0) return refuse(131026)(message, count);
    if (count % 29 === 0) return refuse(131050)(message, count);
    return count % 17 === 0 ? { kind: 'unknown', cause: 'reset' } : accept(message, count);
  });
  const dependencies = {
    database: test.pool,
    provider,
    secrets: testSecrets,
    logger: pino({ level: 'silent' }),
    orchestrator: { refreshCampaign: async () => true, startCampaign: async () => undefined },
    now: () => new Date(),
  } as unknown as Dependencies;
  return {
    campaigns: [first, { ...first, campaignId: second.campaignId }],
    provider,
    dependencies,
    silences: [],
    stalls: watchStalls(() => test.pool.query(sql.type(nothing)`SELECT`)),
    optOuts: new Map(),
    applier: createApplier(test.pool, { now: () => new Date() }),
  };
}

/** Each request succeeds or is refused with a documented error. */
async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    expect(
      [Conflict, Invalid, Overloaded, ProviderRefused].some((kind) => error instanceof kind),
      String(error),
    ).toBe(true);
    return false;
  }
}

async function perform(world: World, step: Action): Promise<void> {
  const { dependencies, campaigns, silences } = world;
  switch (step.kind) {
    case 'wait':
      await sleep(step.ms);
      return;
    case 'recharge':
      await recharge(campaigns[0], messagePrice * BigInt(step.messages));
      return;
    case 'single':
      await attempt(() => sendSingleMessage(dependencies, singleTo(campaigns[0])));
      return;
    case 'start': {
      const campaign = campaigns[step.campaign];
      const askedAt = performance.now();
      if (await attempt(() => startCampaignAgain(dependencies, campaign))) {
        for (const silence of silences) {
          if (silence.campaignId === campaign.campaignId) silence.until = Math.min(silence.until, askedAt);
        }
      }
      return;
    }
    case 'pause':
    case 'cancel': {
      const campaign = campaigns[step.campaign];
      const change = step.kind === 'pause' ? pauseCampaign : cancelCampaign;
      if (await attempt(() => change(dependencies, campaign))) {
        const from = performance.now() + actsWithinMs;
        silences.push({ campaignId: campaign.campaignId, from, until: Infinity });
      }
      return;
    }
    case 'price':
      await test.pool.query(sql.type(nothing)`
        UPDATE rate_card SET price = price % 5000 + 300 WHERE workspace_id = ${campaigns[0].workspaceId}`);
      return;
    case 'lose-answers':
      // Committed or not: whoever waits for an answer cannot know.
      await cutConnections();
      return;
    case 'stop':
    case 'stop-in-app': {
      const number = String(4_915_100_000_000 + step.position);
      await deliver(world.applier, [stopOf(campaigns[0], number, step.kind)]);
      world.optOuts.set(number, world.optOuts.get(number) ?? performance.now());
      return;
    }
    case 'receipts':
      await deliverAnyhow(world.applier, receiptsOf(world, step.order));
      return;
    case 'kill':
  }
}

/** Cuts the connections of the workers; the test’s own stay. */
const cutConnections = () =>
  test.pool.query(sql.type(nothing)`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'mortal-%'`);

function stopOf({ channelId }: SeededCampaign, number: string, how: 'stop' | 'stop-in-app') {
  const now = Math.floor(Date.now() / 1_000);
  if (how === 'stop-in-app')
    return fieldCallback('1', 'user_preferences', {
      metadata: { display_phone_number: '15550100000', phone_number_id: channelId },
      user_preferences: [{ wa_id: number, category: 'marketing_messages', value: 'stop', timestamp: now }],
    });
  const message = { id: `wamid.${randomUUID()}`, from: number, timestamp: String(now), type: 'text' };
  return messagesCallback(channelId, {
    contacts: [{ profile: { name: 'Ada' }, wa_id: number }],
    messages: [{ ...message, text: { body: 'STOP' } }],
  });
}

/** Up to twenty messages, each with one to four statuses in any order, some of them twice. */
function receiptsOf({ provider, campaigns }: World, order: number) {
  const names = ['sent', 'delivered', 'read', 'failed'];
  return provider.received.slice(-20).flatMap(({ callbackData }, index) =>
    Array.from({ length: 1 + ((order + index) % 4) }, (_, at) => {
      const name = names[(order * (at + 1) + index * 7) % names.length] ?? 'sent';
      return messagesCallback(campaigns[0].channelId, {
        statuses: [
          receipt({
            status: name,
            callbackData,
            providerMessageId: `wamid.${callbackData}`,
            ...(name === 'failed' && { code: 131026 }),
          }),
        ],
      });
    }),
  );
}

const recharge = ({ channelId }: SeededCampaign, amount: bigint) =>
  postLedgerEntry(test.pool, { channelId, kind: 'recharge', amount });

const singleNumber = '4915200000000';
const singleTo = ({ channelId, workspaceId, templateId }: SeededCampaign) =>
  ({
    channel: {
      id: channelId,
      workspaceId,
      phoneNumberId: channelId,
      accessTokenEncrypted: testSecrets.encrypt('token', `channel ${channelId}`),
    },
    template: { id: templateId, name: 'hello', language: 'en_US', category: 'UTILITY' },
    components: [],
    recipient: { to: singleNumber, country: 'FR' },
    source: 'api',
    campaignId: null,
  }) as unknown as SingleMessage;

const Books = row(
  t.type({
    balance: t.bigint,
    reserved: t.bigint,
    ledger: t.bigint,
    owed: t.bigint,
    counters_fit: t.boolean,
  }),
);

/** One statement, so that it sees one moment. */
async function expectSoundBooks({ channelId }: SeededCampaign): Promise<void> {
  const books = await test.pool.one(sql.type(Books)`
    WITH mine AS (SELECT id FROM campaign WHERE channel_id = ${channelId}),
    rows AS (SELECT campaign_id, lower(state) AS state, count(*)::int AS n FROM recipient
      WHERE campaign_id IN (SELECT id FROM mine) GROUP BY 1, 2),
    kept AS (SELECT campaign_id, key AS state, value::int AS n FROM campaign_counter,
        jsonb_each_text(to_jsonb(campaign_counter) - 'campaign_id' - 'claimed_position' - 'charged')
      WHERE campaign_id IN (SELECT id FROM mine))
    SELECT balance, reserved,
      (SELECT COALESCE(sum(amount), 0)::bigint FROM ledger_entry WHERE channel_id = ${channelId}) AS ledger,
      ((SELECT COALESCE(sum(price), 0) FROM recipient WHERE campaign_id IN (SELECT id FROM mine) AND settlement = 'reserved')
        + (SELECT COALESCE(sum(price), 0) FROM message WHERE channel_id = ${channelId} AND settlement = 'reserved'))::bigint AS owed,
      NOT EXISTS (SELECT FROM kept FULL JOIN rows USING (campaign_id, state)
        WHERE COALESCE(kept.n, 0) <> COALESCE(rows.n, 0)) AS counters_fit
    FROM wallet WHERE channel_id = ${channelId}`);
  expect(books).toMatchObject({ counters_fit: true, ledger: books.balance, owed: books.reserved });
  expect(books.balance).toBeGreaterThanOrEqual(books.reserved);
}

/** Lets every campaign that is not cancelled finish: credits the wallets and ends the pauses. */
async function bringToTheEnd(world: World): Promise<void> {
  const { campaigns } = world;
  await recharge(campaigns[0], messagePrice * 10_000n);
  const deadline = performance.now() + 200_000;
  for (const [index, campaign] of campaigns.entries()) {
    for (;;) {
      const { status, counts } = await getCampaignSnapshot(test.pool, campaign.campaignId);
      if (status === 'COMPLETED') break;
      if (status === 'CANCELLED' && counts.pending + counts.claimed === 0) break;
      if (status === 'PAUSED') await perform(world, { kind: 'start', campaign: index === 0 ? 0 : 1 });
      if (performance.now() > deadline)
        throw new Error(`A campaign stands at ${status}, ${JSON.stringify(counts)}`);
      await sleep(50);
    }
  }
}

const Recipient = row(t.type({ id: t.string, campaign_id: t.string, state: t.string }));

async function expectEveryoneOnce({ campaigns, provider, silences, stalls, optOuts }: World): Promise<void> {
  const ids = provider.received.map(({ callbackData }) => callbackData);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { to, at } of provider.received) {
    const optedOutAt = optOuts.get(to.replace('+', ''));
    const late = optedOutAt !== undefined && at > optedOutAt + 10_000 + stalls.between(optedOutAt, at);
    expect(late, 'left more than ten seconds after the person opted out').toBe(false);
  }
  const sentAt = new Map(provider.received.map(({ callbackData, at }) => [callbackData, at]));
  for (const { campaignId } of campaigns) {
    const { status: ended } = await getCampaignSnapshot(test.pool, campaignId);
    const rows = await test.pool.any(sql.type(Recipient)`
      SELECT id, campaign_id, state FROM recipient WHERE campaign_id = ${campaignId}`);
    const quiet = silences.filter((silence) => silence.campaignId === campaignId);
    for (const { id, state } of rows) {
      const at = sentAt.get(id);
      // FAILED without a message: released unsent, but only after its claim had expired.
      const possible =
        at === undefined
          ? ['UNKNOWN', 'SKIPPED', 'FAILED', ...(ended === 'CANCELLED' ? ['CANCELLED'] : [])]
          : ['ACCEPTED', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN'];
      expect(possible).toContain(state);
      const late =
        at !== undefined &&
        quiet.some(({ from, until }) => at > from + stalls.between(from - actsWithinMs, at) && at < until);
      expect(late, 'left more than a second after a pause or a cancel was answered').toBe(false);
    }
  }
}

it('keeps the books, sends to each recipient at most once, and acts on every change within a second', async () => {
  const plan = fc.record({
    covered: fc.integer({ min: 0, max: 100 }),
    actions: fc.array(action, { minLength: 10, maxLength: 25 }),
  });
  const minutes = process.env['MODEL_MINUTES'];
  const seed = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const limits = minutes === undefined ? {} : { interruptAfterTimeLimit: Number(minutes) * 60_000 };
  process.stdout.write(`Repeat this run of the model with MODEL_SEED=${seed}\n`);
  let workers = 0;
  await fc.assert(
    fc.asyncProperty(plan, async ({ covered, actions }) => {
      const world = await makeWorld(messagePrice * BigInt(covered) + 700n);
      const startWorker = (): Promise<MortalWorker> =>
        startMortalWorker({
          databaseUrl: test.url,
          provider: world.provider,
          campaignIds: world.campaigns.map(({ campaignId }) => campaignId),
          graceSeconds,
          name: `mortal-${(workers += 1)}-${randomUUID().slice(0, 8)}`,
        });
      const [steady, ...mortals] = [await startWorker(), await startWorker()];
      for (const step of actions) {
        if (step.kind === 'kill') {
          await mortals.pop()?.kill();
          mortals.push(await startWorker());
        } else await perform(world, step);
        await expectSoundBooks(world.campaigns[0]);
      }
      await bringToTheEnd(world);
      await Promise.all([steady, ...mortals].map((worker) => worker.stop()));
      await expectSoundBooks(world.campaigns[0]);
      world.stalls.stop();
      await expectEveryoneOnce(world);
    }),
    { numRuns: minutes === undefined ? 6 : 100_000, seed, endOnFailure: true, ...limits },
  );
});
