/** Kills the sending process right after each of its writes, and at every stage of a request. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginCampaign } from '../../src/commands/campaigns/begin-campaign.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { settleCampaign } from '../../src/commands/campaigns/settle-campaign.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { expireClaims } from '../../src/records/sending/claim-expiry.ts';
import { nullable, row } from '../../src/records/database/row.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import {
  checkBooks,
  seedCampaign,
  testSecretsKey,
  type SeededCampaign,
} from '../support/campaign-factory.ts';
import { aCampaignToPrepare, aSender } from '../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendingDependencies } from '../support/sending-dependencies.ts';
import { crashSeam, startProgram } from './child-process.ts';
import { startRecordingProvider, type RecordingProvider } from './recording-provider.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 10 });
});
afterAll(() => test.drop());

// Two batches of three recipients, 100 ms each.
const recipients = 6;
const messagesPerSecond = 35;
/** Numbers with this suffix are refused by the provider. */
const refusedSuffix = '04';

const Recipient = row(t.type({ id: t.string, phone_number: t.string, state: t.string, attempts: t.number }));

interface CampaignFixture {
  readonly seeded: SeededCampaign;
  readonly provider: RecordingProvider;
  readonly program: string;
}

async function createFixture(count = recipients, refused = refusedSuffix): Promise<CampaignFixture> {
  const seeded = await seedCampaign(test.pool, { recipients: count, messagesPerSecond, status: 'DRAFT' });
  const provider = await startRecordingProvider(refused);
  return { seeded, provider, program: 'campaign-program.mjs' };
}

/** A small campaign, which one step prepares and sends. */
async function createSmallFixture(): Promise<CampaignFixture> {
  const sender = await aSender(test.pool);
  await postLedgerEntry(test.pool, { channelId: sender.channelId, kind: 'recharge', amount: 100_000_000n });
  const numbers = Array.from({ length: recipients }, (_, index) => `+49151${10_000_000 + index}`);
  const campaignId = await aCampaignToPrepare(test.pool, sender, {
    selectionType: 'quick_contacts',
    content: JSON.stringify(numbers),
  });
  const provider = await startRecordingProvider(refusedSuffix);
  return { seeded: { ...sender, campaignId }, provider, program: 'small-campaign-program.mjs' };
}

const Sessions = row(t.type({ open: t.number }));
const countSessions = ({ campaignId }: SeededCampaign): Promise<number> =>
  test.pool.oneFirst(sql.type(Sessions)`
    SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = ${campaignId}`);

/** Waits until the killed process' sessions have ended: Postgres completes their last statements first. */
async function sessionsToEnd(seeded: SeededCampaign): Promise<void> {
  await expect.poll(() => countSessions(seeded)).toBe(0);
}

function startSending(
  { seeded, provider, program }: CampaignFixture,
  crashAfter: number,
  environment: Readonly<Record<string, string>> = {},
) {
  const databaseUrl = new URL(test.url);
  databaseUrl.searchParams.set('application_name', seeded.campaignId);
  return startProgram({
    path: `test/outages/${program}`,
    args: [seeded.campaignId],
    preload: crashSeam,
    environment: {
      DATABASE_URL: databaseUrl.href,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PROVIDER_BASE_URL: provider.baseUrl,
      SECRETS_KEY: testSecretsKey,
      CRASH_ARMED: 'yes',
      CRASH_AFTER: String(crashAfter),
      ...environment,
    },
  });
}

/** A second process takes over after the dead one's grace period. */
async function finish(seeded: SeededCampaign, provider: RecordingProvider): Promise<void> {
  const cloud = createCloudProvider({ baseUrl: provider.baseUrl, connections: 8, timeoutMs: 5_000 });
  const dependencies = sendingDependencies({
    database: test.pool,
    provider: cloud,
    config: { providerConnections: 8, databaseUrl: test.url },
  });
  const { prepareCampaign } = createCampaignActivities(dependencies, { draining: () => false });
  await new MockActivityEnvironment().run(prepareCampaign, seeded.campaignId);
  await expireClaims(test.pool, { campaignId: seeded.campaignId, graceSeconds: 0 });
  await beginCampaign(dependencies, seeded.campaignId);
  for (let drained = false; !drained;) {
    const { status } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    if (status !== 'RUNNING') break;
    ({ drained } = await runSendStep(dependencies, seeded.campaignId, {
      budgetMs: 5_000,
      draining: () => false,
    }));
  }
  await settleCampaign(dependencies, seeded.campaignId);
  await cloud.close();
}

/** Invariants after a crash at any point. Resolves to the number of UNKNOWN recipients. */
async function expectSound(
  seeded: SeededCampaign,
  provider: RecordingProvider,
  when: string,
): Promise<number> {
  const rows = await test.pool.any(sql.type(Recipient)`
    SELECT id, phone_number, state, attempts FROM recipient WHERE campaign_id = ${seeded.campaignId}`);
  const takenIds = provider.accepted.map(({ callbackData }) => callbackData);
  expect(rows, when).toHaveLength(recipients);
  expect(new Set(takenIds).size, `${when}: sent twice`).toBe(takenIds.length);
  for (const { id, phone_number: number, state } of rows) {
    if (state === 'UNKNOWN') continue;
    const refused = number.endsWith(refusedSuffix);
    expect(state, when).toBe(refused ? 'FAILED' : 'ACCEPTED');
    expect(takenIds.includes(id), when).toBe(!refused);
  }
  expect((await getCampaignSnapshot(test.pool, seeded.campaignId)).status, when).toBe('COMPLETED');
  const books = await checkBooks(test.pool, seeded);
  expect(books, when).toMatchObject({ counters_fit: true, ledger: books.balance, reserved: books.owed });
  return rows.filter(({ state }) => state === 'UNKNOWN').length;
}

