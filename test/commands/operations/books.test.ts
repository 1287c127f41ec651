import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { startTemporal } from '../../support/temporal.ts';
import { createDoctorFixture, seedDelivery, type DoctorFixture } from './doctor-fixture.ts';

let temporal: TestWorkflowEnvironment;
let doctorFixture: DoctorFixture;
let seeded: SeededCampaign;

beforeAll(async () => {
  temporal = await startTemporal();
});
afterAll(() => temporal?.teardown());
beforeEach(async () => {
  doctorFixture = await createDoctorFixture(temporal);
  seeded = await seedCampaign(doctorFixture.pool, { recipients: 10 });
  await doctorFixture.orchestrator.startCampaign({
    id: seeded.campaignId,
    workspaceId: seeded.workspaceId,
    name: 'Test',
  });
});
afterEach(() => doctorFixture.drop());

const longAgo = sql.fragment`now() - interval '20 minutes'`;
const settled = (...kinds: readonly string[]) => ({ kinds, problems: [], left: [] });

describe('wallets', () => {
  it('writes a correction where the entries do not sum up to the balance, and edits none', async () => {
    await doctorFixture.run(sql.fragment`UPDATE wallet SET balance = balance - 700`);
    expect(await doctorFixture.repairAbout([seeded.channelId])).toEqual(
      settled('ledger-differs-from-balance'),
    );
    const entries = await doctorFixture.read(
      sql.fragment`SELECT string_agg(kind || ' ' || amount, ', ' ORDER BY id) FROM ledger_entry`,
    );
    expect(entries).toBe('recharge 1000000000, correction -700');
  });

  it('corrects the reserved amount to the price of the messages without an outcome', async () => {
    await doctorFixture.run(sql.fragment`UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN', price = 1000,
      settlement = 'reserved' WHERE position <= 2`);
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_counter SET pending = 8, unknown = 2, claimed_position = 2`,
    );
    await doctorFixture.run(
      sql.fragment`INSERT INTO campaign_reason VALUES (${seeded.campaignId}, 'failed', 'OUTCOME_UNKNOWN', 2)`,
    );
    await doctorFixture.run(sql.fragment`INSERT INTO message (workspace_id, channel_id, direction, source, state, price, settlement)
      VALUES (${seeded.workspaceId}, ${seeded.channelId}, 'outbound', 'api', 'UNKNOWN', 300, 'reserved')`);
    await doctorFixture.run(sql.fragment`UPDATE wallet SET reserved = 5000`);
    expect(await doctorFixture.repairAbout([seeded.channelId, seeded.campaignId])).toEqual(
      settled('reserved-differs-from-messages'),
    );
    expect(await doctorFixture.read(sql.fragment`SELECT reserved FROM wallet`)).toBe('2300');
    expect(await checkBooks(doctorFixture.pool, seeded)).toMatchObject({ counters_fit: true });
  });

  it('makes no repair where the balance does not cover the reservations', async () => {
    await doctorFixture.run(sql.fragment`UPDATE recipient SET state = 'CLAIMED', price = ${messagePrice * 2_000_000n},
      settlement = 'reserved', claim_id = ${randomUUID()} WHERE position = 1`);
    const [finding] = await doctorFixture.findAbout([seeded.channelId]);
    expect(finding).toMatchObject({ kind: 'reserved-differs-from-messages' });
    expect(finding?.repair).toBeUndefined();
  });
});

describe('campaigns', () => {
  it('counts the recipients again where the counters or the reasons differ from them', async () => {
    await doctorFixture.run(
      sql.fragment`UPDATE recipient SET state = 'FAILED', reason = 'PROVIDER_131026' WHERE position <= 3`,
    );
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_counter SET pending = 4, failed = 1, claimed_position = 3`,
    );
    expect(await doctorFixture.repairAbout([seeded.campaignId])).toEqual(
      settled('counters-differ-from-rows'),
    );
    expect(await checkBooks(doctorFixture.pool, seeded)).toMatchObject({ counters_fit: true });
    expect(await doctorFixture.read(sql.fragment`SELECT reason || ' ' || count FROM campaign_reason`)).toBe(
      'PROVIDER_131026 3',
    );
  });

  it('queues PENDING recipients again that no claim would reach', async () => {
    await doctorFixture.run(sql.fragment`UPDATE campaign_counter SET claimed_position = 4`);
    await doctorFixture.run(
      sql.fragment`INSERT INTO recipient_retry VALUES (${seeded.campaignId}, 2, now())`,
    );
    expect(await doctorFixture.repairAbout([seeded.campaignId])).toEqual(settled('recipients-stranded'));
    expect(
      await doctorFixture.read(
        sql.fragment`SELECT string_agg(position::text, ' ' ORDER BY position) FROM recipient_retry`,
      ),
    ).toBe('1 2 3 4');
  });

  it('marks recipients UNKNOWN whose outcome was never recorded, and keeps the reservation', async () => {
    const claimId = randomUUID();
    await doctorFixture.run(sql.fragment`UPDATE recipient SET state = 'CLAIMED', claim_id = ${claimId}, price = 1000,
      settlement = 'reserved' WHERE position <= 5`);
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_counter SET claimed_position = 5, pending = 5, claimed = 5`,
    );
    await doctorFixture.run(sql.fragment`UPDATE wallet SET reserved = 5000`);
    await doctorFixture.run(sql.fragment`INSERT INTO campaign_claim (id, campaign_id, epoch, open, first_position, last_position, claimed_at)
      VALUES (${claimId}, ${seeded.campaignId}, 0, 5, 1, 5, ${longAgo})`);
    expect(await doctorFixture.repairAbout([seeded.campaignId, seeded.channelId])).toEqual(
      settled('claim-left-behind'),
    );
    expect(
      await doctorFixture.read(
        sql.fragment`SELECT count(*) FROM recipient WHERE state = 'UNKNOWN' AND settlement = 'reserved'`,
      ),
    ).toBe('5');
  });

  it('marks CLAIMED recipients without an open claim UNKNOWN', async () => {
    await doctorFixture.run(
      sql.fragment`UPDATE recipient SET state = 'CLAIMED', claim_id = ${randomUUID()} WHERE position <= 2`,
    );
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_counter SET claimed_position = 2, pending = 8, claimed = 2`,
    );
    expect(await doctorFixture.repairAbout([seeded.campaignId])).toEqual(settled('recipients-without-claim'));
    expect(await doctorFixture.read(sql.fragment`SELECT unknown FROM campaign_counter`)).toBe('2');
    expect(await checkBooks(doctorFixture.pool, seeded)).toMatchObject({ counters_fit: true });
  });
});

