/**
 * One step of sending a campaign: acquires a send slot of its channel, sends batches for some seconds, and releases the slot.
 * Any number of steps in any number of processes may ask; the slots decide which of them send.
 */
import { randomUUID } from 'node:crypto';
import { formatAmount, priceOf } from '../../domain/money.ts';
import { refusesMedia } from '../../domain/sending/provider-error.ts';
import { compileRenderer, type MessagePlan, offerEndsBy } from '../../domain/templates/plan.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { isLockHeld } from '../../records/database/failure.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { passGate } from '../../records/sending/failure-brake.ts';
import {
  findNextCountry,
  getSendingContext,
  type SendingContext,
} from '../../records/sending/sending-context.ts';
import { leaveSlotQueue, recordSlotUsage } from '../../records/sending/send-slots.ts';
import { expireProviderMedia } from '../../records/templates/provider-media.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { pauseBraked, pauseCampaignsOfChannels, pauseEndedOffer } from '../campaigns/change-campaign.ts';
import { createContactRenewal, type Sender } from './batch-claimer.ts';
import { planWithMedia } from '../messages/campaign-media.ts';
import { within } from '../../concurrency/within.ts';
import { handleRejections, handleStop } from './outcome-recorder.ts';
import { sendBatches, type SendingStep, type StepOptions } from './send-batches.ts';
import { requestSlot, SlotLease } from './slot-lease.ts';

export interface StepResult {
  /** No recipient is left to be claimed, now or later. */
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
}

export async function runSendStep(
  dependencies: Sender,
  campaignId: string,
  options: StepOptions,
): Promise<StepResult> {
  const { database, config, metrics } = dependencies;
  const stepId = randomUUID();
  const askedAt = performance.now();
  const context = await getSendingContext(database, campaignId);
  if (context.channel_blocked) {
    // The campaign was created and begun while the channel was being blocked, so the block did not see it.
    const { channel_id: channelId } = context;
    await database.transaction((transaction) =>
      pauseCampaignsOfChannels(dependencies, transaction, { channelIds: [channelId] }),
    );
    return { drained: false, waitMs: 0 };
  }
  if (context.pending > 0 && offerEndsBy(context.message_plan, new Date(context.now))) {
    await pauseEndedOffer(dependencies, campaignId);
    return { drained: false, waitMs: 0 };
  }
  if (context.is_braked) {
    // The process that recorded the failures ended before the pause.
    await pauseBraked(dependencies, [campaignId]);
    return { drained: false, waitMs: 0 };
  }
  if (context.pending > 0 && context.gate_left !== null && context.gate_left <= 0) {
    const gate = await passGate(database, campaignId);
    if (gate.kind === 'braked') await pauseBraked(dependencies, [campaignId]);
    return { drained: false, waitMs: gate.kind === 'closed' ? gate.waitMs : 0 };
  }
  const answeredAt = performance.now();
  const clock = { offsetMs: answeredAt - context.now, roundTripMs: answeredAt - askedAt };
  const prices = await findPrices(database, context.channel_id, context.template_category, {
    upcomingCategory: context.upcoming_category,
    upcomingCategoryAt: context.upcoming_category_at?.toISOString() ?? null,
    ttlSeconds: context.template_ttl_seconds,
  });

  if (context.pending > 0 && (await isPausedForPrice(dependencies, context, prices)))
    return { drained: false, waitMs: 0 };

  // Before the slot, because a file may have to be uploaded again.
  const plan = (await planWithMedia(
    dependencies,
    {
      id: context.channel_id,
      phoneNumberId: context.phone_number_id,
      accessTokenEncrypted: context.access_token_encrypted,
    },
    context.message_plan as MessagePlan | null,
  )) as MessagePlan;

  const answer = await requestSlot(database, { campaignId, stepId }, options.singleBatch === true);
  if (answer.kind === 'busy') return { drained: false, waitMs: answer.retryMs };
  if (answer.kind === 'not_running') {
    await leaveSlotQueue(database, campaignId);
    return { drained: false, waitMs: 0 };
  }
  const slot = { campaignId, stepId, slotNumber: answer.slotNumber, channelId: context.channel_id };
  const lease = new SlotLease(dependencies, slot);
  try {
    if (context.claimed > 0) {
      const grace = { campaignId, graceSeconds: config.outcomeGraceSeconds };
      const expired = await expireClaims(database, grace).catch((error: unknown) => {
        if (isLockHeld(error)) return 0;
        throw error;
      });
      metrics.recipientChanges.inc({ state: 'unknown' }, expired);
    }
    const media = renewalOfMedia(dependencies, context, plan);
    const send = media.watch(sendMessagesOf(dependencies, context, plan));
    const renewal = createContactRenewal(plan);
    return await sendAndRelease(dependencies, {
      options: { ...options, draining: () => options.draining() || media.isStale() },
      lease,
      context,
      clock,
      prices,
      send,
      renewal,
    });
  } catch (error) {
    // Nothing is in flight any more. Without this release, the channel would send nothing until the lease expires.
    await lease.release(0);
    throw error;
  } finally {
    lease.stopRenewing();
  }
}

