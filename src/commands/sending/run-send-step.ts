/**
 * One step of sending a campaign: takes the campaign's turn on its channel, sends for some seconds and hands the turn on.
 * Any number of steps, in any number of processes, may ask; at most four of a channel send at a time, and one without end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../dependencies.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import {
  callNext,
  leaveTurn,
  leaveQueue,
  noteTurn,
  renewEveryMs,
  renewTurn,
  requeue,
  takeTurn,
  type HeldTurn,
  type Turn,
  type TurnRequest,
} from '../../records/sending/channel-turns.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { getSendingContext, type SendingContext } from '../../records/sending/context.ts';
import type { Connection } from '../../records/database/database.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { openTurn, type SendingTurn, type TurnOptions } from './send-in-turn.ts';
import { applyHalt, applyRefusals } from './stop-sending.ts';

/** How long, and how often, a step with few messages asks for a place. */
const fewWaitMs = 300;
const fewAgainMs = 30;

export interface StepOptions {
  /** After this long the step ends. */
  readonly budgetMs: number;
  /** The campaign's next step is called then, and begins while this one sends. */
  readonly isFollowed?: boolean;
  /** Sends to a few: asks for a place a moment long, and queues for none. */
  readonly few?: boolean;
  /** True when the process is about to end: nothing more leaves. */
  readonly draining: () => boolean;
}

export interface StepResult {
  /** Nobody is left to be claimed, now or later. */
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
}

export type Sender = Pick<
  Dependencies,
  'config' | 'database' | 'provider' | 'secrets' | 'logger' | 'orchestrator' | 'now' | 'metrics'
>;

export async function runSendStep(
  dependencies: Sender,
  campaignId: string,
  options: StepOptions,
): Promise<StepResult> {
  const { database, config, metrics } = dependencies;
  const stepId = randomUUID();
  const askedAt = performance.now();
  const context = await getSendingContext(database, campaignId);
  const answeredAt = performance.now();
  const clock = { offset: answeredAt - context.now, roundTripMs: answeredAt - askedAt };
  const prices = await findPrices(database, context.workspace_id, context.template_category);
  const taken = await takePlace(database, { campaignId, stepId }, options.few === true);
  if (taken === null) {
    await leaveQueue(database, campaignId);
    return { drained: false, waitMs: 0 };
  }
  const { place } = taken;
  if (place === null) return { drained: false, waitMs: taken.ask_again_ms };
  if (context.claimed > 0) {
    const expired = await expireClaims(database, { campaignId, graceSeconds: config.outcomeGraceSeconds });
    metrics.recipientChanges.inc({ state: 'unknown' }, expired);
  }
  const turn = { campaignId, stepId, place, channelId: context.channel_id };
  const callOn = (again: boolean) => tell(dependencies, () => callNext(database, turn, again));
  const send = messagesOf(dependencies, context);
  const sending = openTurn(dependencies, { ...options, turn, context, clock, prices, send, callOn });
  const renewing = setInterval(() => {
    // Whoever stood still for longer than a lease may be one too many.
    const lost = (renewed: boolean) => void (renewed || sending.leave());
    renewTurn(database, turn).then(lost, () => undefined);
  }, renewEveryMs);
  try {
    return await sendAndHandOn(dependencies, { turn, context, sending });
  } finally {
    clearInterval(renewing);
  }
}

function messagesOf({ provider, secrets }: Sender, context: SendingContext): TurnOptions['send'] {
  const accessToken = secrets.decrypt(context.access_token_encrypted, `channel ${context.channel_id}`);
  const render = compileRenderer(context.message_plan as MessagePlan);
  return (recipient, heldBack) =>
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
}

/** Of few messages a place is free again after a moment, and a step of its own would cost more than they do. */
async function takePlace(database: Connection, request: TurnRequest, few: boolean): Promise<Turn | null> {
  const givesUpAt = performance.now() + fewWaitMs;
  for (;;) {
    const taken = await takeTurn(database, request, few);
    if (!few || taken === null || taken.place !== null || performance.now() > givesUpAt) return taken;
    await sleep(fewAgainMs);
  }
}

interface Sending {
  readonly turn: HeldTurn;
  readonly context: SendingContext;
  readonly sending: SendingTurn;
}

async function sendAndHandOn(dependencies: Sender, { turn, context, sending }: Sending): Promise<StepResult> {
  const { drained, waitMs, heldMs, turnOver, halt, refusals, ...used } = await sending.run();
  await applyRefusals(dependencies, context, refusals);
  if (halt !== undefined) await applyHalt(dependencies, context, halt);
  // Whoever has sent, however little, lets the others wait for the channel, too.
  const keepMs = used.tokensUsed === 0 ? heldMs : 0;
  const called = await tell(dependencies, () => leaveTurn(dependencies.database, turn, keepMs));
  const goesOn = !drained && waitMs === 0 && heldMs === 0 && halt === undefined;
  const waits = goesOn && (turnOver || called);
  const askAgainMs = await noteTurn(dependencies.database, turn, { ...used, drained, waits });
  return { drained, waitMs: Math.max(waitMs, heldMs, waits ? askAgainMs : 0) };
}

/** False when no campaign waits. A campaign whose signal fails goes back into the wait queue, and asks again by itself. */
async function tell(
  { database, orchestrator, logger }: Sender,
  call: () => Promise<string | null>,
): Promise<boolean> {
  let next: string | null = null;
  try {
    next = await call();
    if (next !== null) await orchestrator.refreshCampaign(next);
    return next !== null;
  } catch (error) {
    logger.warn({ error: String(error) }, 'could not signal the next campaign of the channel');
    if (next !== null) await requeue(database, next).catch(() => undefined);
    return false;
  }
}
