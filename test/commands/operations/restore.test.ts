import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { repairFindings, runDoctor } from '../../../src/commands/operations/doctor.ts';
import { restoreChecks, temporalSawLostTime } from '../../../src/commands/operations/restore.ts';
import { pauseCampaign, startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { checkBooks, messagePrice } from '../../support/campaign-factory.ts';
import { createCampaignFixture, until, type CampaignFixtureSeed } from '../../support/campaign-fixture.ts';
import { bundleWorkflows, startTemporal } from '../../support/temporal.ts';
import { createDoctorFixture, seedDelivery, untilQuiet, type DoctorFixture } from './doctor-fixture.ts';

let temporal: TestWorkflowEnvironment;
let workflowBundle: WorkflowBundleWithSourceMap;
let doctorFixture: DoctorFixture;

beforeAll(async () => {
  [temporal, workflowBundle] = await Promise.all([startTemporal(), bundleWorkflows()]);
});
afterAll(() => temporal?.teardown());
beforeEach(async () => {
  doctorFixture = await createDoctorFixture(temporal);
});
afterEach(() => doctorFixture.drop());

const fixture = (seed: CampaignFixtureSeed) =>
  createCampaignFixture({ database: doctorFixture.pool, temporal, workflowBundle }, seed);

/** Copies the tables of a campaign; the returned function restores them. */
async function takeBackup() {
  const tables = ['campaign', 'campaign_counter', 'campaign_reason', 'recipient', 'recipient_retry'];
  const backupAt = new Date();
  for (const table of tables) {
    await doctorFixture.run(
      sql.fragment`CREATE TABLE ${sql.identifier([`saved_${table}`])} AS TABLE ${sql.identifier([table])}`,
    );
  }
  await doctorFixture.run(sql.fragment`CREATE TABLE saved_wallet AS TABLE wallet`);
  await doctorFixture.run(sql.fragment`CREATE TABLE saved_ledger AS SELECT max(id) AS id FROM ledger_entry`);
  return async () => {
    await doctorFixture.run(sql.fragment`ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only`);
    await doctorFixture.run(sql.fragment`DELETE FROM ledger_entry WHERE id > (SELECT id FROM saved_ledger)`);
    await doctorFixture.run(
      sql.fragment`TRUNCATE ${sql.join(
        tables.map((table) => sql.identifier([table])),
        sql.fragment`, `,
      )} CASCADE`,
    );
    for (const table of tables) {
      await doctorFixture.run(
        sql.fragment`INSERT INTO ${sql.identifier([table])} SELECT * FROM ${sql.identifier([`saved_${table}`])}`,
      );
    }
    await doctorFixture.run(sql.fragment`UPDATE wallet SET balance = saved_wallet.balance, reserved = saved_wallet.reserved
      FROM saved_wallet WHERE wallet.channel_id = saved_wallet.channel_id`);
    return { backupAt, stoppedAt: new Date(), temporalToo: false };
  };
}

async function settle(restore: Awaited<ReturnType<Awaited<ReturnType<typeof takeBackup>>>>) {
  const checks = restoreChecks(restore);
  const findings = await runDoctor(doctorFixture.doctor, { pauseMs: 0, checks });
  const settled = await repairFindings(findings);
  return {
    kinds: findings.map(({ kind }) => kind),
    problems: settled.flatMap(({ problem }) => problem ?? []),
    again: (await runDoctor(doctorFixture.doctor, { pauseMs: 0, checks })).length,
  };
}

it('marks recipients UNKNOWN that may have been sent to since the backup, and sends to the others after a start', async () => {
  const { campaignId, dependencies, start, withWorker, snapshot, provider, result } = await fixture({
    recipients: 1_000,
    messagesPerSecond: 20,
    balance: messagePrice * 20n,
  });
  await start();
  let unknown = 0;
  const goBack = await takeBackup();
  await withWorker(async () => {
    await until(async () => (await snapshot()).status === 'PAUSED');
    // The workflow sleeps, so the worker writes nothing while the tables are replaced.
    await untilQuiet(doctorFixture, temporal, campaignId);
    expect(provider.received).toHaveLength(20);
    const restore = await goBack();
    await doctorFixture.run(sql.fragment`UPDATE wallet SET balance = ${messagePrice * 1_000n}`);
    await doctorFixture.run(sql.fragment`INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
      SELECT channel_id, workspace_id, 'recharge', ${messagePrice * 980n} FROM wallet`);

    expect(await settle(restore)).toEqual({ kinds: ['sent-in-lost-time'], problems: [], again: 0 });
    expect(await snapshot()).toMatchObject({ status: 'PAUSED', pauseReason: 'RECORD_RESTORED' });
    unknown = (await snapshot()).counts.unknown;
    const noted = sql.fragment`SELECT up_to_position || ' ' || recipients FROM campaign_restore`;
    expect(await doctorFixture.read(noted)).toBe(`${unknown} ${unknown}`);
    const kinds = (await doctorFixture.findAbout([campaignId])).map(({ kind }) => kind);
    expect(kinds).not.toContain('record-behind-workflow');

    await doctorFixture.run(sql.fragment`UPDATE channel SET messages_per_second = 1000`);
    await startCampaignAgain(dependencies, { campaignId });
    await result();
  });
  // Twenty a second for the lost time and a margin of ten seconds.
  expect(unknown).toBeGreaterThanOrEqual(200);
  const accepted = 1_000 - unknown;
  expect(new Set(provider.received).size).toBe(20 + accepted);
  expect(provider.received).toHaveLength(20 + accepted);
  expect(await snapshot()).toMatchObject({ counts: { accepted, unknown, pending: 0 } });
  const channelId = await doctorFixture.read(sql.fragment`SELECT channel_id FROM campaign`);
  const books = await checkBooks(doctorFixture.pool, {
    campaignId,
    channelId,
    workspaceId: 0,
    templateId: '',
  });
  const balance = messagePrice * BigInt(1_000 - accepted);
  expect(books).toMatchObject({ counters_fit: true, reserved: 0n, balance, ledger: balance });
});

it('reaches as far as the rate allows, whatever was sent', async () => {
  const { campaignId, start, withWorker, snapshot, provider, dependencies } = await fixture({
    recipients: 900,
    messagesPerSecond: 100,
  });
  const goBack = await takeBackup();
  let restore: Awaited<ReturnType<typeof goBack>> | undefined;
  await withWorker(async () => {
    await start();
    await until(async () => provider.received.length > 150);
    await pauseCampaign(dependencies, { campaignId });
    const stoppedAt = new Date(Date.now() - 1_000);
    await untilQuiet(doctorFixture, temporal, campaignId);
    restore = { ...(await goBack()), stoppedAt };
  });
  if (restore === undefined) throw new Error('nothing was restored');
  expect(await settle(restore)).toEqual({ kinds: ['sent-in-lost-time'], problems: [], again: 0 });
  // The rate bounds what was sent since the backup, or since the last reported position.
  expect(
    Number(await doctorFixture.read(sql.fragment`SELECT up_to_position FROM campaign_restore`)),
  ).toBeGreaterThanOrEqual(provider.received.length);
  expect((await snapshot()).counts.unknown).toBeGreaterThanOrEqual(provider.received.length);
});

/** A campaign of 30 that began and ended after the backup, to which the database has gone back. */
async function endedInLostTime() {
  const campaign = await fixture({ recipients: 30 });
  const goBack = await takeBackup();
  await campaign.withWorker(async () => {
    await campaign.start();
    await campaign.result();
  });
  return { ...campaign, restore: await goBack() };
}

it('ends a campaign with the result of its workflow, and starts nothing', async () => {
  const { snapshot, provider, restore } = await endedInLostTime();
  expect(await settle(restore)).toEqual({ kinds: ['sent-in-lost-time'], problems: [], again: 0 });
  expect(await snapshot()).toMatchObject({ status: 'COMPLETED', counts: { unknown: 30, pending: 0 } });
  expect(provider.received).toHaveLength(30);
});

it('marks recipients of a claim that was open at the backup UNKNOWN when their campaign is over', async () => {
  const { campaignId, snapshot, restore } = await endedInLostTime();
  const claimId = '0a000000-0000-7000-8000-00000000c1a1';
  await doctorFixture.run(sql.fragment`UPDATE recipient SET state = 'CLAIMED', claim_id = ${claimId}
    WHERE campaign_id = ${campaignId} AND position <= 5`);
  await doctorFixture.run(sql.fragment`UPDATE campaign_counter
    SET claimed = 5, pending = pending - 5, claimed_position = 5 WHERE campaign_id = ${campaignId}`);
  await doctorFixture.run(sql.fragment`INSERT INTO campaign_claim (id, campaign_id, epoch, open, first_position, last_position)
    VALUES (${claimId}, ${campaignId}, 0, 5, 1, 5)`);
  expect(await settle(restore)).toEqual({ kinds: ['sent-in-lost-time'], problems: [], again: 0 });
  expect(await snapshot()).toMatchObject({
    status: 'COMPLETED',
    counts: { unknown: 30, claimed: 0, pending: 0 },
  });
});

/** A delivery whose workflow still runs. A restore of both databases leads to the same state. */
async function seedRunningDelivery(campaignId: string): Promise<string> {
  const workspaceId = Number(
    await doctorFixture.read(sql.fragment`SELECT workspace_id FROM campaign WHERE id = ${campaignId}`),
  );
  const columns = sql.fragment`'pending', now(), NULL::timestamptz, now()`;
  const id = await seedDelivery(doctorFixture, workspaceId, columns);
  await temporal.client.workflow.start('webhookDelivery', {
    workflowId: `webhook-delivery-${id}`,
    taskQueue: 'without-a-worker',
    args: [id],
  });
  return id;
}

it.each([false, true])(
  'fails a delivery from before the backup whose workflow still runs, which may have attempted it (Temporal restored: %s)',
  async (temporalToo) => {
    const { campaignId } = await fixture({ recipients: 1, scheduledInMs: 3_600_000 });
    const id = await seedRunningDelivery(campaignId);
    const now = new Date(Date.now() + 1_000);
    const { kinds, problems } = await settle({ backupAt: now, stoppedAt: now, temporalToo });
    expect({ kinds, problems }).toEqual({ kinds: ['delivery-in-lost-time'], problems: [] });
    expect(
      await doctorFixture.read(
        sql.fragment`SELECT state || ' ' || error_code FROM webhook_delivery WHERE id = ${id}`,
      ),
    ).toBe('failed interrupted');
  },
);

describe('a restore of both databases', () => {
  it('makes recipients UNKNOWN as far as the rate reached, although no workflow shows a step', async () => {
    const { snapshot } = await fixture({ recipients: 100, messagesPerSecond: 2 });
    const backupAt = new Date();
    const stoppedAt = new Date(backupAt.getTime() + 15_000);
    const restore = { backupAt, stoppedAt, temporalToo: true };
    expect(await settle(restore)).toEqual({ kinds: ['sent-in-lost-time'], problems: [], again: 0 });
    // Two a second for 15 s, and the margin of 10 s.
    expect(await snapshot()).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'RECORD_RESTORED',
      counts: { unknown: 50, pending: 50 },
    });
  });

  it('covers what was created after a backup whose time is given too early', async () => {
    const { campaignId, snapshot } = await fixture({ recipients: 100, messagesPerSecond: 2 });
    const id = await seedRunningDelivery(campaignId);
    const stoppedAt = new Date(Date.now() + 1_000);
    const backupAt = new Date(stoppedAt.getTime() - 15_000);
    const { kinds, problems } = await settle({ backupAt, stoppedAt, temporalToo: true });
    expect({ kinds, problems }).toEqual({
      kinds: ['sent-in-lost-time', 'delivery-in-lost-time'],
      problems: [],
    });
    expect(await snapshot()).toMatchObject({ status: 'PAUSED', counts: { unknown: 50, pending: 50 } });
    const state = sql.fragment`SELECT state FROM webhook_delivery WHERE id = ${id}`;
    expect(await doctorFixture.read(state)).toBe('failed');
  });

  it('reaches further when it is repeated with a later stop', async () => {
    const { snapshot } = await fixture({ recipients: 200, messagesPerSecond: 2 });
    const backupAt = new Date();
    const after = (seconds: number) => new Date(backupAt.getTime() + seconds * 1_000);
    await settle({ backupAt, stoppedAt: after(5), temporalToo: true });
    expect((await snapshot()).counts.unknown).toBe(30);
    const later = { backupAt, stoppedAt: after(15), temporalToo: true };
    expect(await settle(later)).toEqual({ kinds: ['sent-in-lost-time'], problems: [], again: 0 });
    expect((await snapshot()).counts.unknown).toBeGreaterThanOrEqual(50);
  });

  it('cancels a campaign that was being prepared, and may have been sent since', async () => {
    const { campaignId, snapshot } = await fixture({ recipients: 3 });
    await doctorFixture.run(
      sql.fragment`UPDATE campaign SET preparation_status = 'PREPARING' WHERE id = ${campaignId}`,
    );
    const [backupAt, stoppedAt] = [new Date(), new Date()];
    const { kinds, problems } = await settle({ backupAt, stoppedAt, temporalToo: true });
    expect({ kinds, problems }).toEqual({ kinds: ['sent-in-lost-time'], problems: [] });
    expect((await snapshot()).status).toBe('CANCELLED');
  });

  it('is distinguished from a restore of Postgres alone by what Temporal recorded after the backup', async () => {
    const { start, withWorker, progress } = await fixture({ recipients: 5, scheduledInMs: 3_600_000 });
    await withWorker(async () => {
      await start();
      await until(async () => (await progress())?.status === 'SCHEDULED');
    });
    const now = Date.now();
    const between = (from: number, to: number) =>
      temporalSawLostTime(doctorFixture.doctor, {
        backupAt: new Date(now + from),
        stoppedAt: new Date(now + to),
        temporalToo: false,
      });
    expect(await between(-60_000, 0)).toBe(true);
    expect(await between(-60_000, -55_000)).toBe(false);
    expect(await between(0, 60_000)).toBe(false);
  });
});

