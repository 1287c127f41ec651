/**
 * `npm run chaos -- --cluster`: kills every kind of host of a cluster during a campaign with webhooks, one by one and in pairs.
 * Exits 0 only when no recipient was lost or sent to twice, no write answered 2xx is missing, every delivery is accounted for,
 * and sending never paused for more than 30 seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { createDemoApi } from '../../demo/api.ts';
import { createCampaign } from '../create-campaign.ts';
import { gatherEvidence, readGauges, withClient } from '../evidence.ts';
import { rehearse, type RehearsalContext } from '../rehearsal.ts';
import { seedWorkspace } from '../seed-workspace.ts';
import { compareRecords, type Verdict } from '../verdict.ts';
import { startAcknowledgedWrites } from './acknowledged.ts';
import { runClusterKills } from './cluster-kills.ts';
import { inHandsMs, startCountingReceiver, type CountingReceiver } from '../../demo/receiver.ts';
import { compareWebhooks, type LoggedDelivery, type WebhookVerdict } from './compare-webhooks.ts';

const usage = `npm run chaos -- --cluster [options]

Starts a cluster (npm run cluster), sends a campaign with a webhook for everybody who reads, and kills Postgres' primary, once
with its disk, a host of Temporal's history, matching and frontend, a worker of each queue, an API and haproxy, then pairs.
  --recipients <n>    default 20000
  --rate <n>          limit of the channel per second, default 60: sending has to outlast the kills
  --pairs <n>         how often two die at a time, default 3
  --readers <n>       percent who read and so cause a delivery, default 20
  --seed <n>          of the random choices, default 1
`;

const settleLimitMs = 180_000;
const environment = { ...process.env };

interface Run {
  readonly cluster: Cluster;
  readonly campaignId: string;
  readonly recipients: number;
}

async function run({ folder, signal, progress, options }: RehearsalContext): Promise<readonly string[]> {
  const [recipients, rate] = [options.whole('recipients', 20_000), options.whole('rate', 60)];
  const cluster = await startCluster({
    folder,
    environment,
    // Recipients whose response was lost with a worker become UNKNOWN soon and are settled by their receipts.
    settings: { OUTCOME_GRACE_SECONDS: '10', PROVIDER_TIMEOUT_MS: '10000' },
    progress,
    onLine: () => undefined,
    signal,
  });
  const receiver = await startCountingReceiver('webhook-id', inHandsMs);
  try {
    const { admin, apiUrl, databaseUrl, providerUrl } = cluster;
    const { say } = progress;
    const receiverUrl = receiver.url;
    const seeded = await seedWorkspace({ admin, apiUrl, rate, receiverUrl, name: 'Chaos', events: ['read'] });
    await setReaders(providerUrl, options.whole('readers', 20) / 100);
    const { templateId, apiKey } = seeded;
    const api = createDemoApi({ baseUrl: apiUrl, apiKey });
    const { id: campaignId } = await createCampaign(api, { name: 'Chaos', templateId, recipients });
    const gauges = async () => readGauges({ databaseUrl }, campaignId).catch(() => undefined);
    const settled = async () => (await gauges())?.settled ?? 0;
    while ((await settled()) < recipients / 100) await sleep(250, undefined, { signal });
    say(`Campaign ${campaignId}: ${recipients} recipients at ${rate}/s, seed ${options.whole('seed', 1)}`);

    const writes = startAcknowledgedWrites(apiUrl, apiKey);
    const problems = await runClusterKills({
      cluster,
      seed: options.whole('seed', 1),
      pairs: options.whole('pairs', 3),
      isSending: async () => (await gauges())?.status !== 'COMPLETED',
      say,
      signal,
    });
    while ((await gauges())?.status !== 'COMPLETED') await sleep(250, undefined, { signal });
    await writes.stop();
    const answers = [...writes.answers].map(([answer, count]) => `${answer} ×${count}`).join(', ');
    const forgotten = await writes.countForgotten(databaseUrl);
    say(`Writes beside the campaign: ${answers}; ${forgotten} of those answered 2xx are missing`);
    const { chaos, webhooks } = await untilCompared({ cluster, campaignId, recipients }, receiver);
    say(
      `lost ${chaos.lost}, doubled ${chaos.doubled}, unknown ${chaos.unknown} (${chaos.unsettled} not settled by receipts); ` +
        `webhooks: delivered ${webhooks.delivered}, interrupted ${webhooks.interrupted}, doubled ${webhooks.doubled}`,
    );
    return [
      ...problems,
      ...(forgotten > 0 ? [`${forgotten} writes were answered 2xx and are missing`] : []),
      ...chaos.problems,
      ...webhooks.problems,
    ];
  } finally {
    await receiver.close();
    await cluster.stop();
  }
}

/** Receipts and deliveries may still be on their way. */
async function untilCompared(
  { cluster, campaignId, recipients }: Run,
  receiver: CountingReceiver,
): Promise<{ readonly chaos: Verdict; readonly webhooks: WebhookVerdict }> {
  const deadline = performance.now() + settleLimitMs;
  for (;;) {
    const chaos = compareRecords(await gatherEvidence(cluster, { campaignId, expected: recipients }));
    const webhooks = await compareDeliveries(cluster.databaseUrl, campaignId, receiver);
    const sound = chaos.problems.length + webhooks.problems.length === 0;
    if (sound || performance.now() > deadline) return { chaos, webhooks };
    await sleep(2_000);
  }
}

/** Each recipient who read causes one event and one delivery. */
function compareDeliveries(
  databaseUrl: string,
  campaignId: string,
  { counts: requests }: CountingReceiver,
): Promise<WebhookVerdict> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ read: number }>(
      `SELECT count(*)::int AS read FROM recipient WHERE campaign_id = $1 AND state = 'READ'`,
      [campaignId],
    );
    const { rows: deliveries } = await client.query<LoggedDelivery>(
      'SELECT event_id AS "eventId", state, error_code AS "errorCode" FROM webhook_delivery',
    );
    return compareWebhooks({ expected: rows[0]?.read ?? 0, deliveries, requests });
  });
}

async function setReaders(providerUrl: string, readRate: number): Promise<void> {
  const { body } = await request(`${new URL(providerUrl).origin}/_simulator/callbacks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ readRate, failedRate: 0, undeliveredRate: 0 }),
  });
  await body.dump();
}

await rehearse({
  name: 'chaos-cluster',
  usage,
  options: ['recipients', 'rate', 'pairs', 'readers', 'seed'],
  flags: ['cluster'],
  sound:
    'No recipient was lost or sent to twice, no acknowledged write is missing, and sending always continued.',
  run,
});
