import { type MessageSource, messageSources, type MessageStatusData } from '../../codecs/event.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  foldStatuses,
  pricedCategory,
  type ReportedPricing,
  type StatusOutcome,
} from '../../domain/callbacks/message-status.ts';
import {
  type ProviderStatus,
  providerReason,
  type RecipientState,
} from '../../domain/campaigns/recipient.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { Failure } from '../../domain/error.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import type { BrakeOutcome } from '../../domain/sending/failure-brake.ts';
import { settle, type SettlementEntry, type SettlementOutcome } from '../../domain/wallet/settlement.ts';
import type { NewEvent } from '../../domain/webhooks/new-event.ts';
import {
  deleteRetries,
  indexProviderMessages,
  type LockedMessage,
  lockMessages,
  lockRecipients,
  lockWaitingRecipients,
  type MessageChange,
  type StatusTarget,
  updateMessages,
  updateRecipients,
} from '../../records/callbacks/message-statuses.ts';
import {
  addToCampaignMoney,
  addToMinute,
  type CountedState,
  countedStates,
  type MinuteCount,
  type MoneyMove,
  moveCounters,
  moveFailedReasons,
  noStateMoves,
  type ReasonMove,
} from '../../records/campaigns/status-counters.ts';
import type { Connection, Database } from '../../records/database/database.ts';
import { limitLockWaits } from '../../records/database/lock-patience.ts';
import { listPrices, lockWallets } from '../../records/wallet/wallets.ts';
import {
  type BrakeDecisions,
  type CampaignOutcomes,
  countKnownOutcomes,
} from '../../records/sending/failure-brake.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import { countDelivered } from '../../records/wallet/comparison.ts';
import { type MoneyOfWallet, settleBatch } from '../wallet/settle-batch.ts';
import { deliveriesOf, hasArrived } from './count-deliveries.ts';
import type { RoutedStatus, StatusMatch } from './match-statuses.ts';

/** A message's record with the change that its statuses cause. */
interface Progress extends MessageChange {
  readonly before: LockedMessage;
  readonly outcome: StatusOutcome<RoutedStatus>;
}

/** Thrown for recipients that wait for a retry although the provider reports that their message was sent. */
export class WaitingRecipients extends Failure {
  readonly matches: readonly StatusMatch[];
  constructor(matches: readonly StatusMatch[]) {
    super('Recipients that went out wait for another attempt');
    this.matches = matches;
  }
}

/**
 * Applies statuses of known messages, in any order and with repetitions: state, money, counters, reasons, and one event per
 * message and status. Runs in the caller's transaction and locks in the order given in
 * docs/architecture.md. Throws WaitingRecipients, which `resolveWaiting` handles after the transaction.
 */
export async function applyStatuses(
  connection: Connection,
  matches: ReadonlyMap<string, StatusMatch>,
  occurredAt: Date,
): Promise<AppliedStatuses> {
  if (matches.size === 0) return nothingApplied;
  const recipients = await lockRecipients(connection, idsOf(matches, 'recipient'));
  requireNoneWaiting(matches, recipients);
  const messages = await lockMessages(connection, idsOf(matches, 'message'));
  return applyToLocked(connection, { locked: [...recipients, ...messages], matches, occurredAt });
}

export interface AppliedStatuses extends BrakeDecisions {
  /** New recipient states. */
  readonly reached: readonly RecipientState[];
}

const nothingApplied: AppliedStatuses = { reached: [], braked: [], woken: [] };

/**
 * Takes the recipients of `WaitingRecipients` out of the retry queue and applies their statuses. A recipient that is being
 * claimed now is skipped; the caller tries again after the claim.
 */
async function applyToWaiting(
  database: Database,
  waiting: readonly StatusMatch[],
  { occurredAt, lockWaitMs }: { readonly occurredAt: Date; readonly lockWaitMs: number },
): Promise<void> {
  const targets = waiting.map(({ target }) => target);
  await database.transaction(async (transaction) => {
    await limitLockWaits(transaction, lockWaitMs);
    await lockWallets(transaction, [...new Set(targets.map(({ channel_id }) => channel_id))]);
    const locked = await lockWaitingRecipients(transaction, {
      ids: targets.map(({ id }) => id),
      campaignIds: targets.flatMap(({ campaign_id }) => campaign_id ?? []),
    });
    const matches = new Map(waiting.map((match) => [match.target.id, match]));
    // What the failure brake decides here is done after the next outcome, and the outbox's loop wakes the workflow.
    await applyToLocked(transaction, { locked, matches, occurredAt });
  });
}