it('leaves alone a campaign that slept through the lost time', async () => {
  const { start, withWorker, snapshot, progress } = await fixture({
    recipients: 5,
    scheduledInMs: 3_600_000,
  });
  await withWorker(async () => {
    await start();
    await until(async () => (await progress())?.status === 'SCHEDULED');
  });
  const restore = await (await takeBackup())();
  expect(await settle(restore)).toEqual({ kinds: [], problems: [], again: 0 });
  expect(await snapshot()).toMatchObject({ status: 'SCHEDULED', counts: { pending: 5 } });
});

it('creates no second delivery of events that may have been delivered', async () => {
  const { campaignId } = await fixture({ recipients: 1 });
  const workspaceId = Number(
    await doctorFixture.read(sql.fragment`SELECT workspace_id FROM campaign WHERE id = ${campaignId}`),
  );
  await doctorFixture.run(sql.fragment`INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    VALUES (${workspaceId}, 'Test', 'https://example.org', 'active', ARRAY['message.sent'])`);
  await doctorFixture.run(sql.fragment`INSERT INTO event (workspace_id, key, body, occurred_at)
    VALUES (${workspaceId}, 'message.sent', '{}', now() - interval '1 minute')`);
  const [backupAt, stoppedAt] = [new Date(), new Date()];
  const { kinds, problems, again } = await settle({ backupAt, stoppedAt, temporalToo: false });
  expect({ kinds: kinds.filter((kind) => kind.startsWith('events')), problems }).toEqual({
    kinds: ['events-in-lost-time'],
    problems: [],
  });
  expect(again).toBe(0);
  expect(
    await doctorFixture.read(sql.fragment`SELECT state || ' ' || error_code FROM webhook_delivery`),
  ).toBe('failed interrupted');
});
