/** Runs one send step of a campaign. When a step hands over its slot, the workflow begins the next one in parallel. */
import type { Dependencies } from '../../dependencies.ts';
import { isFinished, nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import { nextOpenTime } from '../../domain/campaigns/sending-window.ts';
import { getCampaignSnapshot } from '../../records/campaigns/campaign-snapshot.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import {
  getSendingHours,
  recordWindowOpening,
  type SendingHours,
} from '../../records/campaigns/sending-hours.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { leaveSlotQueue } from '../../records/sending/send-slots.ts';
import { prepareCampaign } from '../audience/prepare-campaign.ts';
import { runSendStep, type StepResult } from '../sending/run-send-step.ts';
import { ProviderTraffic } from '../sending/throughput.ts';
import { beginCampaign } from './begin-campaign.ts';
import { pauseEndedOffer } from './change-campaign.ts';
import { offerEndingBeforeSending } from './edit-campaign.ts';
import { settleCampaign } from './settle-campaign.ts';

const longStepMs = 10_000;
/** With more than `crowdedAt` steps in a process, steps are shorter so that each campaign gets its next slot sooner. */
const shortStepMs = 1_000;
const crowdedAt = 50;

export interface SendCampaignOptions {
  /**
   * Highest claimed position that the workflow has seen. A record with a lower one was restored from a backup; the campaign is
   * then paused, because recipients that look pending may have been sent to.
   */
  readonly claimedUpTo: number;
  readonly draining: () => boolean;
}

/** Create one per process: it counts the steps that run concurrently, and their unanswered messages. */
export function createCampaignSender(dependencies: Dependencies) {
  let running = 0;
  const traffic = new ProviderTraffic();
  return async (campaignId: string, { claimedUpTo, draining }: SendCampaignOptions): Promise<StepResult> => {
    const hours = await getSendingHours(dependencies.database, campaignId);
    if (hours.claimedPosition < claimedUpTo) {
      await pauseOlderRecord(dependencies, { campaignId, claimedUpTo, ...hours });
      return { waitMs: 0, drained: false };
    }
    const open = await checkSendingHours(dependencies, campaignId, hours);
    if (!open.isOpen) return { waitMs: open.waitMs, drained: false };
    running += 1;
    try {
      return await runSendStep(dependencies, campaignId, {
        budgetMs: running > crowdedAt ? shortStepMs : longStepMs,
        isFollowed: true,
        traffic,
        draining: () => draining() || open.isOver(),
      });
    } finally {
      running -= 1;
    }
  };
}

interface OlderRecord {
  readonly campaignId: string;
  /** Highest claimed position in the campaign's record. */
  readonly claimedPosition: number;
  /** Highest claimed position that the campaign's workflow has seen. */
  readonly claimedUpTo: number;
}

/**
 * Pauses a campaign whose workflow has seen a higher claimed position than its record has. The database was then restored from a
 * backup, and recipients sent to since the backup look pending. The admin command `doctor` resolves them.
 */
async function pauseOlderRecord(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  { campaignId, claimedPosition, claimedUpTo }: OlderRecord,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (nextCampaignStatus(campaign.status, 'pause') === undefined) return;
    await moveCampaign(transaction, campaign, 'pause', 'RECORD_RESTORED');
    logger.error(
      { campaignId, claimedPosition, claimedUpTo },
      'campaign paused: its record is older than its workflow, run the admin command doctor',
    );
  });
}

// Keeps a campaign's sending inside its windows. Computes nothing for a campaign without windows.

/** 0.5 s, so that a request sent at the last moment still reaches the provider before the window closes. */
const marginMs = 500;
/** 1 day: how long a campaign waits if its windows are never open together. A change to a window wakes its workflow sooner. */
const neverOpensMs = 86_400_000;

type Keeper = Pick<Dependencies, 'config' | 'database' | 'logger' | 'metrics' | 'orchestrator'>;