/** Returns true if the waiting recipients are resolved, so that the statuses can be applied again. */
export async function resolveWaiting(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  error: unknown,
  lockWaitMs: number,
): Promise<boolean> {
  if (!(error instanceof WaitingRecipients)) return false;
  await applyToWaiting(database, error.matches, { occurredAt: now(), lockWaitMs });
  return true;
}

/**
 * Throws WaitingRecipients if a recipient was not locked because it waits for a retry. `failed` statuses alone do not count:
 * they repeat a refusal that was in the response to the send.
 */
function requireNoneWaiting(
  matches: ReadonlyMap<string, StatusMatch>,
  locked: readonly LockedMessage[],
): void {
  const found = new Set(locked.map(({ id }) => id));
  const waiting = [...matches.values()].filter(
    ({ target, statuses }) =>
      target.kind === 'recipient' &&
      !found.has(target.id) &&
      statuses.some(({ status }) => status !== 'failed'),
  );
  if (waiting.length > 0) throw new WaitingRecipients(waiting);
}

interface Application {
  readonly locked: readonly LockedMessage[];
  readonly matches: ReadonlyMap<string, StatusMatch>;
  readonly occurredAt: Date;
}

async function applyToLocked(
  connection: Connection,
  { locked, matches, occurredAt }: Application,
): Promise<AppliedStatuses> {
  const progressed = locked.flatMap((before) => progressOf(before, matches));
  if (progressed.length === 0) return nothingApplied;

  // Nothing is emitted for an erased person, because every part of the event would name the person.
  const emitted = progressed.flatMap(({ target, outcome }) =>
    target.erased ? [] : outcome.fresh.map((status) => ({ status, target })),
  );
  await emitStatusEvents(connection, emitted, occurredAt);
  const money = await settleMessages(
    connection,
    progressed.map(({ target, after, outcome }) => ({
      target,
      message: after,
      pricing: outcome.pricing,
      pricedAt: statedAt(after, outcome),
    })),
  );
  const changes = (kind: StatusTarget['kind']): readonly MessageChange[] =>
    progressed
      .filter(({ target }) => target.kind === kind)
      .map(({ target, after }) => ({ target, after: { ...after, ...money.get(after.id) } }));
  await updateRecipients(connection, changes('recipient'));
  await updateMessages(connection, changes('message'));

  const recipients = progressed.filter(({ target }) => target.kind === 'recipient');
  await indexProviderMessages(connection, recipients.flatMap(newProviderId));
  await deleteRetries(connection, recipients.flatMap(endedRetry));
  await moveCampaignCounters(
    connection,
    recipients.map((progress) => stateMove(progress, money.get(progress.after.id)?.entries)),
  );
  await addToCampaignMoney(connection, moneyMoves(recipients, money));
  const moved = recipients.filter(({ before, after }) => before.state !== after.state);
  const decisions = await countKnownOutcomes(connection, knownOutcomes(moved, matches));
  await countDelivered(
    connection,
    deliveriesOf(
      progressed.map(({ target, before, after, outcome }) => ({
        target,
        before,
        after: { ...after, ...money.get(after.id) },
        pricing: outcome.pricing,
        at: deliveredAt(after, outcome) ?? occurredAt,
      })),
    ),
  );
  return { ...decisions, reached: moved.map(({ after }) => after.state) };
}

/**
 * The time whose prices count: of the delivery, also if the price came with `read`, which may be days later; before it, of the
 * status that stated the price. Null, which is now, if that time cannot be right.
 */