describe('queues', () => {
  it('delivers messages of the workflow outbox that Temporal has not received', async () => {
    const other = await seedCampaign(doctorFixture.pool, { recipients: 1 });
    await doctorFixture.run(sql.fragment`INSERT INTO workflow_outbox (campaign_id, kind, created_at)
      VALUES (${other.campaignId}, 'start', ${longAgo})`);
    expect(await doctorFixture.repairAbout(['workflow-commands'])).toEqual(settled('queue-overdue'));
    expect(await doctorFixture.findAbout([other.campaignId])).toEqual([]);
  });

  it('creates deliveries of events that were not fanned out', async () => {
    await doctorFixture.run(sql.fragment`INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
      VALUES (${seeded.workspaceId}, 'Test', 'https://example.org', 'active', ARRAY['message.sent'])`);
    await doctorFixture.run(sql.fragment`INSERT INTO event (workspace_id, key, body, occurred_at)
      VALUES (${seeded.workspaceId}, 'message.sent', '{}', ${longAgo})`);
    expect(await doctorFixture.repairAbout(['events'])).toEqual(settled('queue-overdue'));
    expect(await doctorFixture.read(sql.fragment`SELECT state FROM webhook_delivery`)).toBe('pending');
  });

  it('marks single sends UNKNOWN whose process died', async () => {
    await doctorFixture.run(sql.fragment`INSERT INTO message (workspace_id, channel_id, direction, source, state, price, settlement, created_at)
      VALUES (${seeded.workspaceId}, ${seeded.channelId}, 'outbound', 'api', 'CLAIMED', 0, 'reserved', ${longAgo})`);
    expect(await doctorFixture.repairAbout(['messages'])).toEqual(settled('queue-overdue'));
    expect(await doctorFixture.read(sql.fragment`SELECT state FROM message`)).toBe('UNKNOWN');
  });

  it('ends deliveries beyond their lease and their expiry', async () => {
    const dead = await seedDelivery(
      doctorFixture,
      seeded.workspaceId,
      sql.fragment`'sending', ${longAgo}, ${longAgo}, ${longAgo}`,
    );
    const late = await seedDelivery(
      doctorFixture,
      seeded.workspaceId,
      sql.fragment`'pending', NULL::timestamptz, NULL::timestamptz, now() - interval '2 days'`,
    );
    expect(await doctorFixture.repairAbout(['deliveries'])).toEqual(settled('queue-overdue'));
    const codes = sql.fragment`SELECT string_agg(error_code, ' ' ORDER BY error_code) FROM webhook_delivery
      WHERE id IN (${dead}, ${late})`;
    expect(await doctorFixture.read(codes)).toBe('expired interrupted');
  });

  it('emits overdue unmatched statuses once, with messageSource unknown', async () => {
    await doctorFixture.run(sql.fragment`INSERT INTO unmatched_status (channel_id, provider_message_id, status, body, received_at)
      VALUES (${seeded.channelId}, 'wamid.X', 'sent', ${JSON.stringify({
        id: 'wamid.X',
        status: 'sent',
        timestamp: '1750000000',
        recipient_id: '4915100000001',
      })}, ${longAgo})`);
    expect(await doctorFixture.repairAbout(['unmatched-statuses'])).toEqual(settled('queue-overdue'));
    expect(
      await doctorFixture.read(
        sql.fragment`SELECT count(*) FROM unmatched_status WHERE emitted_at IS NOT NULL`,
      ),
    ).toBe('1');
  });

  it('names callbacks that no worker applies, and leaves them to a worker', async () => {
    await doctorFixture.run(
      sql.fragment`INSERT INTO waiting_callback (id, received_at, size) VALUES (1, ${longAgo}, 2)`,
    );
    const [finding] = await doctorFixture.findAbout(['callbacks']);
    expect(finding?.meaning).toMatch(/start a worker/);
    expect(finding?.repair).toBeUndefined();
  });
});
