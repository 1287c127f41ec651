/** The events `failed` and `delivered` account for a campaign: with the open messages they add up to its total. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventData } from '../../../src/domain/webhooks/new-event.ts';
import { expireClaims } from '../../../src/records/sending/claim-expiry.ts';
import { claimBatch, type ClaimedRecipient } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes, type MessageOutcome } from '../../../src/records/sending/outcomes.ts';
import {
  createApplier,
  deliver,
  messagesCallback,
  rowsOf,
  status,
  subscribeToAll,
} from '../../support/callback-fixtures.ts';
import { anyTokens, checkBooks, messagePrice, seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { outcomesOf } from '../../support/outcomes.ts';
import { query } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function claimCampaign(size: number) {
  const campaign = await seedCampaign(database.pool, { recipients: size });
  await subscribeToAll(database.pool, campaign.workspaceId);
  const claimId = randomUUID();
  const claim = await claimBatch(database.pool, {
    ...anyTokens,
    ...campaign,
    claimId,
    epoch: 0,
    limit: size,
    prices: new Map([['', messagePrice]]),
  });
  if (claim.kind !== 'batch') throw new Error(`nothing claimed: ${claim.kind}`);
  const record = (outcomeOf: (recipient: ClaimedRecipient) => MessageOutcome) =>
    recordOutcomes(database.pool, {
      ...campaign,
      outcomes: outcomesOf(claimId, new Map(claim.recipients.map((one) => [one.position, outcomeOf(one)]))),
    });
  return { ...campaign, recipients: claim.recipients, record };
}

async function eventsOf(workspaceId: number, key: string): Promise<readonly EventData<'failed'>[]> {
  const rows = await rowsOf<{ body: string }>(
    database.pool,
    sql.fragment`SELECT body FROM event WHERE workspace_id = ${workspaceId} AND key = ${key} ORDER BY id`,
  );
  return rows.map(({ body }) => (JSON.parse(body) as { data: EventData<'failed'> }).data);
}

const idsOf = (events: readonly EventData<'failed'>[]) => new Set(events.map(({ messageId }) => messageId));

/** By position: what the answer to the request says, and which statuses follow. */
interface Fate {
  readonly refused?: true;
  readonly unreachable?: true;
  readonly unknown?: true;
  readonly statuses?: readonly string[];
}
const fates: readonly Fate[] = [
  { refused: true },
  { refused: true },
  { unreachable: true },
  { statuses: ['failed'] },
  { statuses: ['sent', 'failed'] },
  { statuses: ['sent', 'delivered'] },
  { statuses: ['sent', 'delivered', 'read'] },
  { statuses: ['read'] },
  { statuses: ['sent'] },
  { statuses: [] },
  { unknown: true },
];
const fateOf = ({ position }: ClaimedRecipient) => fates[position - 1] ?? {};
const statusesOf = (recipient: ClaimedRecipient) => fateOf(recipient).statuses ?? [];