function statedAt(message: LockedMessage, outcome: StatusOutcome<RoutedStatus>): Date | null {
  const { pricing, fresh } = outcome;
  const stating = fresh.find((status) => status.pricing !== null && status.pricing === pricing);
  const stated = epochSeconds(stating?.timestamp ?? null);
  if (stated === null) return null;
  const arrived = reportedTime(outcome, 'delivered') ?? message.arrived_at;
  return plausible(message, arrived !== null && arrived < stated ? arrived : stated);
}

/** The time of the delivery, or of the reading of a message whose delivery is not reported. */
function deliveredAt(message: LockedMessage, outcome: StatusOutcome<RoutedStatus>): Date | null {
  const at = reportedTime(outcome, 'delivered') ?? message.arrived_at ?? reportedTime(outcome, 'read');
  return at === null ? null : plausible(message, at);
}

const reportedTime = ({ fresh }: StatusOutcome<RoutedStatus>, name: ProviderStatus): Date | null =>
  epochSeconds(fresh.find(({ status }) => status === name)?.timestamp ?? null);

/** Null if the time lies ahead; not before the acceptance. */
function plausible({ not_before: notBefore }: LockedMessage, at: Date): Date | null {
  if (at.getTime() > Date.now()) return null;
  return notBefore !== null && at < notBefore ? notBefore : at;
}

/** Outcomes that became known by statuses, in the order of the statuses. Each recipient counts once, by its first known outcome. */
function knownOutcomes(
  moved: readonly Progress[],
  matches: ReadonlyMap<string, StatusMatch>,
): readonly CampaignOutcomes[] {
  const order = new Map([...matches.keys()].map((id, at) => [id, at]));
  const inOrder = moved.toSorted(
    (one, other) => (order.get(one.after.id) ?? 0) - (order.get(other.after.id) ?? 0),
  );
  const outcomes = new Map<string, BrakeOutcome[]>();
  for (const { target, before, after } of inOrder) {
    const outcome = outcomeOf(before.state, after);
    if (outcome === undefined || target.campaign_id === null) continue;
    const present = outcomes.get(target.campaign_id) ?? [];
    outcomes.set(target.campaign_id, present);
    present.push(outcome);
  }
  return [...outcomes].map(([campaignId, known]) => ({ campaignId, outcomes: known }));
}

function outcomeOf(
  before: RecipientState,
  { id, state, reason, reason_detail }: LockedMessage,
): BrakeOutcome | undefined {
  if (before === 'FAILED') return undefined;
  if (state === 'FAILED')
    return {
      kind: 'failed',
      failure: { reason: reason ?? '', source: 'status', detail: reason_detail, recipientId: id },
    };
  const isNews = state === 'DELIVERED' || (state === 'READ' && before !== 'DELIVERED');
  return isNews ? { kind: 'delivered' } : undefined;
}

function idsOf(matches: ReadonlyMap<string, StatusMatch>, kind: StatusTarget['kind']): readonly string[] {
  return [...matches.values()].filter(({ target }) => target.kind === kind).map(({ target }) => target.id);
}

function progressOf(before: LockedMessage, matches: ReadonlyMap<string, StatusMatch>): readonly Progress[] {
  const match = matches.get(before.id);
  if (match === undefined) return [];
  const outcome = foldStatuses({ state: before.state, statusesSeen: before.statuses_seen }, match.statuses);
  if (outcome.fresh.length === 0) return [];
  const after = {
    ...before,
    ...reasonAfter(before, outcome),
    state: outcome.state,
    statuses_seen: outcome.statusesSeen,
    provider_message_id:
      before.provider_message_id ??
      (match.target.erased ? null : (match.statuses[0]?.providerMessageId ?? null)),
  };
  return [{ target: match.target, before, after, outcome }];
}

function reasonAfter(before: LockedMessage, outcome: StatusOutcome<RoutedStatus>) {
  if (outcome.failure !== null) {
    const { code, details } = outcome.failure;
    return { reason: providerReason(code), reason_detail: details === null ? null : cleanText(details, 500) };
  }
  if (outcome.state === before.state) return {};
  return { reason: null, reason_detail: null };
}

function newProviderId({ before, after }: Progress) {
  if (before.provider_message_id !== null || after.provider_message_id === null) return [];
  return [{ recipientId: after.id, providerMessageId: after.provider_message_id }];
}

