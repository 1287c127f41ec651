import type { RecipientState } from '../../domain/campaigns/recipient.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  countedStates,
  moveCounters,
  moveFailedReasons,
  type CountedState,
  type ReasonMove,
} from '../../records/campaigns/status-counters.ts';

import { addToMinute, type MinuteCount } from '../../records/campaigns/timeline.ts';

interface StateAndReason {
  readonly state: RecipientState;
  readonly reason: string | null;
}

/** One recipient's move from one state to another. */
export interface StateMove {
  readonly campaignId: string;
  readonly from: StateAndReason;
  readonly to: StateAndReason;
  /** Micro-units that the move took from the wallet; negative where it gave some back. */
  readonly charged: bigint;
}

/** Updates the counters and the counts by reason, so that they stay equal to counts of the recipient rows. */
export async function moveCampaignCounters(
  connection: Connection,
  moves: readonly StateMove[],
): Promise<void> {
  const counters = new Map<string, Record<CountedState, number>>();
  const charges = new Map<string, bigint>();
  const reasons = new Map<string, Map<string, number>>();
  for (const { campaignId, from, to, charged } of moves) {
    if (from.state === to.state && from.reason === to.reason && charged === 0n) continue;
    const counted = counters.get(campaignId) ?? noMoves();
    counters.set(campaignId, counted);
    addState(counted, from.state, -1);
    addState(counted, to.state, 1);
    charges.set(campaignId, (charges.get(campaignId) ?? 0n) + charged);
    const counts = reasons.get(campaignId) ?? new Map<string, number>();
    reasons.set(campaignId, counts);
    addReason(counts, from, -1);
    addReason(counts, to, 1);
  }
  await moveCounters(
    connection,
    [...counters].map(([campaignId, by]) => ({ campaignId, by, charged: charges.get(campaignId) ?? 0n })),
  );
  await moveFailedReasons(connection, [...reasons].flatMap(reasonMoves));
  await addToMinute(connection, minutesOf(moves));
}

/** Sums of these moves by campaign, to be added to the counters of the current minute. */
function minutesOf(moves: readonly StateMove[]): readonly MinuteCount[] {
  const counts = new Map<string, { -readonly [key in keyof MinuteCount]: MinuteCount[key] }>();
  for (const { campaignId, from, to, charged } of moves) {
    if (from.state === to.state && charged === 0n) continue;
    const count = counts.get(campaignId) ?? {
      campaignId,
      accepted: 0,
      delivered: 0,
      read: 0,
      failed: 0,
      charged: 0n,
    };
    counts.set(campaignId, count);
    count.charged += charged;
    if (from.state === to.state) continue;
    if (beforeAcceptance.has(from.state) && afterAcceptance.has(to.state)) count.accepted += 1;
    if (to.state === 'DELIVERED' || (to.state === 'READ' && from.state !== 'DELIVERED')) count.delivered += 1;
    if (to.state === 'READ') count.read += 1;
    if (to.state === 'FAILED') count.failed += 1;
  }
  return [...counts.values()];
}

const beforeAcceptance: ReadonlySet<RecipientState> = new Set(['PENDING', 'CLAIMED', 'UNKNOWN']);
const afterAcceptance: ReadonlySet<RecipientState> = new Set(['ACCEPTED', 'SENT', 'DELIVERED', 'READ']);

function noMoves(): Record<CountedState, number> {
  return Object.fromEntries(countedStates.map((state) => [state, 0])) as Record<CountedState, number>;
}

function addState(counted: Record<CountedState, number>, state: RecipientState, by: number): void {
  const name = countedStates.find((candidate) => candidate.toUpperCase() === state);
  if (name !== undefined) counted[name] += by;
}

/** FAILED and UNKNOWN recipients are counted by reason. */
function addReason(counts: Map<string, number>, { state, reason }: StateAndReason, by: number): void {
  if (reason === null || (state !== 'FAILED' && state !== 'UNKNOWN')) return;
  counts.set(reason, (counts.get(reason) ?? 0) + by);
}

function reasonMoves([campaignId, counts]: readonly [
  string,
  ReadonlyMap<string, number>,
]): readonly ReasonMove[] {
  return [...counts].filter(([, by]) => by !== 0).map(([reason, by]) => ({ campaignId, reason, by }));
}
