/** Sends one message outside campaigns: claims it, waits for the channel's rate, sends it at most once, records the result. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorName, type Loop, startPollingLoop } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { providerReason } from '../../domain/campaigns/recipient.ts';
import { cleanText } from '../../domain/clean-text.ts';
import {
  Invalid,
  MessagingLimitReached,
  Overloaded,
  ProviderRefused,
  ProviderUnreachable,
} from '../../domain/error.ts';
import { providerErrorAction } from '../../domain/sending/provider-error.ts';
import { priceOf } from '../../domain/money.ts';
import { defaultTtlSeconds } from '../../domain/wallet/settlement.ts';
import { providerErrorOf, type SendRejected, type SendResult } from '../../provider/provider.ts';
import { learnIdsOfMessageRecipient } from '../../records/callbacks/identities.ts';
import type { Transaction } from '../../records/database/database.ts';
import { untilDone } from '../../records/database/until-done.ts';
import {
  claimMessage,
  expireClaimedMessages,
  type MessageResult,
  recordMessageResult,
} from '../../records/messages/outbound-messages.ts';
import { type SingleToken, slowDown, takeSingleToken } from '../../records/sending/channel-rate.ts';
import { recordAnswers } from '../../records/sending/circuit-breaker.ts';
import { lockQuota, takeQuota } from '../../records/sending/messaging-limit.ts';
import type { Template } from '../../records/templates/templates.ts';
import { findPrices, priceTerms } from '../../records/wallet/wallets.ts';
import type { Channel } from '../../records/workspaces/channels.ts';
import { applyRefusalEffects, type MessageRecipient } from './refusal-effects.ts';

export type SingleSender = Pick<
  Dependencies,
  'database' | 'provider' | 'secrets' | 'logger' | 'orchestrator' | 'now'
>;

export interface SingleMessage {
  readonly channel: Channel;
  readonly template: Template;
  /** In the provider's request format. */
  readonly components: readonly unknown[];
  readonly recipient: MessageRecipient;
  /** The messageSource in its events. */
  readonly source: 'api' | 'campaign';
  readonly campaignId: string | null;
  /** Called in the transaction that claims the message. */
  readonly onClaim?: (transaction: Transaction, messageId: string) => Promise<void>;
}

export type SingleSendOutcome =
  | {
      readonly kind: 'accepted';
      readonly messageId: string;
      readonly providerMessageId: string;
      /** `accepted`, or `held_for_quality_assessment` while the provider paces the template. */
      readonly status: string;
    }
  /** The message may have been sent. It is never sent again; a receipt may still show what happened. */
  | { readonly kind: 'unknown'; readonly messageId: string };

const longestWaitMs = 10_000;
const longestAnswerMs = 250;
const throttledAttempts = 3;
const longestSilenceMs = 2_000;

/**
 * Sends the message. Throws Invalid if the wallet does not cover it, MessagingLimitReached, Overloaded if too many single sends
 * wait for the channel, ProviderRefused, or ProviderUnreachable if certainly nothing was sent. The reservation is then released.
 */
export async function sendSingleMessage(
  dependencies: SingleSender,
  message: SingleMessage,
): Promise<SingleSendOutcome> {
  const { channel } = message;
  const accessToken = dependencies.secrets.decrypt(channel.accessTokenEncrypted, `channel ${channel.id}`);
  const messageId = await claim(dependencies, message);
  const result = await dispatch(dependencies, { message, messageId, accessToken }).catch(
    async (error: unknown) => {
      // The provider's client never throws once a request was written, so whatever throws here was not sent.
      await record(dependencies, messageId, unreachable);
      throw error;
    },
  );
  switch (result.kind) {
    case 'accepted': {
      const { providerMessageId, messageStatus: status, otherIds } = result;
      await record(dependencies, messageId, { state: 'ACCEPTED', providerMessageId });
      if (otherIds.length > 0) await learn(dependencies, messageId, otherIds);
      return { kind: 'accepted', messageId, providerMessageId, status };
    }
    case 'unknown':
      dependencies.logger.warn({ messageId, cause: result.cause }, 'outcome of a single send unknown');
      await record(dependencies, messageId, { state: 'UNKNOWN', detail: cleanText(result.cause, 500) });
      return { kind: 'unknown', messageId };
    case 'unreachable':
      logUnsent(dependencies, messageId, result.cause);
      await record(dependencies, messageId, unreachable);
      throw new ProviderUnreachable();
    case 'overloaded':
      await record(dependencies, messageId, { state: 'FAILED', reason: 'RATE_LIMITED', detail: null });
      throw result.error;
    case 'rejected':
      throw await refused(dependencies, { message, messageId, result });
  }
}

