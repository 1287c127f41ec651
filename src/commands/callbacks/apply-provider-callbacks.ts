/**
 * Applies the stored callbacks of all tenants. A batch is one transaction in which no statement waits long for a lock: an
 * opt-out must not wait because another tenant, an operator or a frozen process holds a lock.
 *
 *   a batch fails ──► its callbacks by channel, one transaction each
 *   a channel meets a lock ──► its urgent callbacks one by one; the others, and what is still locked, rest
 *   a channel fails otherwise ──► its callbacks one by one, element by element; an error is stored with the callback
 */
import { errorName, type Loop, startPollingLoop } from '../../concurrency/polling-loop.ts';
import { createWatermark, type Watermark } from '../../concurrency/watermark.ts';
import type { ConsentCategory } from '../../domain/contacts/consent.ts';
import { createConsentReader } from '../../domain/callbacks/consent-words.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import type { NotificationItem } from '../../provider/notification-item.ts';
import { readNotifications } from '../../provider/notification.ts';
import {
  claimProviderCallbacks,
  claimProviderCallbacksById,
  findWaitingCallback,
  markCallbackFailed,
  markCallbacksApplied,
  recentCallback,
  type StoredCallback,
} from '../../records/callbacks/provider-callbacks.ts';
import { noteOptOut, type Person } from '../../records/callbacks/sender-contacts.ts';
import type { Transaction } from '../../records/database/database.ts';
import { isDatabaseAway, isLockHeld } from '../../records/database/failure.ts';
import { limitLockWaits } from '../../records/database/lock-patience.ts';
import { findNotifiedChannels } from '../../records/workspaces/notified-channels.ts';
import { finishAfterCommit, nothingLeft } from './after-commit.ts';
import { applyItems, type CallbackDependencies, phoneNumberIdsOf } from './apply-items.ts';
import { resolveWaiting, WaitingRecipients } from './apply-statuses.ts';
import { consentTextOf } from './apply-inbound-message.ts';
import { personOf } from './recognise-sender.ts';
import { isOptOut } from './status-effects.ts';

const batch = { limit: 400, maxBytes: 1024 * 1024 };
/** How long one statement waits for a lock: in a batch of all tenants, in one channel's batch, in a single callback. */
const lockWaitMs = { batch: 200, channel: 50, alone: 20 };
/** After this many urgent callbacks of a channel met a lock, its others are not tried, so that they delay no other channel. */
const maxLocked = 3;
const defaultRestMs = 2_000;
const attempts = 3;

export interface PollOptions {
  /** How long a callback that met a lock rests, together with the channel's others. */
  readonly restMs?: number;
}

/**
 * One poll applies waiting callbacks, starting with those that may contain an opt-out, and returns how many it took. Any number
 * of workers may poll at once.
 */
export function createCallbackPoll(
  dependencies: CallbackDependencies,
  { restMs = defaultRestMs }: PollOptions = {},
): () => Promise<number> {
  const restingCallbacks = createRestingSet<bigint>(restMs);
  const restingChannels = createRestingSet<string>(restMs);
  const waiting = createWatermark<bigint>();
  return () => applyBatch(dependencies, { restingCallbacks, restingChannels, waiting });
}

interface RestingSet<T> {
  readonly add: (one: T) => void;
  readonly has: (one: T) => boolean;
  readonly list: () => readonly T[];
}

function createRestingSet<T>(ms: number): RestingSet<T> {
  const until = new Map<T, number>();
  const wake = (): void => {
    const now = performance.now();
    for (const [one, time] of until) if (time <= now) until.delete(one);
  };
  return {
    add: (one) => void until.set(one, performance.now() + ms),
    has(one) {
      wake();
      return until.has(one);
    },
    list() {
      wake();
      return [...until.keys()];
    },
  };
}

interface Queue {
  readonly restingCallbacks: RestingSet<bigint>;
  /** Channels whose callbacks met a lock. */
  readonly restingChannels: RestingSet<string>;
  readonly waiting: Watermark<bigint>;
}

interface ReadCallback extends StoredCallback {
  readonly items: readonly NotificationItem[];
  readonly channels: readonly string[];
}