it('adds up: refused, undelivered, delivered and open messages are the total of the campaign', async () => {
  const campaign = await claimCampaign(fates.length);
  const { workspaceId, campaignId, channelId: phoneNumberId, recipients } = campaign;
  const applier = createApplier(database.pool);
  const outcomeOf = (recipient: ClaimedRecipient): MessageOutcome => {
    const fate = fateOf(recipient);
    const error = { code: 131_026, message: 'Message undeliverable', details: 'No such number' };
    if (fate.refused) return { kind: 'failed', reason: 'PROVIDER_131026', detail: 'No such number', error };
    if (fate.unreachable) return { kind: 'failed', reason: 'PROVIDER_UNREACHABLE', detail: 'HTTP 404' };
    if (fate.unknown) return { kind: 'unknown', detail: 'timeout' };
    return { kind: 'accepted', providerMessageId: `wamid.${recipient.id}` };
  };
  await campaign.record(outcomeOf);
  await campaign.record(outcomeOf);
  const callbacks = recipients.flatMap((recipient) =>
    // The provider reports a refusal again by callback.
    [fateOf(recipient).refused ? ['failed'] : [], statusesOf(recipient)].flat().map((name) =>
      messagesCallback(phoneNumberId, {
        statuses: [
          status({
            status: name,
            providerMessageId: `wamid.${recipient.id}`,
            callbackData: recipient.id,
            ...(name === 'failed' && { code: 131_026 }),
          }),
        ],
      }),
    ),
  );
  await deliver(applier, callbacks);
  await deliver(applier, callbacks);

  const failed = await eventsOf(workspaceId, 'failed');
  const arrived = idsOf([
    ...(await eventsOf(workspaceId, 'delivered')),
    ...(await eventsOf(workspaceId, 'read')),
  ]);
  expect(failed).toHaveLength(5);
  expect(idsOf(failed).size).toBe(5);
  expect(arrived.size).toBe(3);
  const open = recipients.filter(({ id }) => !idsOf(failed).has(id) && !arrived.has(id));
  expect(open.map(({ position }) => position)).toEqual([9, 10, 11]);
  const [counters] = await rowsOf(
    database.pool,
    sql.fragment`SELECT failed, delivered + read AS arrived, accepted + sent + unknown AS open
      FROM campaign_counter WHERE campaign_id = ${campaignId}`,
  );
  expect(counters).toEqual({ failed: 5, arrived: 3, open: 3 });
  expect(new Set([...failed].map((event) => event.campaignId))).toEqual(new Set([campaignId]));
  await checkBooks(database.pool, campaign);

  const [refused] = recipients;
  const matchingEvent = failed.find(({ messageId }) => messageId === refused?.id);
  expect(matchingEvent).toMatchObject({
    status: {
      id: refused?.id,
      status: 'failed',
      recipient_id: refused?.to,
      errors: [{ code: 131_026, title: 'Message undeliverable', error_data: { details: 'No such number' } }],
      biz_opaque_callback_data: refused?.id,
    },
    phoneNumberId,
    messageSource: 'campaign',
  });
  expect(matchingEvent?.providerEvent.statuses).toEqual([matchingEvent?.status]);
  const unreachable = failed.find(({ messageId }) => messageId === recipients[2]?.id);
  expect(unreachable?.status.errors).toEqual([{ title: 'PROVIDER_UNREACHABLE', message: 'HTTP 404' }]);
});

it('emits failed for a message that was released after its claim had expired', async () => {
  const campaign = await claimCampaign(1);
  const { campaignId, workspaceId, recipients } = campaign;
  await expireClaims(database.pool, { campaignId, graceSeconds: 0 });
  await campaign.record(() => ({ kind: 'released', delayMs: 0, attempted: false }));
  const failed = await eventsOf(workspaceId, 'failed');
  expect(failed.map(({ messageId, status: { errors } }) => [messageId, errors])).toEqual([
    [
      recipients[0]?.id,
      [{ title: 'PROVIDER_UNREACHABLE', message: 'Not sent: released after the grace period' }],
    ],
  ]);
});

it('writes no event without a subscription, and no change when the event cannot be written', async () => {
  const campaign = await claimCampaign(1);
  const refuse = () => campaign.record(() => ({ kind: 'failed', reason: 'PROVIDER_131026', detail: 'no' }));
  const { campaignId, workspaceId } = campaign;
  const stateOf = async () =>
    (
      await rowsOf<{ state: string }>(
        database.pool,
        sql.fragment`SELECT state FROM recipient WHERE campaign_id = ${campaignId}`,
      )
    )[0]?.state;
  const owner = (statement: string) => query(database, statement);
  await owner(
    `CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'no event can be written'; END $$`,
  );
  await owner(
    `CREATE TRIGGER refuse BEFORE INSERT ON event FOR EACH ROW WHEN (NEW.key = 'failed') EXECUTE FUNCTION refuse_event()`,
  );
  await expect(refuse()).rejects.toThrow();
  expect(await stateOf()).toBe('CLAIMED');
  await owner('DROP TRIGGER refuse ON event');
  await owner(`UPDATE webhook_configuration SET status = 'inactive' WHERE workspace_id = ${workspaceId}`);
  await refuse();
  expect(await stateOf()).toBe('FAILED');
  expect(await eventsOf(workspaceId, 'failed')).toEqual([]);
});
