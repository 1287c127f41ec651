import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { pauseBraked, startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { settleCampaign } from '../../../src/commands/campaigns/settle-campaign.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes } from '../../../src/records/sending/outcomes.ts';
import {
  createApplier,
  deliver,
  messagesCallback,
  status,
  type RecordingApplier,
} from '../../support/callback-fixtures.ts';
import {
  anyTokens,
  checkBooks,
  type CampaignSeed,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Answer, createFakeProvider, refuse } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
let applier: RecordingApplier;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
  applier = createApplier(test.pool);
});
afterAll(() => test.drop());

/** The code of a message's failed status; null: it is delivered. */
type StatusOf = (count: number) => number | null;

/** A campaign whose provider gives this `answer`; without one it accepts messages and reports by status what becomes of them. */
async function campaignWith({ answer, ...seed }: CampaignSeed & { readonly answer?: Answer }) {
  const seeded = await seedCampaign(test.pool, { messagesPerSecond: 1_000, ...seed });
  const provider = createFakeProvider(answer);
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const { campaignId } = seeded;
  let reported = 0;
  const step = (budgetMs = 100) => runSendStep(dependencies, campaignId, { budgetMs, draining: () => false });
  /** Reports the messages that were sent since the last call. */
  const report = async (statusOf: StatusOf): Promise<void> => {
    if (answer !== undefined) return;
    const sent = provider.received.slice(reported);
    const statuses = sent.map(({ callbackData }, at) => {
      const code = statusOf(reported + at);
      return status({
        status: code === null ? 'delivered' : 'failed',
        providerMessageId: `wamid.${callbackData}`,
        callbackData,
        ...(code !== null && { code }),
      });
    });
    reported = provider.received.length;
    if (statuses.length > 0) await deliver(applier, [messagesCallback(seeded.channelId, { statuses })]);
  };
  const record = () => getCampaignReport(test.pool, seeded.workspaceId, campaignId);
  return {
    ...seeded,
    provider,
    dependencies,
    step,
    report,
    record,
    /** Sends and reports in turn until the campaign is paused or nobody is left. */
    async run(statusOf: StatusOf) {
      for (;;) {
        const { drained } = await step();
        await report(statusOf);
        const found = await record();
        if (found.status !== 'RUNNING' || drained) return found;
      }
    },
  };
}

const Notices = row(t.type({ message: t.string }));
const noticesOf = ({ workspaceId }: SeededCampaign) =>
  test.pool.anyFirst(sql.type(Notices)`
    SELECT message FROM notice WHERE workspace_id = ${workspaceId} AND kind = 'campaign_paused'`);

const withLink = ({ campaignId }: SeededCampaign) =>
  test.pool.query(sql.type(nothing)`
    UPDATE campaign SET message_plan = jsonb_set(message_plan, '{components,1}',
      '{"type": "header", "parameters": [{"type": "image", "image": {"link": "https://example.com/gone.jpg"}}]}')
    WHERE id = ${campaignId}`);