async function applyBatch(dependencies: CallbackDependencies, queue: Queue): Promise<number> {
  const { database, logger } = dependencies;
  // Most polls find nothing, so the watermark query opens no transaction.
  const from = await queue.waiting.find(
    (mark) => findWaitingCallback(database, mark),
    () => recentCallback(database),
  );
  if (from === undefined) return 0;
  let claimed: readonly ReadCallback[] = [];
  let held: readonly ReadCallback[] = [];
  try {
    const done = await database.transaction(async (transaction) => {
      await limitLockWaits(transaction, lockWaitMs.batch);
      const except = queue.restingCallbacks.list();
      claimed = await readEach(await claimProviderCallbacks(transaction, { ...batch, except, from }));
      const ready = claimed.filter(
        ({ urgent, channels }) => urgent || !channels.some(queue.restingChannels.has),
      );
      held = claimed.filter((one) => !ready.includes(one));
      for (const { id } of held) queue.restingCallbacks.add(id);
      return ready.length === 0 ? nothingLeft : applyTogether(dependencies, transaction, ready);
    });
    await finishAfterCommit(dependencies, done);
    // A status may say that its person opted out.
    await noteWaitingOptOuts(
      dependencies,
      held.flatMap(({ items }) => items),
    );
  } catch (thrown) {
    const error = await unresolved(dependencies, thrown);
    if (error === undefined) return claimed.length;
    // No callback caused this failure; the next poll takes the same ones.
    if (claimed.length === 0 || isDatabaseAway(error)) throw error;
    logger.warn({ callbacks: claimed.length, error: errorName(error) }, 'callbacks are applied by channel');
    for (const group of byChannel(claimed)) await applyChannel(dependencies, queue, group);
  }
  return claimed.length;
}

/**
 * Returns undefined for WaitingRecipients that could be resolved; their callbacks still wait and are taken again. Otherwise
 * returns the error that remains.
 */
async function unresolved(dependencies: CallbackDependencies, error: unknown): Promise<unknown> {
  try {
    return (await resolveWaiting(dependencies, error, lockWaitMs.channel)) ? undefined : error;
  } catch (inner) {
    return inner;
  }
}

async function readEach(callbacks: readonly StoredCallback[]): Promise<readonly ReadCallback[]> {
  const read: ReadCallback[] = [];
  for (const callback of callbacks) {
    const items = await readNotifications([callback.body]);
    read.push({ ...callback, items, channels: phoneNumberIdsOf(items) });
  }
  return read;
}

function byChannel(callbacks: readonly ReadCallback[]): Iterable<readonly ReadCallback[]> {
  const groups = new Map<string, ReadCallback[]>();
  for (const callback of callbacks) {
    const key = callback.channels.toSorted().join(' ');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [callback]);
    else group.push(callback);
  }
  return groups.values();
}

async function applyTogether(
  dependencies: CallbackDependencies,
  transaction: Transaction,
  callbacks: readonly ReadCallback[],
) {
  const after = await applyItems(
    dependencies,
    transaction,
    callbacks.flatMap(({ items }) => items),
  );
  const ids = callbacks.map(({ id }) => id);
  await markCallbacksApplied(transaction, ids, after.erased);
  return after;
}

/** Applies the callbacks that still wait, in one transaction. */
async function applyAgain(
  dependencies: CallbackDependencies,
  callbacks: readonly ReadCallback[],
  waitMs: number,
): Promise<void> {
  const done = await dependencies.database.transaction(async (transaction) => {
    await limitLockWaits(transaction, waitMs);
    const waiting = new Set(
      (
        await claimProviderCallbacksById(
          transaction,
          callbacks.map(({ id }) => id),
        )
      ).map(({ id }) => id),
    );
    const mine = callbacks.filter(({ id }) => waiting.has(id));
    return mine.length === 0 ? nothingLeft : applyTogether(dependencies, transaction, mine);
  });
  await finishAfterCommit(dependencies, done);
}

/** Applies the callbacks of one channel. Throws if the database is down, in which case they still wait. */
async function applyChannel(
  dependencies: CallbackDependencies,
  queue: Queue,
  callbacks: readonly ReadCallback[],
): Promise<void> {
  try {
    return await applyAgain(dependencies, callbacks, lockWaitMs.channel);
  } catch (thrown) {
    const error = await unresolved(dependencies, thrown);
    if (error === undefined) return;
    if (!isLockHeld(error)) {
      if (isDatabaseAway(error)) throw error;
      for (const callback of callbacks)
        if (await meetsLock(dependencies, callback)) await rest(dependencies, queue, callback);
      return;
    }
  }
  let locked = 0;
  for (const callback of callbacks) {
    const isTried = locked < maxLocked && callback.urgent && callbacks.length > 1;
    if (isTried && !(await meetsLock(dependencies, callback))) continue;
    locked += 1;
    await rest(dependencies, queue, callback);
  }
}

