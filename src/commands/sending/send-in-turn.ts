/**
 * Sending while the turn lasts: leases tokens, claims as many recipients, and sends each when its token falls due. Several
 * pages are in flight, so that database work and the provider's latency overlap.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { countRecipients } from '../../telemetry/metrics.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import { leaseTokens, type TokenLease } from '../../records/sending/channel-rate.ts';
import { noteAnswers } from '../../records/sending/channel-trouble.ts';
import { listKeptTurns } from '../../records/sending/channel-turns.ts';
import { claimPage, countOpenClaims, type ClaimedRecipient } from '../../records/sending/claims.ts';
import { recordPage, type MessageOutcome } from '../../records/sending/page-results.ts';
import type { SendingContext } from '../../records/sending/context.ts';
import { untilDone } from '../../records/database/until-done.ts';
import { createClockOffset } from './clock-offset.ts';
import { Gate } from './gate.ts';
import { judge, stateOf } from './message-outcome.ts';
import type { Sender, StepOptions } from './run-send-step.ts';
import { sendPage, type PageTokens } from './send-page.ts';
import { controlStep } from './step-control.ts';
import { pauseForBalance } from './stop-sending.ts';

export interface TurnOptions extends StepOptions {
  readonly context: SendingContext;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Steps of the channel that run, this one included. */
  readonly running: number;
}

const largestPage = 1_000;
/** Of what the places for unanswered messages let through. */
const pageSeconds = 0.25;
/** Of the channel's rate, the same for every step: by turns with the others' a page has the time that its claim takes. */
const leaseSeconds = 0.1;
/** Pages that have left, and whose answers are awaited or written. */
const pagesInFlight = 16;
/** How long a turn lasts while others wait for theirs. */
const shortTurnMs = 2_000;
/** Tokens, or a recipient, for which a step itself waits. */
const shortWaitMs = 1_000;
const reservationWaitMs = 2_000;
const placeWaitMs = 50;

type Tokens = TokenLease & PageTokens;

interface Ending {
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
  /** So long the channel lets nobody send. */
  readonly heldMs: number;
}

const goingOn: Ending = { drained: false, waitMs: 0, heldMs: 0 };

export type SendingTurn = ReturnType<typeof openTurn>;