/** Recipients whose message may or may not have been sent. */
async function countClaimed({ campaignId }: SeededCampaign): Promise<number> {
  const claimed = await test.pool.any(sql.type(Recipient)`
    SELECT id, phone_number, state, attempts FROM recipient
    WHERE campaign_id = ${campaignId} AND state = 'CLAIMED'`);
  return claimed.length;
}

const writesIn = (output: string) =>
  [...output.matchAll(/^write \d+: (.*)$/gm)].map(([, label]) => label ?? '');

const atOnce = 3;

/** `npm test` kills the process after every ninth write, `npm run test:release` after each. */
const step = process.env['EVERY_CASE'] === undefined ? 9 : 1;

/** Calls `work` with 1, 1 + `step`, 1 + 2 × `step` … until it returns that the number was too high. */
async function untilEnough(work: (index: number) => Promise<'more' | 'enough'>): Promise<void> {
  let next = 1;
  let answer = 'more';
  const lane = async () => {
    while (answer === 'more') {
      const index = next;
      next += step;
      if ((await work(index)) === 'enough') answer = 'enough';
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

describe('a sending process that dies by SIGKILL', () => {
  it.each([
    // At least: begin, two claims, two recorded batches, settle.
    { of: 'a campaign', set: () => createFixture(), writes: 8 },
    { of: 'a small campaign from its preparation on', set: createSmallFixture, writes: 12 },
  ])(
    'neither loses a recipient of $of nor sends to one twice, after whichever write it dies',
    async ({ set, writes }) => {
      const whole = await set();
      const undisturbed = startSending(whole, 0);
      expect(await undisturbed.ended, undisturbed.output()).toBe(0);
      expect(await expectSound(whole.seeded, whole.provider, 'undisturbed')).toBe(0);
      await whole.provider.close();

      // The number of writes varies with time, so each program dies `step` writes after the one before, until one survives.
      let died = 0;
      await untilEnough(async (n) => {
        const fixture = await set();
        const program = startSending(fixture, n);
        const end = await program.ended;
        expect([0, 'SIGKILL'], program.output()).toContain(end);
        if (end === 'SIGKILL') died += 1;
        const when = `died after write ${n}, ${writesIn(program.output()).at(-1) ?? 'none'}`;
        await sessionsToEnd(fixture.seeded);
        const claimed = await countClaimed(fixture.seeded);
        await finish(fixture.seeded, fixture.provider);
        expect(await expectSound(fixture.seeded, fixture.provider, when), when).toBe(claimed);
        await fixture.provider.close();
        return end === 'SIGKILL' ? 'more' : 'enough';
      });
      expect(died).toBeGreaterThan(writes / step);
    },
  );

  it.each(['before', 'after'] as const)(
    'leaves the message on the wire UNKNOWN when it dies %s the provider has accepted it',
    async (moment) => {
      const fixture = await createFixture();
      const program = startSending(fixture, 0);
      fixture.provider.watch[moment] = (count) => {
        // The second message may be the refused one, which gets no status.
        if (count >= 2) program.child.kill('SIGKILL');
      };
      expect(await program.ended).toBe('SIGKILL');
      fixture.provider.watch = {};
      await sessionsToEnd(fixture.seeded);
      await finish(fixture.seeded, fixture.provider);
      const unknown = await expectSound(fixture.seeded, fixture.provider, `${moment} the request is taken`);
      expect(unknown).toBeGreaterThan(0);
      await fixture.provider.close();
    },
  );

  it('leaves the pause to its successor when it dies between the failures that cause it and the pause', async () => {
    // The brake pauses no campaign of fewer than 30 recipients.
    const fixture = await createFixture(40, 'none');
    const { seeded, provider } = fixture;
    const asked: string[] = [];
    provider.watch.verdict = ({ callbackData }) => {
      asked.push(callbackData);
      return 131053;
    };
    const program = startSending(fixture, 0, { CRASH_COMMIT_OF: 'first_at' });
    expect(await program.ended, program.output()).toBe('SIGKILL');
    await sessionsToEnd(seeded);
    const Paused = row(
      t.type({ status: t.string, reason: nullable(t.string), rule: nullable(t.string), pending: t.number }),
    );
    const record = () =>
      test.pool.one(sql.type(Paused)`
        SELECT status, pause_reason AS reason, pause_evidence ->> 'rule' AS rule, pending
        FROM campaign JOIN campaign_counter ON campaign_id = id WHERE id = ${seeded.campaignId}`);
    expect(await record()).toMatchObject({ status: 'RUNNING', reason: null });

    const before = asked.length;
    await finish(seeded, provider);
    expect(await record()).toMatchObject({ status: 'PAUSED', reason: 'FAILURES', rule: 'first' });
    expect((await record()).pending).toBeGreaterThan(0);
    expect(asked).toHaveLength(before);
    expect(new Set(asked).size).toBe(before);
    await provider.close();
  });
});