describe('a campaign whose messages fail', () => {
  it('with a dead link, learnt by status, is paused after its first 50', async () => {
    const campaign = await campaignWith({ recipients: 10_000, status: 'DRAFT' });
    await withLink(campaign);
    await beginCampaign(campaign.dependencies, campaign.campaignId);
    const first = await campaign.step(5_000);
    expect(first).toMatchObject({ drained: false });
    expect(first.waitMs).toBeGreaterThan(50_000);
    expect(await campaign.step(5_000)).toMatchObject({ drained: false });
    expect(campaign.provider.received).toHaveLength(50);
    expect(await campaign.record()).toMatchObject({ status: 'RUNNING', waiting_for: 'FIRST_STATUSES' });

    await campaign.report(() => 131053);
    const record = await campaign.record();
    expect(record).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'FAILURES',
      failed: 50,
      pending: 9_950,
      pause_evidence: {
        rule: 'first',
        reason: 'PROVIDER_131053',
        source: 'status',
        failed: 15,
        of: 15,
        details: ['because of ######'],
      },
    });
    expect(record.pause_evidence?.recipient_ids).toEqual(
      campaign.provider.received.slice(0, 3).map(({ callbackData }) => callbackData),
    );
    expect(await noticesOf(campaign)).toEqual([
      expect.stringMatching(/15 of the first 15 messages failed after .*\(PROVIDER_131053\)\. /),
    ]);
    await campaign.step();
    expect(campaign.provider.received).toHaveLength(50);
    expect(await checkBooks(test.pool, campaign)).toMatchObject({ counters_fit: true, reserved: 0n });
  }, 60_000);

  it('with a code that the table does not list, in the answers, is paused within a second', async () => {
    const campaign = await campaignWith({
      recipients: 2_000,
      messagesPerSecond: 80,
      answer: refuse(999_999),
    });
    expect(await campaign.run(() => null)).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'FAILURES',
      pause_evidence: { rule: 'first', reason: 'PROVIDER_999999', source: 'answer' },
    });
    expect(campaign.provider.received.length).toBeLessThan(100);
    const unlisted = sql.type(Notices)`
      SELECT message FROM notice WHERE workspace_id = ${campaign.workspaceId} AND kind = 'unlisted_code'`;
    expect(await test.pool.anyFirst(unlisted)).toEqual([expect.stringContaining('with code 999999')]);
    await startCampaignAgain(campaign.dependencies, { ...campaign, probe: 5 });
    await campaign.step(5_000);
    expect(await test.pool.anyFirst(unlisted)).toHaveLength(1);
    const { values } = await campaign.dependencies.metrics.unlistedRefusals.get();
    expect(values).toEqual([{ labels: { code: 999_999 }, value: campaign.provider.received.length }]);
  });

  it('with 25 recipients ends with its result', async () => {
    const campaign = await campaignWith({ recipients: 25, answer: refuse(131053) });
    await campaign.run(() => null);
    await settleCampaign(campaign.dependencies, campaign.campaignId);
    expect(await campaign.record()).toMatchObject({ status: 'COMPLETED', failed: 25, pause_evidence: null });
  });

  it('goes on while 40 % are held back by the provider, and is paused at 70 %', async () => {
    const share = (percent: number) => (count: number) => ((count * 7) % 100 < percent ? 131049 : null);
    const fair = await campaignWith({ recipients: 1_000 });
    expect(await fair.run(share(40))).toMatchObject({ status: 'RUNNING', pending: 0, failed: 400 });
    const bad = await campaignWith({ recipients: 1_000 });
    const record = await bad.run(share(70));
    expect(record).toMatchObject({
      status: 'PAUSED',
      pause_evidence: { rule: 'people', reason: 'PROVIDER_131049', source: 'status', failed: 300 },
    });
    expect(record.pause_evidence?.of).toBeLessThanOrEqual(500);
    expect(bad.provider.received.length).toBeLessThan(1_000);
  }, 30_000);

  it('waits for its first statuses only until its template has delivered something', async () => {
    const campaign = await campaignWith({ recipients: 80, status: 'DRAFT' });
    const forget = sql.type(
      nothing,
    )`DELETE FROM template_delivery WHERE template_id = ${campaign.templateId}`;
    await test.pool.query(forget);
    await beginCampaign(campaign.dependencies, campaign.campaignId);
    expect((await campaign.step(5_000)).waitMs).toBeGreaterThan(50_000);
    expect(campaign.provider.received).toHaveLength(50);
    await campaign.report((count) => (count < 39 ? null : 131026));
    expect(await campaign.step(5_000)).toMatchObject({ drained: true });
    expect(campaign.provider.received).toHaveLength(80);

    const next = await campaignWith({ recipients: 80, status: 'DRAFT' });
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign SET template_id = ${campaign.templateId}, workspace_id = ${campaign.workspaceId},
        channel_id = ${campaign.channelId} WHERE id = ${next.campaignId}`);
    await beginCampaign(next.dependencies, next.campaignId);
    expect(await next.step(5_000)).toMatchObject({ drained: true });
  });

  it('goes on, started by force, whatever number fails for the same reason', async () => {
    const campaign = await campaignWith({ recipients: 400, answer: refuse(132012) });
    expect(await campaign.run(() => null)).toMatchObject({ pause_reason: 'FAILURES' });
    await expect(startCampaignAgain(campaign.dependencies, campaign)).rejects.toThrow('{"probe": 50}');
    await startCampaignAgain(campaign.dependencies, { ...campaign, isForced: true });
    expect(await campaign.run(() => null)).toMatchObject({
      status: 'RUNNING',
      pending: 0,
      failed: 400,
      pause_evidence: null,
    });
  });

  it('sends a probe and judges it by its statuses', async () => {
    const campaign = await campaignWith({ recipients: 1_000 });
    expect(await campaign.run(() => 131053)).toMatchObject({ pause_reason: 'FAILURES' });
    const before = campaign.provider.received.length;
    await startCampaignAgain(campaign.dependencies, { ...campaign, probe: 10 });
    expect((await campaign.step(5_000)).waitMs).toBeGreaterThan(50_000);
    expect(campaign.provider.received).toHaveLength(before + 10);
    await campaign.report(() => 131053);
    expect(await campaign.record()).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'FAILURES',
      pause_evidence: { rule: 'share', failed: 10, of: 10 },
    });
    // The cause is removed: the next probe lets the rest follow.
    await startCampaignAgain(campaign.dependencies, { ...campaign, probe: 10 });
    await campaign.step(5_000);
    await campaign.report(() => null);
    expect(await campaign.run(() => null)).toMatchObject({ status: 'RUNNING', pending: 0 });
  });

  it('is not paused where the workspace has switched the brake off', async () => {
    const campaign = await campaignWith({ recipients: 200, answer: refuse(132012) });
    await test.pool.query(sql.type(nothing)`
      UPDATE workspace SET failure_brake = 'off' WHERE id = ${campaign.workspaceId}`);
    expect(await campaign.run(() => null)).toMatchObject({ status: 'RUNNING', pending: 0, failed: 200 });
  });
});

/** Claims `size` recipients, so that their outcomes can be recorded by hand. */
async function claim({ campaignId, channelId }: SeededCampaign, size: number) {
  const claimed = await claimBatch(test.pool, {
    ...anyTokens,
    claimId: randomUUID(),
    campaignId,
    channelId,
    epoch: 0,
    limit: size,
    prices: new Map([['', messagePrice]]),
  });
  if (claimed.kind !== 'batch') throw new Error(`nothing claimed: ${claimed.kind}`);
  return claimed.recipients;
}

describe('the decision to pause', () => {
  it('looks at the answers of a batch in the order in which they came', async () => {
    const judge = async (failsAt: (at: number) => boolean) => {
      const campaign = await campaignWith({ recipients: 100 });
      // Claimed positions ascend, and the answers come in the opposite order.
      const claimed = (await claim(campaign, 40)).toReversed();
      const outcomes = claimed.map(({ id, position, claimId }, at) => ({
        position,
        claimId,
        outcome: failsAt(at)
          ? ({ kind: 'failed', reason: 'PROVIDER_131053', detail: '' } as const)
          : ({ kind: 'accepted', providerMessageId: `wamid.${id}` } as const),
      }));
      return (await recordOutcomes(test.pool, { ...campaign, outcomes })).braked.length;
    };
    expect(await judge((at) => at < 20)).toBe(1);
    expect(await judge((at) => at < 14)).toBe(0);
    expect(await judge((at) => at % 2 === 0)).toBe(0);
  });

  it('is made good by the next step if the process ends before the pause', async () => {
    const campaign = await campaignWith({ recipients: 100 });
    const outcomes = (await claim(campaign, 20)).map(({ position, claimId }) => ({
      position,
      claimId,
      outcome: { kind: 'failed', reason: 'PROVIDER_131053', detail: '' } as const,
    }));
    // The caller would pause now.
    expect(await recordOutcomes(test.pool, { ...campaign, outcomes })).toMatchObject({
      braked: [campaign.campaignId],
    });
    expect(await recordOutcomes(test.pool, { ...campaign, outcomes })).toMatchObject({ braked: [] });
    expect(await campaign.record()).toMatchObject({ status: 'RUNNING', failed: 20 });
    await campaign.step();
    expect(campaign.provider.received).toHaveLength(0);
    expect(await campaign.record()).toMatchObject({
      status: 'PAUSED',
      pause_evidence: { rule: 'first', failed: 15, of: 15 },
    });
  });

  it('is made once while answers, callbacks and pauses race', async () => {
    const campaign = await campaignWith({ recipients: 400 });
    const recipients = await claim(campaign, 200);
    const outcomeOf = (kind: 'accepted' | 'failed') => (recipient: (typeof recipients)[number]) => {
      const { position, claimId, id } = recipient;
      const outcome =
        kind === 'accepted'
          ? ({ kind, providerMessageId: `wamid.${id}` } as const)
          : ({ kind, reason: 'PROVIDER_131053', detail: '' } as const);
      return { position, claimId, outcome };
    };
    const byStatus = recipients.slice(0, 100);
    await recordOutcomes(test.pool, { ...campaign, outcomes: byStatus.map(outcomeOf('accepted')) });
    const answers = Array.from({ length: 10 }, (_, at) => recipients.slice(100 + at * 10, 110 + at * 10));
    const callbacks = Array.from({ length: 10 }, (_, at) =>
      messagesCallback(campaign.channelId, {
        statuses: byStatus
          .slice(at * 10, at * 10 + 10)
          .map(({ id }) =>
            status({ status: 'failed', providerMessageId: `wamid.${id}`, callbackData: id, code: 131053 }),
          ),
      }),
    );
    await Promise.all([
      ...answers.map(async (some) => {
        const { braked } = await recordOutcomes(test.pool, {
          ...campaign,
          outcomes: some.map(outcomeOf('failed')),
        });
        await pauseBraked(campaign.dependencies, braked);
      }),
      ...callbacks.map((callback) => deliver(applier, [callback])),
    ]);
    expect(await campaign.record()).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'FAILURES',
      failed: 200,
      pause_evidence: { rule: 'first', failed: 15, of: 15 },
    });
    expect(await noticesOf(campaign)).toHaveLength(1);
    expect(await checkBooks(test.pool, campaign)).toMatchObject({ counters_fit: true, reserved: 0n });
  });
});