/**
 * Ends the step once the provider refuses the id of a file that the plan uses: the next step uploads the file again. Until
 * then refused messages are released; a file that was uploaded a moment ago is not to blame, unless another step has renewed it since
 * this one read its id.
 */
function renewalOfMedia(
  { database }: Pick<Sender, 'database'>,
  { channel_id }: SendingContext,
  plan: MessagePlan,
) {
  const files = (plan?.media ?? []).flatMap(({ id, ...file }) => (id === undefined ? [] : [{ ...file, id }]));
  let expiring: Promise<boolean> | undefined;
  let stale = false;
  return {
    isStale: () => stale,
    watch(send: SendingStep['send']): SendingStep['send'] {
      if (files.length === 0) return send;
      return async (...message) => {
        const result = await send(...message);
        const isRefused =
          result.kind === 'rejected' &&
          refusesMedia(result.code, `${result.message} ${result.details ?? ''}`);
        if (!isRefused) return result;
        expiring ??= expireProviderMedia(database, channel_id, files);
        stale = await expiring.catch(() => false);
        return stale ? { kind: 'unreachable', cause: 'held back' } : result;
      };
    },
  };
}

/**
 * Pauses the campaign if the provider has changed the category of its template and a message costs more than before. Does
 * nothing if the campaign was paused or started again since the step read it.
 */
async function isPausedForPrice(
  { database, logger }: Pick<Sender, 'database' | 'logger'>,
  {
    campaign_id: campaignId,
    channel_id,
    epoch,
    priced_category: before,
    template_category: category,
    template_ttl_seconds: ttlSeconds,
  }: SendingContext,
  prices: ReadonlyMap<string, bigint>,
): Promise<boolean> {
  if (before === null || before === category) return false;
  const former = await findPrices(database, channel_id, before, { ttlSeconds });
  const rises = [...new Set([...former.keys(), ...prices.keys()])].map((country) => ({
    country,
    was: priceOf(former, country),
    is: priceOf(prices, country),
  }));
  const [most] = rises.toSorted((one, other) => Number(other.is - other.was - (one.is - one.was)));
  if (most === undefined || most.is <= most.was) return false;
  const next = await findNextCountry(database, campaignId);
  const known = next !== undefined && {
    country: next,
    was: priceOf(former, next),
    is: priceOf(prices, next),
  };
  const { country, was, is } = known !== false && known.is > known.was ? known : most;
  return database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch || campaign.status !== 'RUNNING') return true;
    await moveCampaign(transaction, campaign, 'pause', 'PRICE_RAISED', {
      category_before: before,
      category,
      country,
      price_before: formatAmount(was),
      price: formatAmount(is),
    });
    logger.warn({ campaignId, before, category, pauseReason: 'PRICE_RAISED' }, 'campaign paused');
    return true;
  });
}

function sendMessagesOf(
  { provider, secrets }: Sender,
  context: SendingContext,
  plan: MessagePlan,
): SendingStep['send'] {
  const accessToken = secrets.decrypt(context.access_token_encrypted, `channel ${context.channel_id}`);
  const render = compileRenderer(plan);
  return (recipient, isReleased) =>
    provider.sendMessage({
      phoneNumberId: context.phone_number_id,
      accessToken,
      to: recipient.to,
      marketing: context.marketing_endpoint && context.template_category === 'MARKETING',
      template: {
        name: context.template_name,
        language: context.template_language,
        components: render(recipient.variables ?? []),
      },
      callbackData: recipient.id,
      // While the provider hangs, a message may wait for a connection up to the time limit, and be released in the meantime.
      heldBack: isReleased,
    });
}

/** 1 s: how long outcomes may keep the slot from other campaigns. */
const recordBeforePauseMs = 1_000;

async function sendAndRelease(dependencies: Sender, step: SendingStep): Promise<StepResult> {
  const { lease, context } = step;
  const sent = await sendBatches(dependencies, step);
  const { drained, waitMs, channelWaitMs, tokensUsed, answerMs, stopReason, failure } = sent;
  let othersSignalled = false;
  try {
    if (failure !== undefined) throw failure.error;
    // Records outcomes first, so that whoever sees the pause also sees them, unless Postgres takes too long.
    if (sent.rejections.length > 0 || stopReason !== undefined)
      await within(recordBeforePauseMs, sent.tryToRecord());
    await handleRejections(dependencies, context, sent.rejections);
    if (stopReason !== undefined) await handleStop(dependencies, context, stopReason);
    // If nothing could be sent, the slot stays reserved for the campaign: other campaigns could not send either.
    othersSignalled = await lease.release(tokensUsed === 0 ? channelWaitMs : 0);
  } catch (error) {
    await lease.release(0);
    throw error;
  } finally {
    // After the release: an outcome that Postgres refuses for good must not keep the channel's other campaigns waiting.
    await sent.recorded();
  }
  const couldSendMore = !drained && waitMs === 0 && channelWaitMs === 0 && stopReason === undefined;
  const waits = couldSendMore && (!lease.isHeld() || othersSignalled);
  const usage = { tokensUsed, answerMs, drained, waits };
  const retryMs = await recordSlotUsage(dependencies.database, lease.slot, usage);
  return { drained, waitMs: Math.max(waitMs, channelWaitMs, waits ? retryMs : 0) };
}
