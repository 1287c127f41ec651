/** The campaign of a chaos run: created through the API, watched in the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDemoApi } from '../../demo/api.ts';
import { createCampaign } from '../create-campaign.ts';
import { readDevFile, type DevFile } from '../../stack/dev-file.ts';
import { gatherEvidence, readGauges, withClient, type CampaignGauges } from '../evidence.ts';
import { compareRecords, type Verdict } from '../verdict.ts';

export interface WatchedCampaign {
  readonly dataDir: string;
  readonly campaignId: string;
  readonly recipients: number;
  readonly signal: AbortSignal;
}

const pollMs = 100;
const settleLimitMs = 90_000;

/** The stack removes and rewrites dev.json around a restart. */
export async function liveDevFile(dataDir: string): Promise<DevFile> {
  for (;;) {
    const dev = readDevFile(dataDir);
    if (dev !== undefined) return dev;
    await sleep(pollMs);
  }
}

export async function createChaosCampaign(
  dataDir: string,
  {
    recipients,
    rate,
    signal,
  }: { readonly recipients: number; readonly rate: number; readonly signal: AbortSignal },
): Promise<WatchedCampaign> {
  const dev = await liveDevFile(dataDir);
  await withClient(dev.databaseUrl, (client) =>
    client.query('UPDATE channel SET messages_per_second = $1', [rate]),
  );
  const { id: campaignId } = await createCampaign(createDemoApi(dev), {
    name: 'Chaos',
    templateId: dev.templateIds['plain_notice'],
    recipients,
  });
  return { dataDir, campaignId, recipients, signal };
}

/** Resolves when `enough` returns true; tolerates an unreachable database meanwhile. */
export async function untilGauges(
  { dataDir, campaignId, signal }: WatchedCampaign,
  enough: (gauges: CampaignGauges) => boolean,
): Promise<CampaignGauges> {
  for (;;) {
    signal.throwIfAborted();
    const dev = await liveDevFile(dataDir);
    const now = await readGauges(dev, campaignId).catch(() => undefined);
    if (now?.status === 'FAILED') throw new Error('The campaign failed in its preparation');
    if (now !== undefined && enough(now)) return now;
    await sleep(pollMs);
  }
}

export function untilShare(campaign: WatchedCampaign, share: number): Promise<CampaignGauges> {
  return untilGauges(
    campaign,
    ({ status, settled }) => status === 'COMPLETED' || settled >= campaign.recipients * share,
  );
}

/** Repeats the comparison for up to 90 s: the simulator retries callbacks, so receipts may arrive late. */
export async function untilVerdict({ dataDir, campaignId, recipients }: WatchedCampaign): Promise<Verdict> {
  const deadline = performance.now() + settleLimitMs;
  for (;;) {
    const dev = await liveDevFile(dataDir);
    const verdict = compareRecords(await gatherEvidence(dev, { campaignId, expected: recipients }));
    if (verdict.problems.length === 0 || performance.now() > deadline) return verdict;
    await sleep(1_000);
  }
}