type OpenHours =
  | {
      readonly isOpen: true;
      /** True from `marginMs` before the window closes; nothing more may be sent. */ readonly isOver: () => boolean;
    }
  | { readonly isOpen: false; readonly waitMs: number };

/** While a window is closed, the campaign leaves the channel's slot queue, and its record says when the window opens next. */
export async function checkSendingHours(
  dependencies: Keeper,
  campaignId: string,
  { status, windows, now, askedAt, epoch, pending, claimed }: SendingHours,
): Promise<OpenHours> {
  // A campaign without pending recipients has nothing to send and may complete.
  if (windows.length === 0 || status !== 'RUNNING' || pending === 0)
    return { isOpen: true, isOver: () => false };
  const open = nextOpenTime(windows, new Date(now));
  const opensAt = open?.opensAt ?? new Date(now + neverOpensMs);
  const opensInMs = Math.ceil(opensAt.getTime() - now);
  const closesInMs = (open?.closesAt?.getTime() ?? Infinity) - now;
  if (opensInMs <= 0 && closesInMs > marginMs) {
    const overAt = askedAt + closesInMs - marginMs;
    return { isOpen: true, isOver: () => performance.now() >= overAt };
  }
  if (opensInMs <= 0) return { isOpen: false, waitMs: Math.ceil(closesInMs) };
  if ((await offerEndingBeforeSending(dependencies.database, campaignId, new Date(now))) !== undefined) {
    await pauseEndedOffer(dependencies, campaignId);
    return { isOpen: false, waitMs: 0 };
  }
  await recordWindowOpening(dependencies.database, { campaignId, epoch, opensAt });
  await leaveSlotQueue(dependencies.database, campaignId);
  if (claimed === 0) return { isOpen: false, waitMs: opensInMs };
  return { isOpen: false, waitMs: Math.min(opensInMs, await expireOpenClaims(dependencies, campaignId)) };
}

/** Moves expired claims of a crashed step to UNKNOWN even while the window is closed. Returns ms until the next check. */
async function expireOpenClaims(
  { config, database, metrics }: Pick<Keeper, 'config' | 'database' | 'metrics'>,
  campaignId: string,
): Promise<number> {
  const graceSeconds = config.outcomeGraceSeconds;
  metrics.recipientChanges.inc(
    { state: 'unknown' },
    await expireClaims(database, { campaignId, graceSeconds }),
  );
  return graceSeconds * 1_000;
}

// A small campaign is sent in the step that prepares it: five steps would cost more than its few messages.

/** 100 recipients: most campaigns that a program triggers through the API are smaller. */
const smallCampaign = 100;
const smallBudgetMs = 3_000;

/** Prepares the campaign unless that is done. Returns true if it is small and due at once; `sendSmallCampaign` then follows. */
export async function prepareUnlessDone(
  dependencies: Dependencies,
  campaignId: string,
  options: Parameters<typeof prepareCampaign>[2],
): Promise<boolean> {
  const { prepared, status } = await getCampaignSnapshot(dependencies.database, campaignId);
  if (prepared || isFinished(status)) return false;
  const sendable = await prepareCampaign(dependencies, campaignId, options);
  return status === 'DRAFT' && sendable > 0 && sendable <= smallCampaign;
}

/** Safe to run again at any point; the campaign's next steps finish whatever this one leaves. */
export async function sendSmallCampaign(
  dependencies: Dependencies,
  campaignId: string,
  draining: () => boolean,
): Promise<void> {
  await beginCampaign(dependencies, campaignId);
  const open = await checkSendingHours(
    dependencies,
    campaignId,
    await getSendingHours(dependencies.database, campaignId),
  );
  if (!open.isOpen) return;
  const { drained } = await runSendStep(dependencies, campaignId, {
    budgetMs: smallBudgetMs,
    singleBatch: true,
    draining: () => draining() || open.isOver(),
  });
  if (drained) await settleCampaign(dependencies, campaignId);
}
