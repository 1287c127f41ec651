/** One campaign and its webhooks through the whole topology: created on one API, followed on the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gatherEvidence, withClient } from '../evidence.ts';
import { compareRecords } from '../verdict.ts';
import { createDemoApi } from '../../demo/api.ts';
import type { CampaignRecord } from '../../demo/campaign.ts';
import type { CountingReceiver } from '../../demo/receiver.ts';
import { createCampaign } from '../create-campaign.ts';
import { StackError } from '../../stack/error.ts';
import type { Topology } from './topology.ts';

export interface RoundOptions {
  readonly topology: Topology;
  readonly apiKey: string;
  readonly receiver: CountingReceiver;
  readonly templateId: string;
  readonly recipients: number;
  /** Called once, when about a third has been sent. */
  readonly onTheWay: () => Promise<void>;
  readonly signal: AbortSignal;
}

export interface RoundResult {
  readonly counters: Readonly<Record<string, number>>;
  readonly sentInMs: number;
  readonly webhooksInMs: number;
  readonly problems: readonly string[];
}

const pollMs = 200;
/** The longest time that the simulator takes between two statuses. */
const restMs = 6_000;
const patienceMs = 300_000;

export async function runCampaignRound(options: RoundOptions): Promise<RoundResult> {
  const { topology, apiKey, receiver, templateId, recipients, signal } = options;
  const [writer, reader] = topology.apiUrls.map((baseUrl) => createDemoApi({ baseUrl, apiKey }));
  if (writer === undefined || reader === undefined) throw new StackError('Two API processes are needed');
  const startedAt = performance.now();
  const { id } = await createCampaign(writer, { name: 'Production topology', templateId, recipients });
  const read = async () => (await reader.get(`/api/campaigns/${id}`)).data as CampaignRecord;

  let campaign = await read();
  let onTheWay: Promise<void> | undefined;
  while (campaign.status !== 'COMPLETED') {
    if (['FAILED', 'PAUSED', 'CANCELLED'].includes(campaign.status) || tooLate(startedAt))
      throw new StackError(`The campaign did not complete: ${campaign.status}`);
    const sent = campaign.total_contacts - (campaign.counters['pending'] ?? 0);
    if (campaign.total_contacts > 0 && sent * 3 > campaign.total_contacts) onTheWay ??= options.onTheWay();
    await sleep(pollMs, undefined, { signal });
    campaign = await read();
  }
  await onTheWay;
  const sentInMs = performance.now() - startedAt;

  const { events, settledAt } = await untilWebhooksRest(topology, startedAt, signal);
  const webhooksInMs = settledAt - startedAt;
  const sentDeliveries = receiver.counts.get('sent') ?? 0;
  const deliveryProblems =
    sentDeliveries === events ? [] : [`${sentDeliveries} webhooks for ${events} events`];

  const { problems } = compareRecords(await gatherEvidence(topology, { campaignId: id, expected: null }));
  return {
    counters: (await read()).counters,
    sentInMs,
    webhooksInMs,
    problems: [...problems, ...deliveryProblems],
  };
}

/** Waits until the provider's statuses have arrived and every delivery that they caused has an outcome. */
export async function untilWebhooksRest(
  topology: Pick<Topology, 'databaseUrl'>,
  startedAt: number,
  signal: AbortSignal,
): Promise<{ readonly events: number; readonly settledAt: number }> {
  let seen: Webhooks = { events: 0, open: 0 };
  let settledAt = performance.now();
  while (performance.now() - settledAt < restMs && !tooLate(startedAt)) {
    const now = await readWebhooks(topology);
    if (now.open > 0 || now.events !== seen.events) settledAt = performance.now();
    seen = now;
    await sleep(pollMs, undefined, { signal });
  }
  return { events: seen.events, settledAt };
}

interface Webhooks {
  /** Events that the subscription asks for. */
  readonly events: number;
  /** Events without a delivery yet, and deliveries without an outcome. */
  readonly open: number;
}

function readWebhooks({ databaseUrl }: Pick<Topology, 'databaseUrl'>): Promise<Webhooks> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Webhooks>(
      `SELECT (SELECT count(*) FROM event)::int AS events,
        ((SELECT count(*) FROM event WHERE fanned_out_at IS NULL)
          + (SELECT count(*) FROM webhook_delivery WHERE state IN ('pending', 'sending')))::int AS open`,
    );
    return rows[0] ?? { events: 0, open: 0 };
  });
}

function tooLate(startedAt: number): boolean {
  return performance.now() - startedAt > patienceMs;
}
