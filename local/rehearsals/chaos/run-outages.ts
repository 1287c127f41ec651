/** Causes one outage after the other during the campaign, which must recover from each without help. */
import { setTimeout as sleep } from 'node:timers/promises';
import { untilShare, liveDevFile, type WatchedCampaign } from './campaign.ts';
import { readGauges, readBadOutcomes, readProviderTally } from '../evidence.ts';
import type { OutageTarget } from './outage-target.ts';
import { outages, type OutageKind } from './outages.ts';
import { startProbing } from './probe.ts';

export interface OutagePlan {
  readonly kinds: readonly OutageKind[];
  readonly seconds: number;
  /** The channel's limit, messages per second. */
  readonly rate: number;
  readonly target: OutageTarget;
  readonly say: (line: string) => void;
}

/** Most UNKNOWN recipients allowed for an outage of up to a minute and for a longer one, at 80 messages a second. */
const [mostUnknownUpToMinute, mostUnknownBeyondMinute, atRate] = [40, 100, 80];
const pollMs = 100;
/** 20 messages: more than the probes' own single sends add, so that the campaign itself must have continued. */
const mostFromProbes = 20;

/** Resolves to the problems found, once sending has continued after the last outage. */
export async function runOutages(
  campaign: WatchedCampaign,
  { kinds, seconds, rate, target, say }: OutagePlan,
): Promise<readonly string[]> {
  const problems: string[] = [];
  let number = 0;
  for (const [index, kind] of kinds.entries()) {
    await untilShare(campaign, (index + 1) / (kinds.length + 2));
    const outage = outages[kind];
    const dev = await liveDevFile(campaign.dataDir);
    const outcomesBefore = await readBadOutcomes(dev, campaign.campaignId);
    say(`${kind}: away for ${seconds} s`);
    await outage.begin(target);
    const probing = startProbing({
      dev,
      campaignId: campaign.campaignId,
      expected: outage,
      nextNumber: () => (number += 1),
    });
    await sleep(seconds * 1_000, undefined, { signal: campaign.signal });
    const before = await readProviderTally(dev.providerUrl);
    const answered = probing.stop();
    await outage.end(target);
    const recoveryMs = await untilSendingContinues(campaign, before.accepted, 2 * outage.recoveryMs);
    const { counts, problems: found } = await answered;
    const answers = Object.entries(counts)
      .map(([answer, times]) => `${answer} ×${times}`)
      .join(', ');
    say(`  the API said ${answers}; sending went on ${(recoveryMs / 1000).toFixed(1)} s after the end`);
    problems.push(...found.map((problem) => `${kind}: ${problem}`));
    const outcomesAfter = await readBadOutcomes(await liveDevFile(campaign.dataDir), campaign.campaignId);
    const [unknown, refused] = [
      outcomesAfter.unknown - outcomesBefore.unknown,
      outcomesAfter.refused - outcomesBefore.refused,
    ];
    say(`  ${unknown} unknown, ${refused} failed`);
    const allowed =
      (seconds > 60 ? mostUnknownBeyondMinute : mostUnknownUpToMinute) * Math.max(1, rate / atRate);
    if (unknown > allowed) problems.push(`${kind}: ${unknown} unknown, more than ${allowed}`);
    if (refused > 0) problems.push(`${kind}: ${refused} failed`);
    if (recoveryMs > outage.recoveryMs)
      problems.push(`${kind}: sending went on only ${Math.round(recoveryMs / 1000)} s after`);
  }
  return problems;
}

/** Waits until the provider accepts messages again, or the campaign has ended. */
async function untilSendingContinues(
  { dataDir, campaignId, signal }: WatchedCampaign,
  than: number,
  longestMs: number,
): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const dev = await liveDevFile(dataDir);
    const { accepted } = await readProviderTally(dev.providerUrl);
    const tookMs = performance.now() - startedAt;
    if (accepted >= than + mostFromProbes || tookMs > longestMs) return tookMs;
    if ((await readGauges(dev, campaignId))?.status === 'COMPLETED') return tookMs;
    await sleep(pollMs);
  }
}