const tooManyRequests = 429;
const unreachable: MessageResult = { state: 'FAILED', reason: 'PROVIDER_UNREACHABLE', detail: null };

function logUnsent({ logger }: SingleSender, messageId: string, cause: string): void {
  logger.warn({ messageId, cause }, 'single send failed: the provider cannot be reached');
}

async function refused(
  dependencies: SingleSender,
  {
    message,
    messageId,
    result,
  }: { readonly message: SingleMessage; readonly messageId: string; readonly result: SendRejected },
): Promise<Error> {
  const { code, httpStatus, details, message: text } = result;
  // An HTTP error outside the provider's protocol comes from a gateway and says nothing about this message.
  if (code === httpStatus) {
    logUnsent(dependencies, messageId, `HTTP ${httpStatus}`);
    if (httpStatus !== tooManyRequests) {
      await record(dependencies, messageId, unreachable);
      return new ProviderUnreachable(httpStatus);
    }
    await record(dependencies, messageId, { state: 'FAILED', reason: 'RATE_LIMITED', detail: null });
    const waitSeconds = Math.max(1, Math.ceil((result.retryAfterMs ?? 0) / 1000));
    return new Overloaded('The messaging provider takes no more messages at the moment', waitSeconds);
  }
  const detail = cleanText(details ?? text, 1000);
  const error = providerErrorOf(result);
  await record(dependencies, messageId, { state: 'FAILED', reason: providerReason(code), detail, error });
  await applyRefusalEffects(dependencies, message, result);
  return new ProviderRefused(code, detail);
}

/** The account's messaging limit was set while the claim waited for the wallet. */
class LimitWasSet extends Error {}

/** Tries again, once, if the limit was set in the meantime. */
function claim(dependencies: SingleSender, message: SingleMessage): Promise<string> {
  return claimOnce(dependencies, message).catch((error: unknown) => {
    if (!(error instanceof LimitWasSet)) throw error;
    return claimOnce(dependencies, message);
  });
}

async function claimOnce({ database }: SingleSender, message: SingleMessage): Promise<string> {
  const { channel, template, recipient, source, campaignId, onClaim } = message;
  const messageId = randomUUID();
  const prices = await findPrices(database, channel.id, template.category, priceTerms(template));
  const price = priceOf(prices, recipient.country);
  await database.transaction(async (transaction) => {
    await onClaim?.(transaction, messageId);
    const { id: channelId, workspaceId } = channel;
    const quota = await lockQuota(transaction, channelId);
    if (quota !== null && !(await takeQuota(transaction, { ...recipient, channelId, workspaceId, quota })))
      throw new MessagingLimitReached(Math.max(1, Math.ceil(quota.moreInMs / 1000)));
    const claimed = await claimMessage(transaction, {
      id: messageId,
      workspaceId: channel.workspaceId,
      channelId: channel.id,
      source,
      campaignId,
      templateId: template.id,
      ...recipient,
      price,
      ttlSeconds: template.sendTtlSeconds ?? defaultTtlSeconds(template.category),
    });
    if (claimed === null) throw new Invalid('Insufficient wallet balance', [], 'insufficient_balance');
    if (claimed.limited && quota === null) throw new LimitWasSet();
  });
  return messageId;
}

type Dispatch = SendResult | { readonly kind: 'overloaded'; readonly error: Overloaded };

interface Dispatching {
  readonly message: SingleMessage;
  readonly messageId: string;
  readonly accessToken: string;
}

