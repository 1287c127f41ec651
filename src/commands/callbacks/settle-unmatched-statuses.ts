import type { Dependencies } from '../../dependencies.ts';
import { readStatus } from '../../provider/notification-messages.ts';
import { slowDown } from '../../records/sending/channel-rate.ts';
import type { Transaction } from '../../records/database/database.ts';
import { isDatabaseAway, isLockHeld } from '../../records/database/failure.ts';
import { limitLockWaits } from '../../records/database/lock-patience.ts';
import {
  claimExpiredStatuses,
  claimKnownStatuses,
  deleteUnmatchedStatuses,
  markUnmatchedStatusesEmitted,
  type UnmatchedStatus,
} from '../../records/callbacks/message-statuses.ts';
import { finishAfterCommit, nothingLeft, type AfterCommit } from './after-commit.ts';
import { applyStatuses, emitStatusEvents, resolveWaiting, WaitingRecipients } from './apply-statuses.ts';
import { changeConsents, stopsMarketing } from './change-subscription.ts';
import { matchStatuses, type RoutedStatus } from './match-statuses.ts';
import { errorName, startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import { applyStatusEffects } from './status-effects.ts';

type SettlingDependencies = Pick<Dependencies, 'database' | 'logger' | 'now' | 'orchestrator'> &
  Partial<Pick<Dependencies, 'metrics'>>;

/** 600 s: how long a status waits for our record of its message. */
const unmatchedSeconds = 600;

const limit = 500;
/** If a lock takes longer than this, the batch ends and its statuses are applied one by one. */
const lockWaitMs = 200;
const aloneLockWaitMs = 20;

interface UnmatchedWithItem {
  readonly unmatched: UnmatchedStatus;
  readonly status: RoutedStatus;
}

/**
 * Applies unmatched statuses whose message is known by now; if `withinSeconds` is given, only those younger than that. Returns
 * how many it applied.
 */
export async function applyUnmatchedStatuses(
  dependencies: SettlingDependencies,
  withinSeconds?: number,
): Promise<number> {
  let claimed: readonly UnmatchedStatus[] = [];
  try {
    const { applied, after } = await dependencies.database.transaction(async (transaction) => {
      await limitLockWaits(transaction, lockWaitMs);
      claimed = await claimKnownStatuses(transaction, { withinSeconds, limit });
      return applyKnown(dependencies, transaction, claimed);
    });
    await finishAfterCommit(dependencies, after);
    return applied;
  } catch (error) {
    if (await resolveWaiting(dependencies, error, lockWaitMs)) return 0;
    // If nothing was claimed, the database failed, not a status.
    if (claimed.length === 0 || isDatabaseAway(error)) throw error;
    dependencies.logger.warn(
      { statuses: claimed.length, error: errorName(error) },
      'unmatched statuses are applied one by one',
    );
    let applied = 0;
    for (const { id } of claimed) applied += await applyAlone(dependencies, { id, withinSeconds });
    return applied;
  }
}

/**
 * Applies one status in its own transaction. A status that fails is marked as emitted, so that it does not block others; one
 * that meets a lock stays unmatched.
 */
async function applyAlone(
  dependencies: SettlingDependencies,
  { id, withinSeconds }: { readonly id: bigint; readonly withinSeconds: number | undefined },
): Promise<number> {
  try {
    const { applied, after } = await dependencies.database.transaction(async (transaction) => {
      await limitLockWaits(transaction, aloneLockWaitMs);
      const claimed = await claimKnownStatuses(transaction, { withinSeconds, limit: 1, id });
      try {
        return await transaction.transaction((savepoint) => applyKnown(dependencies, savepoint, claimed));
      } catch (error) {
        if (error instanceof WaitingRecipients || isDatabaseAway(error) || isLockHeld(error)) throw error;
        dependencies.logger.error(
          { unmatchedStatusId: String(id), error: errorName(error) },
          'unmatched status not applied',
        );
        await markUnmatchedStatusesEmitted(transaction, [id]);
        return { applied: 0, after: nothingLeft };
      }
    });
    await finishAfterCommit(dependencies, after);
    return applied;
  } catch (error) {
    if (!isLockHeld(error) && !(await resolveWaiting(dependencies, error, lockWaitMs))) throw error;
    return 0;
  }
}

/** Locks in the order of `applyItems`: templates and campaigns, then contacts, then messages. */
async function applyKnown(
  dependencies: SettlingDependencies,
  transaction: Transaction,
  unmatched: readonly UnmatchedStatus[],
): Promise<{ readonly applied: number; readonly after: AfterCommit }> {
  const waiting = unmatched.flatMap(statusOf);
  const { known } = await matchStatuses(
    transaction,
    waiting.map(({ status }) => status),
  );
  const found = new Set([...known.values()].flatMap(({ statuses }) => statuses));
  const effects = await applyStatusEffects(dependencies, transaction, known.values());
  // Storing the choice of a person without a contact needs a secret, which the doctor does not have.
  const optedOut = effects.optedOut.flatMap(({ workspaceId, contactId }) =>
    contactId === null ? [] : [{ workspaceId, contactId, decision: stopsMarketing, at: null }],
  );
  await changeConsents(dependencies, transaction, optedOut);
  const applied = await applyStatuses(transaction, known, dependencies.now());
  for (const silence of effects.throttled) await slowDown(transaction, silence);
  const ids = waiting.filter(({ status }) => found.has(status)).map(({ unmatched: { id } }) => id);
  await deleteUnmatchedStatuses(transaction, ids);
  return { applied: ids.length, after: { ...effects, ...applied } };
}

/** Emits, once, the events of statuses whose message stayed unknown, with messageSource `unknown`. Returns how many. */
export async function emitUnknownStatuses(
  { database, now }: Pick<SettlingDependencies, 'database' | 'now'>,
  afterSeconds = unmatchedSeconds,
): Promise<number> {
  return database.transaction(async (transaction) => {
    const unmatched = await claimExpiredStatuses(transaction, { afterSeconds, limit });
    await emitStatusEvents(transaction, unmatched.flatMap(statusOf), now());
    await markUnmatchedStatusesEmitted(
      transaction,
      unmatched.map(({ id }) => id),
    );
    return unmatched.length;
  });
}

function statusOf(unmatched: UnmatchedStatus): readonly UnmatchedWithItem[] {
  const { body, channel_id: id, workspace_id: workspaceId, phone_number_id: phoneNumberId } = unmatched;
  const item = readStatus({ businessAccountId: null, phoneNumberId, field: 'messages' }, JSON.parse(body));
  return item.kind === 'status'
    ? [{ unmatched, status: { ...item, channel: { id, workspaceId, phoneNumberId } } }]
    : [];
}

const recentSeconds = 30;
const idleMs = 1_000;
const fullPollMs = 60_000;

/** Worker loop: checks recent statuses every second, all of them once a minute. */
export function startSettlingStatuses(dependencies: SettlingDependencies): Loop {
  let nextFullPoll = 0;
  return startPollingLoop({
    name: 'unmatched statuses',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      const full = performance.now() >= nextFullPoll;
      if (full) nextFullPoll = performance.now() + fullPollMs;
      const applied = await applyUnmatchedStatuses(dependencies, full ? undefined : recentSeconds);
      if (applied === limit) {
        // The batch was full, so check all again before treating any as unknown.
        nextFullPoll = 0;
        return true;
      }
      const emitted = await emitUnknownStatuses(dependencies);
      return applied > 0 || emitted === limit;
    },
  });
}