/** Puts a callback aside until the lock may be gone. Meanwhile, claims skip the people whose opt-out it contains. */
async function rest(
  dependencies: CallbackDependencies,
  { restingCallbacks, restingChannels }: Queue,
  { id, items, channels }: ReadCallback,
): Promise<void> {
  restingCallbacks.add(id);
  for (const channel of channels) restingChannels.add(channel);
  await noteWaitingOptOuts(dependencies, items);
}

/** Applies the callback alone. Returns true if it met a lock and still waits. */
async function meetsLock(dependencies: CallbackDependencies, callback: ReadCallback): Promise<boolean> {
  try {
    await applyByElement(dependencies, callback);
    return false;
  } catch (thrown) {
    const error = await unresolved(dependencies, thrown);
    if (error !== undefined && !isLockHeld(error)) throw error;
    return error !== undefined;
  }
}

/**
 * Applies one callback element by element, each in its own transaction, so that a failing element does not block the others and
 * no element keeps locks while the next one waits. If the process dies in between, the elements are applied again, which has no
 * effect. Throws if the database is down or a row is locked.
 */
async function applyByElement(
  dependencies: CallbackDependencies,
  { id, items }: ReadCallback,
): Promise<void> {
  const erased: string[] = [];
  const problems: string[] = [];
  for (const [at, item] of items.entries()) {
    const outcome = await applyElement(dependencies, item);
    if ('problem' in outcome) problems.push(`element ${at} (${item.kind}): ${outcome.problem}`);
    else erased.push(...outcome.erased);
  }
  if (problems.length === 0) return markCallbacksApplied(dependencies.database, [id], erased);
  dependencies.logger.error(
    { callbackId: String(id), problems: problems.length },
    'callback not applied in full',
  );
  await markCallbackFailed(dependencies.database, { id, error: problems.slice(0, 20).join('\n') });
}

async function applyElement(
  dependencies: CallbackDependencies,
  item: NotificationItem,
): Promise<{ readonly erased: readonly string[] } | { readonly problem: string }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const after = await dependencies.database.transaction(async (transaction) => {
        await limitLockWaits(transaction, lockWaitMs.alone);
        return applyItems(dependencies, transaction, [item]);
      });
      await finishAfterCommit(dependencies, after);
      return after;
    } catch (error) {
      if (error instanceof WaitingRecipients || isDatabaseAway(error) || isLockHeld(error)) throw error;
      if (attempt >= attempts) return { problem: errorName(error) };
    }
  }
}

const idleMs = 50;
/** 500 ms: an idle installation polls a tenth as often; its first callback waits at most this long. */
const longestIdleMs = 500;

/** Worker loop that applies callbacks. It pauses between polls unless batches are full. */
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

/**
 * Records opt-outs of contacts that another transaction has locked, without touching the contact, so that the next claim
 * already skips these people.
 */
async function noteWaitingOptOuts(
  { config, database, now }: Pick<CallbackDependencies, 'config' | 'database' | 'now'>,
  items: readonly NotificationItem[],
): Promise<void> {
  const consentOf = createConsentReader(config);
  const people: {
    readonly person: Person;
    readonly category: ConsentCategory;
    readonly phoneNumberId: string | null;
    readonly at: Date;
  }[] = [];
  for (const item of items) {
    if (item.kind === 'preferences' && !item.subscribed)
      people.push({
        person: personOf(item),
        category: 'MARKETING',
        phoneNumberId: item.phoneNumberId,
        at: epochSeconds(item.timestamp) ?? now(),
      });
    if (item.kind === 'status' && item.failure !== null && isOptOut(item.failure))
      people.push({
        person: personOf({ waId: item.recipientId, userId: item.recipientUserId }),
        category: 'MARKETING',
        phoneNumberId: item.phoneNumberId,
        at: epochSeconds(item.timestamp) ?? now(),
      });
    const wish =
      item.kind === 'message' && item.groupId === null ? consentOf(consentTextOf(item)) : undefined;
    // Whether a word of double meaning counts is known only once the contact is.
    const isStop = wish?.kind === 'decision' && !wish.allows && wish.doubleWord === undefined;
    if (item.kind === 'message' && isStop)
      people.push({
        person: personOf({ waId: item.from, userId: item.fromUserId, parentUserId: item.fromParentUserId }),
        category: wish.category,
        phoneNumberId: item.phoneNumberId,
        at: epochSeconds(item.timestamp) ?? now(),
      });
  }
  if (people.length === 0) return;
  const channels = await findNotifiedChannels(database, phoneNumberIdsOf(items));
  for (const { person, category, phoneNumberId, at } of people) {
    const channel = channels.get(phoneNumberId ?? '');
    if (channel !== undefined) await noteOptOut(database, channel.workspaceId, { person, category, at });
  }
}