function endedRetry({ target, before, after }: Progress) {
  if (before.state !== 'PENDING' || after.state === 'PENDING') return [];
  if (target.campaign_id === null || before.position === null) return [];
  return [{ campaignId: target.campaign_id, position: before.position }];
}

function stateMove({ target, before, after }: Progress, entries: readonly SettlementEntry[] = []): StateMove {
  const charged = entries.reduce((sum, { amount }) => sum - amount, 0n);
  return { campaignId: target.campaign_id ?? '', from: before, to: after, charged };
}

function moneyMoves(
  recipients: readonly Progress[],
  money: ReadonlyMap<string, SettlementOutcome>,
): readonly MoneyMove[] {
  return recipients.flatMap(({ target: { campaign_id: campaignId }, before, after }) => {
    const outcome = money.get(after.id);
    const refunds = outcome?.entries.filter(({ kind }) => kind === 'refund') ?? [];
    const isFree = hasArrived(after) && (outcome ?? after).price === 0n;
    const wasFree = hasArrived(before) && before.price === 0n;
    return campaignId === null
      ? []
      : [
          {
            campaignId,
            givenBack: refunds.reduce((sum, { amount }) => sum + amount, 0n),
            free: Number(isFree) - Number(wasFree),
          },
        ];
  });
}

/** A message whose state changed: `message` has the new state but still the old price and settlement. */
interface MovedMessage {
  readonly target: StatusTarget;
  readonly message: LockedMessage;
  readonly pricing: ReportedPricing | null;
  /** When the provider stated the price. */
  readonly pricedAt: Date | null;
}

/**
 * Settles messages whose state changed, at the price reported by the provider if there is one. Locks only the wallets that
 * change; the caller has locked the messages. Returns the new settlement by message id.
 */
async function settleMessages(
  connection: Connection,
  moved: readonly MovedMessage[],
): Promise<ReadonlyMap<string, SettlementOutcome>> {
  const priceOf = await reportedPrices(connection, moved);
  const requests = moved.map((candidate) => {
    const { target, message } = candidate;
    const reportedPrice = priceOf(candidate);
    return {
      target,
      message,
      settle: (wallet: MoneyOfWallet) => settle({ ...message, reportedPrice, ...wallet }),
      correctionReason: correctionReason(candidate),
      correctedCategory: correctedCategory(candidate),
    };
  });
  const due = requests.filter(({ message, settle: settleWith }) => {
    const outcome = settleWith({ available: unlimited, uncollected: 0n });
    return (
      outcome.settlement !== message.settlement ||
      outcome.price !== message.price ||
      outcome.entries.length > 0
    );
  });
  return settleBatch(connection, due);
}

const unlimited = 2n ** 62n;

function correctionReason(moved: MovedMessage): string {
  if (moved.pricing === null) return 'PRICING';
  const category = correctedCategory(moved);
  return category === undefined ? 'NOT_BILLABLE' : `CATEGORY_${category}`.slice(0, 100);
}

const correctedCategory = ({ pricing }: MovedMessage): string | undefined =>
  pricing?.billable === true ? pricedCategory(pricing.category).slice(0, 91) : undefined;

type PriceOf = (moved: MovedMessage) => bigint | null;

/** 15 minutes: every time zone's midnight is a multiple of it, so a card begins between two spans, never within one. */
const spanMs = 15 * 60 * 1_000;

const spanOf = ({ pricedAt }: MovedMessage): number | undefined =>
  pricedAt === null ? undefined : Math.floor(pricedAt.getTime() / spanMs);

/**
 * Converts the provider's pricing to a price on the card of the time at which it was stated; null if the card has no such
 * price.
 */
