import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { sql } from 'slonik';
import { describe, expect, it } from 'vitest';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../src/commands/campaigns/change-campaign.ts';
import { nothing } from '../../src/records/database/row.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { messagePrice } from '../support/campaign-factory.ts';
import { createCampaignFixture, until, type CampaignFixtureSeed } from '../support/campaign-fixture.ts';
import { accept } from '../support/fake-provider.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTimeSkippingTemporal } from '../support/temporal.ts';
import { testOrchestrator } from '../support/test-orchestrator.ts';

const servers = openTestServers(startTimeSkippingTemporal);

const day = 24 * 3600 * 1000;

const createFixture = (seed: CampaignFixtureSeed) => createCampaignFixture(servers(), seed);

/** How many activities of a type have come to their end in the workflow's present run. */
async function completed(handle: WorkflowHandle, activityType: string): Promise<number> {
  const { events } = await handle.fetchHistory();
  const ends = new Set(
    events?.map(({ activityTaskCompletedEventAttributes: end }) => end?.scheduledEventId?.toString()),
  );
  return (events ?? []).filter(
    ({ eventId, activityTaskScheduledEventAttributes: task }) =>
      task?.activityType?.name === activityType && ends.has(eventId?.toString()),
  ).length;
}

describe('the campaign workflow', () => {
  it('sends an immediate campaign to every recipient and completes', async () => {
    const fixture = await createFixture({ recipients: 120 });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'COMPLETED', counts: { accepted: 120, pending: 0 } });
    expect(fixture.provider.received).toHaveLength(120);
  });

  it('asks once for a slot of its channel when it is signalled', async () => {
    const fixture = await createFixture({ recipients: 120, messagesPerSecond: 80 });
    const { database, temporal } = servers();
    const handle = temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId));
    await database.query(sql.type(nothing)`
      INSERT INTO send_slot (channel_id, slot_number, campaign_id, step_id, expires_at)
      SELECT channel_id, 1, gen_random_uuid(), gen_random_uuid(), now() + interval '4 minutes'
      FROM campaign WHERE id = ${fixture.campaignId}`);
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await completed(handle, 'sendStep')) > 0);
      const before = await completed(handle, 'sendStep');
      await handle.signal('refresh');
      await until(async () => (await completed(handle, 'sendStep')) > before);
      await database.query(sql.type(nothing)`
        DELETE FROM send_slot USING campaign
        WHERE campaign.id = ${fixture.campaignId} AND send_slot.channel_id = campaign.channel_id`);
      expect(await fixture.result()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 120 } });
    });
    const { events } = await handle.fetchHistory();
    const tasks = (events ?? [])
      .map((event) => event.activityTaskScheduledEventAttributes)
      .filter((step) => step?.activityType?.name === 'sendStep')
      .map((step) => Number(step?.workflowTaskCompletedEventId));
    // One step per workflow task.
    expect(new Set(tasks).size).toBe(tasks.length);
  });

  it('sleeps thirty days in a timer and then sends', async () => {
    const fixture = await createFixture({ recipients: 5, scheduledInMs: 30 * day });
    const before = await servers().temporal.currentTimeMs();
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress()) !== null);
      expect(fixture.provider.received).toHaveLength(0);
      // Temporal's clock skips the thirty days, Postgres' clock does not: it is due by both.
      await servers().database.query(sql.type(nothing)`
        UPDATE campaign SET scheduled_at = now() WHERE id = ${fixture.campaignId}`);
      await fixture.result();
    });
    expect((await servers().temporal.currentTimeMs()) - before).toBeGreaterThanOrEqual(30 * day - 60_000);
    expect(fixture.provider.received).toHaveLength(5);
  });

  it('ends at once when it is cancelled in its sleep', async () => {
    const fixture = await createFixture({ recipients: 5, scheduledInMs: 30 * day });
    const end = await fixture.withWorker(async () => {
      await fixture.start();
      await cancelCampaign(fixture.dependencies, fixture);
      return fixture.result();
    });
    expect(end).toMatchObject({ status: 'CANCELLED', counts: { pending: 0, accepted: 0 } });
    const { events } = await servers()
      .temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId))
      .fetchHistory();
    expect(events?.some(({ timerFiredEventAttributes }) => timerFiredEventAttributes)).toBe(false);
    expect(fixture.provider.received).toHaveLength(0);
  });

  it('waits in a pause for the wallet and goes on exactly where it stopped', async () => {
    const fixture = await createFixture({ recipients: 30, balance: messagePrice * 12n });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).status === 'PAUSED');
      expect(fixture.provider.received).toHaveLength(12);
      await servers().database.query(sql.type(nothing)`
        UPDATE wallet SET balance = balance + ${messagePrice * 100n}
        WHERE channel_id = (SELECT channel_id FROM campaign WHERE id = ${fixture.campaignId})`);
      await startCampaignAgain(fixture.dependencies, fixture);
      await fixture.result();
    });
    expect(new Set(fixture.provider.received.map(({ callbackData }) => callbackData)).size).toBe(30);
    expect(fixture.provider.received).toHaveLength(30);
  });

  it('sends to each recipient once through twenty quick pauses and starts', async () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // One of the last messages is answered after the last round: the campaign is not completed before.
    const fixture = await createFixture({
      recipients: 400,
      messagesPerSecond: 400,
      answer: async (message, count) => {
        if (count === 390) await ended;
        return accept(message, count);
      },
    });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).status === 'RUNNING');
      for (let round = 0; round < 20; round += 1) {
        await pauseCampaign(fixture.dependencies, fixture);
        await startCampaignAgain(fixture.dependencies, fixture);
      }
      end();
      await fixture.result();
    });
    expect(await fixture.snapshot()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 400 } });
    expect(fixture.provider.received).toHaveLength(400);
  });

  it('obeys the signals of an operator and answers the progress query', async () => {
    const fixture = await createFixture({ recipients: 3, scheduledInMs: 10 * day });
    const handle = servers().temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId));
    await fixture.withWorker(async () => {
      await fixture.start();
      await handle.signal('pause');
      // The activity changes the record; the workflow learns of it by the activity's answer.
      await until(async () => (await fixture.progress())?.pauseReason === 'OPERATOR');
      expect(await fixture.snapshot()).toMatchObject({ status: 'PAUSED', pauseReason: 'OPERATOR' });
      await handle.signal('resume');
      await until(async () => (await fixture.snapshot()).status !== 'PAUSED');
      await handle.signal('cancel');
      await fixture.result();
    });
    expect((await fixture.snapshot()).status).toBe('CANCELLED');
  });

  it('obeys signals in the order in which they were sent', async () => {
    const fixture = await createFixture({ recipients: 3, scheduledInMs: 10 * day });
    const handle = servers().temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId));
    await fixture.start();
    const signals = Array.from({ length: 8 }, (_, turn) => (turn % 2 === 0 ? 'pause' : 'resume'));
    for (const signal of signals) await handle.signal(signal);
    await fixture.withWorker(async () => {
      await until(async () => (await completed(handle, 'operateCampaign')) === signals.length);
      expect(await fixture.snapshot()).toMatchObject({ status: 'SCHEDULED', pauseReason: null });
      await handle.signal('cancel');
      await fixture.result();
    });
  });

  it('pauses when the broadcast quota is used up, and counts a campaign once', async () => {
    const fixture = await createFixture({ recipients: 2, broadcastsPerMonth: 0 });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).pauseReason === 'BROADCAST_QUOTA');
      await servers().database.query(sql.type(nothing)`
        UPDATE workspace_feature SET broadcasts_per_month = 1
        WHERE workspace_id = (SELECT workspace_id FROM campaign WHERE id = ${fixture.campaignId})`);
      await startCampaignAgain(fixture.dependencies, fixture);
      await fixture.result();
    });
    expect(await fixture.snapshot()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 2 } });
  });

  it('sleeps at the messaging limit until quota remains again, and then sends the rest', async () => {
    const fixture = await createFixture({ recipients: 1_200, messagingLimit: 1_000 });
    const { temporal, database } = servers();
    /** Advances both clocks: the messaging limit is counted by Postgres', the workflow sleeps by Temporal's. */
    const pass = async (ms: number): Promise<void> => {
      const interval = sql.fragment`make_interval(secs => ${ms / 1_000}::float8)`;
      for (const table of ['account_reach', 'account_reach_count'])
        await database.query(sql.type(nothing)`UPDATE ${sql.identifier([table])} SET at = at - ${interval}`);
      await temporal.sleep(ms);
    };
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress())?.waitingFor === 'MESSAGING_LIMIT');
      const waiting = await fixture.snapshot();
      expect(waiting).toMatchObject({
        waitingFor: 'MESSAGING_LIMIT',
        counts: { accepted: 1_000, pending: 200 },
      });
      const roomInMs = Date.parse(String(waiting.waitingUntil)) - Date.now();
      expect(roomInMs).toBeGreaterThan(0.99 * day);
      await pass(23 * 3_600_000);
      expect(fixture.provider.received).toHaveLength(1_000);
      await pass(roomInMs - 23 * 3_600_000);
      await fixture.result();
    });
    expect(new Set(fixture.provider.received.map(({ to }) => to)).size).toBe(1_200);
    expect(await fixture.snapshot()).toMatchObject({
      status: 'COMPLETED',
      counts: { accepted: 1_200, failed: 0, unknown: 0 },
    });
  });

  it('fails visibly when its record is gone', async () => {
    const orchestrator = testOrchestrator(servers().temporal.client);
    const fixture = await createFixture({ recipients: 1 });
    const id = randomUUID();
    await fixture.withWorker(async () => {
      await orchestrator.startCampaign({ id, workspaceId: 1, name: 'Gone' });
      await expect(
        servers().temporal.client.workflow.getHandle(campaignWorkflowId(id)).result(),
      ).rejects.toThrow();
    });
  });
});