export function openTurn(
  dependencies: Sender,
  { context, prices, running, budgetMs, draining }: TurnOptions,
) {
  const { database, config, provider, secrets, logger, metrics } = dependencies;
  const { workspace_id: workspaceId, campaign_id: campaignId, channel_id: channelId, epoch } = context;
  const startedAt = performance.now();
  const accessToken = secrets.decrypt(context.access_token_encrypted, `channel ${channelId}`);
  const render = compileRenderer(context.message_plan as MessagePlan);
  const placeOnOurClock = createClockOffset();
  let leaving = Promise.resolve();
  const recording = new Set<Promise<void>>();
  /** A page's results cannot be written: nothing more leaves, and the step fails. */
  let failure: { readonly error: unknown } | undefined;
  let left = context.pending;
  let tokensUsed = 0;
  let othersWait = false;

  const gate = new Gate({
    messagesPerSecond: context.messages_per_second,
    answerMs: context.answer_ms,
    steps: Math.max(2, running),
    most: Math.max(1, Math.ceil(config.providerConnections / 2)),
  });

  const control = controlStep({
    draining,
    noteAnswers: async (answers) => {
      const heldMs = await noteAnswers(database, { channelId, ...answers });
      if (answers.tries && heldMs === 0) await callKept();
      return heldMs;
    },
  });

  /** The channel is open again. Who is not told asks when the hold would have been over. */
  const callKept = async (): Promise<void> => {
    const kept = await listKeptTurns(database, channelId);
    await Promise.allSettled(kept.map((id) => dependencies.orchestrator.refreshCampaign(id)));
  };

  const lease = async (wanted: number): Promise<Tokens> => {
    const askedAt = performance.now();
    const answerWithinMs = config.providerTimeoutMs + shortWaitMs;
    const leased = await leaseTokens(database, { channelId, wanted, answerWithinMs });
    const offset = placeOnOurClock({ askedAt, theirs: leased.now, answeredAt: performance.now() });
    ({ othersWait } = leased);
    control.leased(leased);
    tokensUsed += leased.granted;
    return { ...leased, startsAt: leased.dueAt + offset };
  };

  const claim = async (limit: number) => {
    const claimId = randomUUID();
    const stop = metrics.claimSeconds.startTimer();
    const claimed = await claimPage(database, {
      claimId,
      campaignId,
      channelId,
      epoch,
      limit,
      prices,
      limited: context.limited,
    });
    stop({ outcome: claimed.kind });
    if (claimed.kind === 'stopped') control.stop();
    if (claimed.kind === 'page') {
      metrics.recipientChanges.inc({ state: 'claimed' }, claimed.recipients.length);
      left = claimed.pending;
    }
    return { ...claimed, claimId };
  };

  type Outcomes = ReadonlyMap<number, MessageOutcome>;
  const record = async (claimId: string, outcomes: Outcomes, final: boolean): Promise<void> => {
    const stop = metrics.recordSeconds.startTimer();
    // What the provider has answered must be written down, however long the database is away.
    await untilDone(() =>
      recordPage(database, { workspaceId, campaignId, channelId, claimId, outcomes, final }),
    );
    stop();
    const states = [...outcomes.values()].map(stateOf);
    countRecipients(metrics, states);
    left += states.filter((state) => state === 'PENDING').length;
    if (final) logger.info({ campaignId, claimId, recorded: outcomes.size }, 'page recorded');
  };

  const send = (recipient: ClaimedRecipient, heldBack: () => boolean) =>
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
      // It may wait for a connection for as long as a provider that hangs takes.
      heldBack,
    });

  const sendClaimed = (claimId: string, recipients: readonly ClaimedRecipient[], tokens: Tokens) => {
    const page = sendPage(
      {
        gate,
        send,
        stopped: control.stopped,
        // Without the database there are no tokens.
        lease: (wanted) => lease(wanted).catch(() => undefined),
        judge: (result, recipient) => {
          const verdict = judge(result, control.held() ? null : recipient.attempts);
          control.note(verdict, recipient);
          return verdict.outcome;
        },
        record: (outcomes, final) => record(claimId, outcomes, final),
      },
      recipients,
      // The one message that tries a channel is never too late.
      tokens.tries ? { ...tokens, startsAt: performance.now() } : tokens,
    );
    leaving = page.dispatched;
    const done = page.recorded
      .catch((error: unknown) => {
        failure ??= { error };
        control.stop();
      })
      .finally(() => recording.delete(done));
    recording.add(done);
  };

  /** Reservations of pages in flight may come free again: the wallet is dry only once they are settled. */
  const pauseWhenDry = async (tokens: Tokens): Promise<void> => {
    await Promise.all(recording);
    const until = performance.now() + reservationWaitMs;
    while (performance.now() < until && (await countOpenClaims(database, channelId)) > 0) await sleep(50);
    const again = await claim(1);
    if (again.kind === 'page') sendClaimed(again.claimId, again.recipients, tokens);
    if (again.kind !== 'unaffordable') return;
    await pauseForBalance(dependencies, context, again.available);
    control.stop();
  };

  const isOver = (): boolean => {
    const elapsed = performance.now() - startedAt;
    return control.stopped() || elapsed > budgetMs || (othersWait && elapsed > shortTurnMs);
  };

  const pageSize = (): number => {
    const ofRate = Math.max(1, Math.floor(context.messages_per_second * leaseSeconds));
    return Math.ceil(Math.min(left, largestPage, ofRate, gate.perSecond() * pageSeconds));
  };

  /** Whatever happens to the claiming, what was sent is recorded. */
  const claimAndRecord = async (): Promise<Ending> => {
    try {
      return await claimAndSend();
    } finally {
      await Promise.all(recording);
    }
  };

  const claimAndSend = async (): Promise<Ending> => {
    while (!isOver()) {
      // Pages in flight may still put somebody back.
      if (left <= 0) await Promise.all(recording);
      if (left <= 0) return { ...goingOn, drained: true };
      await leaving;
      if (recording.size >= pagesInFlight || gate.places() <= 0) {
        await Promise.race([...recording, sleep(placeWaitMs)]);
        continue;
      }
      const tokens = await lease(pageSize());
      if (tokens.granted === 0) {
        const waitMs = tokens.retryInMs;
        if (waitMs > shortWaitMs) return { ...goingOn, waitMs, heldMs: waitMs };
        await sleep(waitMs);
        continue;
      }
      const claimed = await claim(tokens.granted);
      if (claimed.kind === 'page') sendClaimed(claimed.claimId, claimed.recipients, tokens);
      if (claimed.kind === 'unaffordable') await pauseWhenDry(tokens);
      if (claimed.kind === 'limited') return { ...goingOn, waitMs: Math.max(shortWaitMs, claimed.moreInMs) };
      if (tokens.tries || claimed.kind === 'empty') await Promise.all(recording);
      if (claimed.kind !== 'empty') continue;
      const waitMs = claimed.retryInMs;
      if (waitMs === null) left = 0;
      else if (waitMs > shortWaitMs) return { ...goingOn, waitMs };
      else await sleep(Math.max(20, waitMs));
    }
    return goingOn;
  };

  return {
    /** Nothing more leaves. */
    stop: control.stop,
    async run() {
      const ending = await claimAndRecord();
      if (failure !== undefined) throw failure.error;
      const heldMs = Math.max(ending.heldMs, await control.settled());
      const { refusals } = control;
      const { answerMs } = gate;
      return { ...ending, heldMs, context, refusals, tokensUsed, answerMs, halt: control.halt() };
    },
  };
}
