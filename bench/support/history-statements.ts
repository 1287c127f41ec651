/**
 * The frequent statements that `bench -- history` times on a database with a long history and on a nearly empty one, each with
 * parameters that exist in the given database.
 */
import type pg from 'pg';
import { createWatermark } from '../../src/concurrency/watermark.ts';
import {
  claimKnownStatuses,
  findTargetsById,
  findTargetsByProviderId,
  lockRecipients,
} from '../../src/records/callbacks/message-statuses.ts';
import { claimProviderCallbacks, recentCallback } from '../../src/records/callbacks/provider-callbacks.ts';
import { listRecipients } from '../../src/records/campaigns/recipient-report.ts';
import { getCampaignReport, listCampaignReports } from '../../src/records/campaigns/report.ts';
import { listContacts } from '../../src/records/contacts/list.ts';
import { listOpenCampaigns } from '../../src/records/operations/doctor-campaigns.ts';
import { schedulerLimits } from './scheduler-limits.ts';
import {
  findWaitingDelivery,
  scheduleDeliveries,
  sweepTimeouts,
} from '../../src/records/webhooks/delivery-scheduler.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../src/records/webhooks/events.ts';
import { listDeliveries } from '../../src/records/webhooks/deliveries.ts';
import { listLedgerEntries } from '../../src/records/wallet/wallets.ts';
import { removals } from '../../src/records/operations/retention.ts';
import { suspectCampaigns } from '../../src/records/operations/standstill.ts';
import { createGaugeReader } from '../../src/records/operations/gauges.ts';
import type { Database } from '../../src/records/database/database.ts';

/** Page size of the campaign list: both databases have at least this many campaigns. */
const campaignsOfAPage = 5;

/** Leaves one callback waiting, so that a claim finds one. `client` is the owner of the tables. */
export async function historyStatements(
  client: pg.Client,
  pool: Database,
): Promise<Readonly<Record<string, () => Promise<unknown> | undefined>>> {
  const workspaceId = 1001;
  // One callback waits.
  await client.query(`
    WITH stored AS (
      INSERT INTO provider_callback (body) SELECT convert_to(repeat('x', 400), 'UTF8')
      WHERE NOT EXISTS (SELECT FROM waiting_callback) RETURNING id)
    INSERT INTO waiting_callback (id, size) SELECT id, 400 FROM stored`);
  const one = async <A>(text: string) => (await client.query<{ found: A }>(text)).rows[0]?.found as A;
  const ids = await one<string[]>(
    `SELECT array_agg(id) AS found FROM (SELECT id FROM recipient ORDER BY id LIMIT 400) AS earliest`,
  );
  // Both databases have this many ids for one day.
  const providerIds = await one<string[]>(
    `SELECT array_agg(provider_message_id) AS found FROM (
       SELECT provider_message_id FROM provider_message JOIN recipient ON recipient.id = recipient_id
       WHERE day = current_date - 1 LIMIT 300) AS recent`,
  );
  const foreignIds = ids.map((_, index) => `wamid.foreign.${index}`);
  const campaignId = await one<string>(
    `SELECT id AS found FROM campaign WHERE workspace_id = ${workspaceId} LIMIT 1`,
  );
  const farPage = await one<number>(
    `SELECT LEAST(30, count(*) / ${campaignsOfAPage})::int4 AS found FROM campaign WHERE workspace_id = ${workspaceId}`,
  );
  const channelId = await one<string>(`SELECT id AS found FROM channel WHERE workspace_id = ${workspaceId}`);
  // The loops poll from the same watermarks.
  const waitingCallback = createWatermark<bigint>();
  const [waitingEvent, waitingDelivery] = [createWatermark<string>(), createWatermark<string>()];
  const recent = () => recentId(pool);
  const readGauges = createGaugeReader();
  const callbacks = { limit: 400, maxBytes: 1024 * 1024, except: [] };
  return {
    'claim callbacks': () =>
      waitingCallback.find(
        (from) =>
          pool.transaction(async (transaction) => {
            const claimed = await claimProviderCallbacks(transaction, { ...callbacks, from });
            return claimed[0]?.id;
          }),
        () => recentCallback(pool),
      ),
    'find 400 messages by our id': () => findTargetsById(pool, ids),
    'lock 400 recipients of statuses': () =>
      pool.transaction((transaction) => lockRecipients(transaction, ids)),
    "find 300 messages by the provider's id": () => findTargetsByProviderId(pool, providerIds),
    'look for 400 unknown ids': () => findTargetsByProviderId(pool, foreignIds),
    'settle unmatched statuses': () =>
      pool.transaction((transaction) =>
        claimKnownStatuses(transaction, { withinSeconds: undefined, limit: 500 }),
      ),
    'find a waiting event': () => waitingEvent.find((from) => findWaitingEvent(pool, from), recent),
    'fan events out': () =>
      waitingEvent.find(async (from) => {
        const first = await findWaitingEvent(pool, from);
        if (first !== undefined) await fanOutEvents(pool, 500, first);
        return first;
      }, recent),
    'find a waiting delivery': () => waitingDelivery.find((from) => findWaitingDelivery(pool, from), recent),
    'hand deliveries out': () => scheduleDeliveries(pool, schedulerLimits),
    'sweep deliveries': () => sweepTimeouts(pool, { expiryHours: 24, redispatchSeconds: 30 }),
    'list contacts': () => listContacts(pool, workspaceId, { limit: 100 }),
    'list campaigns': () => listCampaignReports(pool, workspaceId, { page: 1, limit: campaignsOfAPage }),
    'list campaigns, page 30 or the last': () =>
      listCampaignReports(pool, workspaceId, { page: farPage, limit: campaignsOfAPage }),
    'list recipients of a rare state': () =>
      listRecipients(pool, { campaignId, states: ['SENT'], reasons: [], afterPosition: 0, limit: 100 }),
    'list deliveries': () =>
      listDeliveries(pool, workspaceId, { states: [], beforeId: undefined, limit: 100 }),
    'list entries of a wallet': () => listLedgerEntries(pool, channelId, { before: undefined, limit: 100 }),
    'record of a campaign': () => getCampaignReport(pool, workspaceId, campaignId),
    'remove old ids of the provider': () =>
      removals['providerMessages']?.(pool, { olderThanDays: 90, limit: 500 }),
    'suspect campaigns': () => suspectCampaigns(pool),
    gauges: () => readGauges(pool),
    'open campaigns (doctor)': () =>
      listOpenCampaigns(pool, { afterId: null, limit: 200, settledSeconds: 60 }),
  };
}