/** Waits for a token and sends. Retries only if the provider responds that the channel sends too fast. */
async function dispatch(
  { database, provider }: SingleSender,
  { message: { channel, template, components, recipient }, messageId, accessToken }: Dispatching,
): Promise<Dispatch> {
  for (let attempt = 1; ; attempt += 1) {
    const { waitMs, isFailing } = await takeTokenInTime(database, channel.id);
    if (waitMs > longestWaitMs) return { kind: 'overloaded', error: overloaded(waitMs) };
    if (waitMs > 0) await sleep(waitMs);
    const result = await provider.sendMessage({
      phoneNumberId: channel.phoneNumberId,
      accessToken,
      to: recipient.to,
      marketing: channel.marketingEndpoint && template.category === 'MARKETING',
      template: { name: template.name, language: template.language, components },
      callbackData: messageId,
    });
    // The provider accepts messages from this channel again, so its campaigns need not wait for the next probe.
    if (result.kind === 'accepted' && isFailing)
      await recordAnswers(database, {
        channelId: channel.id,
        succeeded: true,
        failures: 0,
        isProbe: false,
      }).catch(() => undefined);
    if (result.kind !== 'rejected') return result;
    const action = providerErrorAction(result, attempt);
    if (action.kind !== 'throttle') return result;
    await slowDown(database, { channelId: channel.id, holdMs: action.silenceMs });
    const pauseMs = Math.max(action.silenceMs, action.delayMs);
    if (attempt === throttledAttempts || pauseMs > longestSilenceMs) return result;
    await sleep(pauseMs);
  }
}

/**
 * Returns how long until the token falls due. If the database responded slowly, drops the token for a new one; otherwise all
 * sends that waited for the database would leave at once.
 */
async function takeTokenInTime(database: SingleSender['database'], channelId: string): Promise<SingleToken> {
  const startedAt = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const token = await takeSingleToken(database, { channelId, longestWaitMs });
    const answeredAt = performance.now();
    if (token.waitMs > longestWaitMs || answeredAt - askedAt <= longestAnswerMs) return token;
    if (answeredAt - startedAt > longestWaitMs)
      return { ...token, waitMs: longestWaitMs + Math.max(1, token.waitMs) };
  }
}

function overloaded(waitMs: number): Overloaded {
  return new Overloaded('Too many messages are waiting for this channel', Math.ceil(waitMs / 1000));
}

/** Stores the provider's ids of the recipient. If that fails, the message's statuses bring them again. */
async function learn(
  { database, logger }: SingleSender,
  messageId: string,
  providerIds: readonly string[],
): Promise<void> {
  try {
    await learnIdsOfMessageRecipient(database, messageId, providerIds);
  } catch (error) {
    logger.warn({ messageId, error: errorName(error) }, 'ids of a recipient not learned');
  }
}

const recordForMs = 10_000;

/**
 * Records the provider's response, with retries for 10 s while the database is down. If that fails, the message stays CLAIMED
 * and becomes UNKNOWN after the grace period; receipts may still update it.
 */
async function record(
  { database, logger }: SingleSender,
  messageId: string,
  result: MessageResult,
): Promise<void> {
  try {
    await untilDone(() => recordMessageResult(database, messageId, result), recordForMs);
  } catch (error) {
    logger.error(
      { messageId, state: result.state, error: errorName(error) },
      'result not recorded: receipts have to settle the message',
    );
  }
}

type SweepDependencies = Pick<Dependencies, 'config' | 'database' | 'logger'>;

const limit = 500;
const idleMs = 2_000;

/** Moves single sends whose process died to UNKNOWN after the grace period, and returns how many. */
export async function sweepMessages({ config, database, logger }: SweepDependencies): Promise<number> {
  const unknown = await expireClaimedMessages(database, { graceSeconds: config.outcomeGraceSeconds, limit });
  if (unknown > 0) logger.warn({ messages: unknown }, 'outcome of single sends unknown');
  return unknown;
}

export function startSweepingMessages(dependencies: SweepDependencies): Loop {
  return startPollingLoop({
    name: 'message sweep',
    logger: dependencies.logger,
    idleMs,
    work: async () => (await sweepMessages(dependencies)) === limit,
  });
}
