/**
 * One step of sending a campaign: takes the campaign's turn on its channel, sends for a few seconds and hands the turn on.
 * Any number of steps, in any number of processes, may ask; at most four of a channel send at a time.
 */
import { randomUUID } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import {
  endTurn,
  leaveQueue,
  renewEveryMs,
  renewTurn,
  takeTurn,
  type HeldTurn,
} from '../../records/sending/channel-turns.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { getSendingContext } from '../../records/sending/context.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { openTurn, type SendingTurn } from './send-in-turn.ts';
import { applyHalt, applyRefusals } from './stop-sending.ts';

export interface StepOptions {
  /** No page is claimed after this long. */
  readonly budgetMs: number;
  /** True when the process is about to end: nothing more leaves. */
  readonly draining: () => boolean;
}

export interface StepResult {
  /** Nobody is left to be claimed, now or later. */
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
  /** Nobody waits for a turn of the channel: a second step beside the next one is welcome. */
  readonly room: boolean;
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
  const taken = await takeTurn(database, { campaignId, stepId });
  if (taken === null) {
    await leaveQueue(database, campaignId);
    return { drained: false, waitMs: 0, room: false };
  }
  const { place, running } = taken;
  if (place === null) return { drained: false, waitMs: taken.ask_again_ms, room: false };
  const expired = await expireClaims(database, { campaignId, graceSeconds: config.outcomeGraceSeconds });
  metrics.recipientChanges.inc({ state: 'unknown' }, expired);
  const context = await getSendingContext(database, campaignId);
  const prices = await findPrices(database, context.workspace_id, context.template_category);
  const turn = { campaignId, stepId, place, channelId: context.channel_id };
  const sending = openTurn(dependencies, { ...options, context, prices, running });
  const renewing = setInterval(() => {
    // Whoever stood still for longer than a lease may be one too many.
    const lost = (renewed: boolean) => void (renewed || sending.stop());
    renewTurn(database, turn).then(lost, () => undefined);
  }, renewEveryMs);
  try {
    return await sendAndHandOn(dependencies, turn, sending);
  } finally {
    clearInterval(renewing);
  }
}

async function sendAndHandOn(
  dependencies: Sender,
  turn: HeldTurn,
  sending: SendingTurn,
): Promise<StepResult> {
  const { database, orchestrator, logger } = dependencies;
  const { campaignId } = turn;
  const { context, drained, waitMs, heldMs, halt, refusals, ...used } = await sending.run();
  await applyRefusals(dependencies, context, refusals);
  if (halt !== undefined) await applyHalt(dependencies, context, halt);
  const ended = await endTurn(database, turn, {
    ...used,
    goesOn: !drained && waitMs === 0 && halt === undefined,
    keepMs: heldMs,
  });
  if (drained) await leaveQueue(database, campaignId);
  if (ended.next !== null) {
    // Who is not told asks by itself, later.
    await orchestrator.refreshCampaign(ended.next).catch((error: unknown) => {
      logger.warn({ campaignId: ended.next, error: String(error) }, 'a campaign was not told of its turn');
    });
  }
  return { drained, waitMs: Math.max(waitMs, heldMs, ended.ask_again_ms ?? 0), room: ended.room };
}
