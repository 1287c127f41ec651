import type { Dependencies } from '../../dependencies.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { foldStatuses, type StatusOutcome } from '../../domain/callbacks/message-status.ts';
import { providerReason, type RecipientState } from '../../domain/campaigns/recipient.ts';
import { limitLockWaits } from '../../records/database/lock-patience.ts';
import type { Connection, Database } from '../../records/database/database.ts';
import {
  deleteRetries,
  indexProviderMessages,
  lockMessages,
  lockRecipients,
  lockWaitingRecipients,
  updateMessages,
  updateRecipients,
  type LockedMessage,
  type MessageChange,
  type StatusTarget,
} from '../../records/callbacks/message-statuses.ts';
import { lockWallets } from '../../records/wallet/settlement.ts';
import type { StatusMatch, RoutedStatus } from './match-statuses.ts';
import { moveCampaignCounters, type StateMove } from '../campaigns/move-campaign-counters.ts';
import { settleMessages } from '../messages/settle-messages.ts';
import { emitStatusEvents } from './status-events.ts';
import { Failure } from '../../domain/error.ts';
import type { SettlementEntry } from '../../domain/wallet/settlement.ts';

/** A message's record with the change its statuses cause. */
interface Progress extends MessageChange {
  readonly before: LockedMessage;
  readonly outcome: StatusOutcome<RoutedStatus>;
}

/** Thrown for recipients that wait for another attempt although the provider reports that their message was sent. */
export class WaitingRecipients extends Failure {
  readonly matches: readonly StatusMatch[];
  constructor(matches: readonly StatusMatch[]) {
    super('Recipients that went out wait for another attempt');
    this.matches = matches;
  }
}

/**
 * Applies statuses of known messages in any order and with repetitions: state, money, counters, reasons, and one event per
 * message and status. Returns the new states of recipients. Runs in the caller's transaction and locks in the order of
 * docs/architecture.md. Throws WaitingRecipients, which `resolveWaiting` handles after the transaction.
 */
export async function applyStatuses(
  connection: Connection,
  matches: ReadonlyMap<string, StatusMatch>,
  occurredAt: Date,
): Promise<readonly RecipientState[]> {
  if (matches.size === 0) return [];
  const recipients = await lockRecipients(connection, idsOf(matches, 'recipient'));
  requireNoneWaiting(matches, recipients);
  const messages = await lockMessages(connection, idsOf(matches, 'message'));
  return applyToLocked(connection, { locked: [...recipients, ...messages], matches, occurredAt });
}

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
    await applyToLocked(transaction, { locked, matches, occurredAt });
  });
}

/** True when the waiting recipients are resolved, so that the statuses can be applied again. */
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
 * Throws WaitingRecipients if a recipient was not locked because it waits for another attempt. `failed` statuses alone do not
 * count: they repeat a refusal that the answer contained.
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
): Promise<readonly RecipientState[]> {
  const progressed = locked.flatMap((before) => progressOf(before, matches));
  if (progressed.length === 0) return [];

  // Every part of an event of an erased person would name the person.
  const emitted = progressed.flatMap(({ target, outcome }) =>
    target.erased ? [] : outcome.fresh.map((status) => ({ status, target })),
  );
  await emitStatusEvents(connection, emitted, occurredAt);
  const money = await settleMessages(
    connection,
    progressed.map(({ target, after, outcome }) => ({ target, message: after, pricing: outcome.pricing })),
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
  return recipients
    .filter(({ before, after }) => before.state !== after.state)
    .map(({ after }) => after.state);
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
