import { createWatermark, type Watermark } from '../../concurrency/watermark.ts';
import { readNotifications } from '../../provider/notification.ts';
import type { NotificationItem } from '../../provider/notification-item.ts';
import type { Transaction } from '../../records/database/database.ts';
import { isDatabaseAway, isLockHeld } from '../../records/database/failure.ts';
import { singlePatienceMs } from '../../records/database/lock-patience.ts';
import {
  claimProviderCallback,
  claimProviderCallbacks,
  findWaitingCallback,
  markCallbackFailed,
  markCallbacksApplied,
  recentCallback,
  type StoredCallback,
} from '../../records/callbacks/provider-callbacks.ts';
import { finishAfterCommit, nothingLeft } from './after-commit.ts';
import { resolveWaiting, WaitingRecipients } from './apply-statuses.ts';
import { applyItems, phoneNumberIdsOf, type AppliedItems, type CallbackDependencies } from './apply-items.ts';
import { noteWaitingOptOuts } from './note-waiting-opt-outs.ts';
import { errorName, startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';

const batch = { limit: 400, maxBytes: 1024 * 1024 };
const attempts = 3;
const heldRestMs = 2_000;

/**
 * One poll applies the oldest waiting callbacks and returns how many there were. Any number of workers may poll side by
 * side. A callback whose contact another transaction holds rests for `restMs`, and the callbacks of its channel with it.
 */
export function createCallbackPoll(
  dependencies: CallbackDependencies,
  { restMs = heldRestMs }: { readonly restMs?: number } = {},
): () => Promise<number> {
  const restingUntil = new Map<bigint, number>();
  const waiting = createWatermark<bigint>();
  return async () => {
    const now = performance.now();
    for (const [id, until] of restingUntil) if (until <= now) restingUntil.delete(id);
    const { taken, held } = await applyBatch(dependencies, [...restingUntil.keys()], waiting);
    for (const id of held) restingUntil.set(id, performance.now() + restMs);
    return taken;
  };
}

interface PollResult {
  readonly taken: number;
  /** Callbacks whose contacts another transaction holds. */
  readonly held: readonly bigint[];
}

async function applyBatch(
  dependencies: CallbackDependencies,
  except: readonly bigint[],
  waiting: Watermark<bigint>,
): Promise<PollResult> {
  const { database } = dependencies;
  let claimed: readonly StoredCallback[] = [];
  const held: bigint[] = [];
  try {
    // Most polls find nothing: the watermark query opens no transaction.
    const from = await waiting.find(
      (mark) => findWaitingCallback(database, mark),
      () => recentCallback(database),
    );
    if (from === undefined) return { taken: 0, held };
    const done = await database.transaction(async (transaction) => {
      claimed = await claimProviderCallbacks(transaction, { ...batch, except, from });
      if (claimed.length === 0) return nothingLeft;
      const items = await readNotifications(claimed.map(({ body }) => body));
      const after = await applyItems(dependencies, transaction, items);
      await markCallbacksApplied(
        transaction,
        claimed.map(({ id }) => id),
        after.erased,
      );
      return after;
    });
    await finishAfterCommit(dependencies, done);
  } catch (error) {
    if (await resolveWaiting(dependencies, error)) return { taken: claimed.length, held };
    // If nothing was claimed, the database failed, not a callback.
    if (claimed.length === 0) throw error;
    dependencies.logger.warn(
      { callbacks: claimed.length, error: errorName(error) },
      'callbacks are applied one by one',
    );
    held.push(...(await applyOneByOne(dependencies, claimed)));
  }
  return { taken: claimed.length, held };
}

/** After this many locked contacts of a channel in one poll, its other callbacks are set aside without trying. */
const mostLockedOfChannel = 3;

/**
 * Returns the callbacks whose contacts other transactions hold. A locked contact costs a short wait. The number of such waits is
 * limited for each channel, so that locked contacts of one workspace do not delay the others.
 */
async function applyOneByOne(
  dependencies: CallbackDependencies,
  callbacks: readonly StoredCallback[],
): Promise<readonly bigint[]> {
  const held: bigint[] = [];
  const locked = new Map<string, number>();
  for (const { id, body } of callbacks) {
    const items = (await readNotifications([body])).filter(({ kind }) => concernsContacts.has(kind));
    const channels = phoneNumberIdsOf(items);
    const isSetAside = channels.some((channel) => (locked.get(channel) ?? 0) >= mostLockedOfChannel);
    if (!isSetAside && (await applyAlone(dependencies, id)) === 'done') continue;
    held.push(id);
    for (const channel of channels) locked.set(channel, (locked.get(channel) ?? 0) + 1);
    await noteWaitingOptOuts(dependencies, items);
  }
  return held;
}

const concernsContacts: ReadonlySet<NotificationItem['kind']> = new Set([
  'message',
  'preferences',
  'echo',
  'identity',
]);

/**
 * Applies one callback element by element, so that a failing element does not block the others; its error is stored with the
 * callback. Throws when the database is away: the callback then still waits.
 */
async function applyAlone(dependencies: CallbackDependencies, id: bigint): Promise<'done' | 'held'> {
  try {
    await applyByElement(dependencies, id);
  } catch (error) {
    if (isLockHeld(error)) return 'held';
    if (!(await resolveWaiting(dependencies, error))) throw error;
  }
  return 'done';
}

async function applyByElement(dependencies: CallbackDependencies, id: bigint): Promise<void> {
  const after = await dependencies.database.transaction(async (transaction) => {
    const callback = await claimProviderCallback(transaction, id);
    if (callback === undefined) return [];
    const outcomes: AppliedItems[] = [];
    const problems: string[] = [];
    const items = await readNotifications([callback.body]);
    for (const [at, item] of items.entries()) {
      const outcome = await applyElement(dependencies, transaction, item);
      if ('problem' in outcome) problems.push(`element ${at} (${item.kind}): ${outcome.problem}`);
      else outcomes.push(outcome);
    }
    const erased = outcomes.flatMap((outcome) => outcome.erased);
    if (problems.length === 0) await markCallbacksApplied(transaction, [id], erased);
    else {
      dependencies.logger.error(
        { callbackId: String(id), problems: problems.length },
        'callback not applied in full',
      );
      await markCallbackFailed(transaction, { id, error: problems.slice(0, 20).join('\n') });
    }
    return outcomes;
  });
  for (const outcome of after) await finishAfterCommit(dependencies, outcome);
}

async function applyElement(
  dependencies: CallbackDependencies,
  transaction: Transaction,
  item: NotificationItem,
): Promise<AppliedItems | { readonly problem: string }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction.transaction((savepoint) =>
        applyItems(dependencies, savepoint, [item], singlePatienceMs),
      );
    } catch (error) {
      if (error instanceof WaitingRecipients || isDatabaseAway(error) || isLockHeld(error)) throw error;
      if (attempt >= attempts) return { problem: errorName(error) };
    }
  }
}

const idleMs = 50;
/** 500 ms: an idle installation polls a tenth as often, and its first callback waits at most this long. */
const longestIdleMs = 500;

/** Worker loop that applies callbacks. It pauses between polls while few arrive, and not at all while batches are full. */
export function startApplyingCallbacks(dependencies: CallbackDependencies): Loop {
  const applyNext = createCallbackPoll(dependencies);
  return startPollingLoop({
    name: 'provider callbacks',
    logger: dependencies.logger,
    idleMs,
    longestIdleMs,
    work: async () => {
      const applied = await applyNext();
      return applied === 0 ? 'empty' : applied >= batch.limit / 2;
    },
  });
}