async function reportedPrices(connection: Connection, moved: readonly MovedMessage[]): Promise<PriceOf> {
  const keyOf = (one: MovedMessage) => `${one.target.channel_id} ${spanOf(one) ?? ''}`;
  const wanted = new Map<string, { readonly first: MovedMessage; readonly countries: Set<string> }>();
  for (const one of moved) {
    if (one.pricing?.billable !== true) continue;
    const known = wanted.get(keyOf(one)) ?? { first: one, countries: new Set() };
    wanted.set(keyOf(one), known);
    known.countries.add(one.target.country);
  }
  const cards = new Map<string, ReadonlyMap<string, bigint>>();
  for (const [key, { first, countries }] of wanted) {
    const span = spanOf(first);
    const at = span === undefined ? undefined : new Date(span * spanMs);
    const prices = await listPrices(connection, first.target.channel_id, [...countries], at);
    const card = prices.map(({ category, country, price }) => [`${category} ${country}`, price] as const);
    cards.set(key, new Map(card));
  }
  return (one) => {
    const { pricing, target } = one;
    if (pricing === null) return null;
    if (!pricing.billable) return 0n;
    const card = cards.get(keyOf(one));
    const category = pricedCategory(pricing.category);
    // A country without a price of its own for authentication from abroad has one price for all authentication.
    const categories =
      category === 'AUTHENTICATION_INTERNATIONAL' ? [category, 'AUTHENTICATION'] : [category];
    const prices = [target.country, ''].flatMap((country) =>
      categories.flatMap((name) => card?.get(`${name} ${country}`) ?? []),
    );
    return prices[0] ?? null;
  };
}

interface StateAndReason {
  readonly state: RecipientState;
  readonly reason: string | null;
}

/** One recipient's move from one state to another. */
interface StateMove {
  readonly campaignId: string;
  readonly from: StateAndReason;
  readonly to: StateAndReason;
  /** Micro-units that the move took from the wallet; negative if it gave some back. */
  readonly charged: bigint;
}

/** Updates the counters and the counts by reason, so that they always equal the recipient rows. */
export async function moveCampaignCounters(
  connection: Connection,
  moves: readonly StateMove[],
): Promise<void> {
  const counters = new Map<string, Record<CountedState, number>>();
  const charges = new Map<string, bigint>();
  const reasons = new Map<string, Map<string, number>>();
  for (const { campaignId, from, to, charged } of moves) {
    if (from.state === to.state && from.reason === to.reason && charged === 0n) continue;
    const counted = counters.get(campaignId) ?? { ...noStateMoves };
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

/** Sums these moves by campaign, to be added to the counters of the current minute. */
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

interface EmittedStatus {
  readonly status: RoutedStatus;
  /** Undefined for a message that is not ours. */
  readonly target?: StatusTarget;
}

/** Spec 6.3: one event per status, with the provider's own object inside. */
export async function emitStatusEvents(
  connection: Connection,
  statuses: readonly EmittedStatus[],
  occurredAt: Date,
): Promise<void> {
  const byWorkspace = new Map<number, NewEvent[]>();
  for (const { status, target } of statuses) {
    const { workspaceId } = status.channel;
    const events = byWorkspace.get(workspaceId) ?? [];
    byWorkspace.set(workspaceId, events);
    events.push(statusEvent(status, target, occurredAt));
  }
  for (const [workspaceId, events] of byWorkspace) await emitEvents(connection, workspaceId, events);
}

function statusEvent(
  { channel, raw, status, providerMessageId }: RoutedStatus,
  target: StatusTarget | undefined,
  occurredAt: Date,
): NewEvent {
  return {
    eventKey: status,
    occurredAt,
    data: {
      status: {
        ...raw,
        id: providerMessageId,
        status,
        // Both are strings by contract, but the provider may send a JSON number, and some people have no phone number.
        timestamp: textOf(raw['timestamp']),
        recipient_id: textOf(raw['recipient_id'] ?? raw['recipient_user_id']),
      },
      phoneNumberId: channel.phoneNumberId,
      messageSource: sourceOf(target?.source),
      messageId: target?.id ?? null,
      campaignId: target?.kind === 'recipient' ? target.campaign_id : null,
      contactId: target?.contact_id ?? null,
      providerEvent: { statuses: [raw as MessageStatusData['status']] },
    },
  };
}

function sourceOf(source: string | undefined): MessageSource {
  return messageSources.find((known) => known === source) ?? 'unknown';
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
