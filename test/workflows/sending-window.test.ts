import { sql } from 'slonik';
import { describe, expect, it } from 'vitest';
import { editCampaign } from '../../src/commands/campaigns/edit-campaign.ts';
import { weekDays, type SendingWindow } from '../../src/domain/campaigns/sending-window.ts';
import { getSendingHours } from '../../src/records/campaigns/sending-hours.ts';
import { nothing } from '../../src/records/database/row.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import {
  createCampaignFixture,
  until,
  type CampaignFixture,
  type CampaignFixtureSeed,
} from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal, startTimeSkippingTemporal } from '../support/temporal.ts';

const hourMs = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString().slice(11, 16);
const closed = (): SendingWindow => ({ timezone: 'UTC', from: inHours(2), to: inHours(4), days: weekDays });

const setWindow = ({ campaignId, dependencies }: CampaignFixture, window: SendingWindow | null) =>
  dependencies.database.query(sql.type(nothing)`
    UPDATE campaign SET sending_window = ${window && JSON.stringify(window)}::jsonb WHERE id = ${campaignId}`);

async function edit({ campaignId, dependencies }: CampaignFixture, sendingWindow: SendingWindow | null) {
  const { workspaceId } = await dependencies.database.one(sql.unsafe`
    SELECT workspace_id AS "workspaceId" FROM campaign WHERE id = ${campaignId}`);
  await editCampaign(dependencies, { workspaceId, scope: 'channel' }, campaignId, { sendingWindow });
}

const recipientsOf = ({ provider }: CampaignFixture) => new Set(provider.received.map(({ to }) => to)).size;

describe('a campaign outside its sending window', () => {
  const servers = openTestServers(startTimeSkippingTemporal);
  it('sleeps in one timer, says until when, and sends after the opening', async () => {
    const { temporal } = servers();
    const fixture = await createCampaignFixture(servers(), { recipients: 120 });
    const window = closed();
    await setWindow(fixture, window);
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress())?.waitingFor === 'SENDING_WINDOW');
      const { status, waitingFor, waitingUntil } = await fixture.snapshot();
      expect({ status, waitingFor }).toEqual({ status: 'RUNNING', waitingFor: 'SENDING_WINDOW' });
      expect(waitingUntil?.slice(11, 16)).toBe(window.from);
      await temporal.sleep(hourMs);
      expect(fixture.provider.received).toHaveLength(0);
      const handle = temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId));
      const { events } = await handle.fetchHistory();
      expect(events?.filter(({ timerStartedEventAttributes: timer }) => timer)).toHaveLength(1);
      // Temporal's clock skips the hours, Postgres' does not: the window is open by both.
      await setWindow(fixture, null);
      await temporal.sleep(hourMs);
      await fixture.result();
    });
    expect(recipientsOf(fixture)).toBe(120);
    expect(fixture.provider.received).toHaveLength(120);
  });
});

describe('a change of the sending window', () => {
  const servers = openTestServers(startTemporal);
  const createFixture = (seed: CampaignFixtureSeed) => createCampaignFixture(servers(), seed);

  it('wakes a campaign that waits', async () => {
    const fixture = await createFixture({ recipients: 10, unprepared: true });
    await setWindow(fixture, closed());
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).waitingFor === 'SENDING_WINDOW');
      await edit(fixture, null);
      // By itself it would wait for two hours.
      await fixture.result();
    });
    expect(fixture.provider.received).toHaveLength(10);
  });

  it('stops a campaign in mid-send at its next claim, releases its reservations, and lets it continue later', async () => {
    const fixture = await createFixture({ recipients: 1_500, messagesPerSecond: 200 });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => fixture.provider.received.length > 100);
      await edit(fixture, closed());
      const { claimedPosition } = await getSendingHours(fixture.dependencies.database, fixture.campaignId);
      await until(async () => (await fixture.snapshot()).waitingFor === 'SENDING_WINDOW');
      // Waits until the running send step has ended.
      await until(async () => (await fixture.snapshot()).counts.claimed === 0);
      // What was claimed before the change may still be sent: 40 ms of messages, and at most 100 ms ahead.
      expect(claimedPosition).toBeLessThan(1_500);
      expect(fixture.provider.received.length).toBeLessThanOrEqual(claimedPosition);
      const { counts } = await fixture.snapshot();
      expect(counts).toMatchObject({ claimed: 0, unknown: 0, accepted: fixture.provider.received.length });
      const { reserved } = await fixture.dependencies.database.one(sql.unsafe`
        SELECT reserved::int4 AS reserved FROM wallet
        WHERE channel_id = (SELECT channel_id FROM campaign WHERE id = ${fixture.campaignId})`);
      expect(reserved).toBe(0);
      await edit(fixture, null);
      await fixture.result();
    });
    expect(recipientsOf(fixture)).toBe(1_500);
    expect(fixture.provider.received).toHaveLength(1_500);
  });
});
