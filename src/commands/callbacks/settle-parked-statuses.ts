import type { Dependencies } from '../../dependencies.ts';
import type { NewEvent } from '../../codecs/event-data.ts';
import { readNotification } from '../../provider/notification.ts';
import { slowDown } from '../../records/sending/channel-rate.ts';
import type { Transaction } from '../../records/database/database.ts';
import { isDatabaseAway, isLockHeld } from '../../records/database/failure.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import { waitBriefly } from '../../records/database/lock-patience.ts';
import {
  claimExpiredStatuses,
  claimKnownStatuses,
  deleteParkedStatuses,
  markParkedStatusesEmitted,
  type ParkedStatus,
} from '../../records/callbacks/parked-statuses.ts';
import { finishAfterCommit, nothingLeft, type AfterCommit } from './after-commit.ts';
import { optOut, statusNotice } from './apply-items.ts';
import { applyStatuses, resolveWaiting, WaitingRecipients } from './apply-statuses.ts';
import { changeSubscriptions } from './change-subscription.ts';
import { matchStatuses, type StatusNotice } from './match-statuses.ts';
import { errorName, startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import { applyStatusEffects } from './status-effects.ts';
import { statusEvents } from './status-events.ts';

type Settler = Pick<Dependencies, 'database' | 'logger' | 'now' | 'orchestrator'> &
  Partial<Pick<Dependencies, 'metrics'>>;

/** How long a status of an unknown message waits for our own record of it. */
export const parkingSeconds = 600;

const limit = 500;

interface ParkedNotice {
  readonly parked: ParkedStatus;
  readonly notice: StatusNotice;
}

/** Applies parked statuses, those younger than `withinSeconds` if it is given, whose message is known by now; returns how many. */
export async function applyParkedStatuses(dependencies: Settler, withinSeconds?: number): Promise<number> {
  let claimed: readonly ParkedStatus[] = [];
  try {
    const { applied, after } = await dependencies.database.transaction(async (transaction) => {
      claimed = await claimKnownStatuses(transaction, { withinSeconds, limit });
      return applyKnown(dependencies, transaction, claimed);
    });
    await finishAfterCommit(dependencies, after);
    return applied;
  } catch (error) {
    if (await resolveWaiting(dependencies, error)) return 0;
    // Without a claim it is the database that failed, not what was to be applied.
    if (claimed.length === 0 || isDatabaseAway(error)) throw error;
    dependencies.logger.warn(
      { statuses: claimed.length, error: errorName(error) },
      'parked statuses are applied one by one',
    );
    let applied = 0;
    for (const { id } of claimed) applied += await applyAlone(dependencies, { id, withinSeconds });
    return applied;
  }
}

/** One that cannot be applied is put aside, so that it holds nothing up; one that waits for somebody else stays parked. */
async function applyAlone(
  dependencies: Settler,
  { id, withinSeconds }: { readonly id: bigint; readonly withinSeconds: number | undefined },
): Promise<number> {
  try {
    const { applied, after } = await dependencies.database.transaction(async (transaction) => {
      const claimed = await claimKnownStatuses(transaction, { withinSeconds, limit: 1, id });
      try {
        return await transaction.transaction((savepoint) => applyKnown(dependencies, savepoint, claimed));
      } catch (error) {
        if (error instanceof WaitingRecipients || isDatabaseAway(error) || isLockHeld(error)) throw error;
        dependencies.logger.error(
          { parkedStatusId: String(id), error: errorName(error) },
          'parked status not applied',
        );
        await markParkedStatusesEmitted(transaction, [id]);
        return { applied: 0, after: nothingLeft };
      }
    });
    await finishAfterCommit(dependencies, after);
    return applied;
  } catch (error) {
    if (!isLockHeld(error) && !(await resolveWaiting(dependencies, error))) throw error;
    return 0;
  }
}

/** In the order of `applyItems`: templates and campaigns, then people, then messages. */
async function applyKnown(
  dependencies: Settler,
  transaction: Transaction,
  parked: readonly ParkedStatus[],
): Promise<{ readonly applied: number; readonly after: AfterCommit }> {
  const notices = parked.flatMap(parkedNotice);
  const { known } = await matchStatuses(
    transaction,
    notices.map(({ notice }) => notice),
  );
  const found = new Set([...known.values()].flatMap((match) => match.notices));
  const effects = await applyStatusEffects(dependencies, transaction, known.values());
  const optedOut = effects.optedOut.flatMap(optOut);
  if (optedOut.length > 0) {
    await waitBriefly(transaction, () => changeSubscriptions(dependencies, transaction, optedOut));
  }
  const reached = await applyStatuses(transaction, known, dependencies.now());
  for (const silence of effects.throttled) await slowDown(transaction, silence);
  const applied = notices.filter(({ notice }) => found.has(notice)).map(({ parked: { id } }) => id);
  await deleteParkedStatuses(transaction, applied);
  const after = { pausedCampaigns: effects.paused, resync: effects.resync, reached };
  return { applied: applied.length, after };
}

/** Tells of statuses whose message stayed unknown, once, with messageSource `unknown`; returns how many. */
export async function emitUnknownStatuses(
  { database, now }: Pick<Settler, 'database' | 'now'>,
  afterSeconds = parkingSeconds,
): Promise<number> {
  return database.transaction(async (transaction) => {
    const parked = await claimExpiredStatuses(transaction, { afterSeconds, limit });
    await emitAsUnknown(transaction, parked.flatMap(parkedNotice), now());
    await markParkedStatusesEmitted(
      transaction,
      parked.map(({ id }) => id),
    );
    return parked.length;
  });
}

async function emitAsUnknown(
  transaction: Transaction,
  notices: readonly ParkedNotice[],
  occurredAt: Date,
): Promise<void> {
  const byWorkspace = new Map<number, NewEvent[]>();
  for (const { parked, notice } of notices) {
    const events = byWorkspace.get(parked.workspace_id) ?? [];
    byWorkspace.set(parked.workspace_id, events);
    events.push(...statusEvents([notice], { source: 'unknown', occurredAt }));
  }
  for (const [workspaceId, events] of byWorkspace) await emitEvents(transaction, workspaceId, events);
}

/** Read by the reader of callbacks, as if it came again. */
function parkedNotice(parked: ParkedStatus): readonly ParkedNotice[] {
  const { body, channel_id: id, workspace_id: workspaceId, phone_number_id: phoneNumberId } = parked;
  const value = `{"metadata":{},"statuses":[${body}]}`;
  const callback = `{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":${value}}]}]}`;
  return readNotification(Buffer.from(callback)).flatMap((item) =>
    item.kind === 'status'
      ? [{ parked, notice: statusNotice({ item, channel: { id, workspaceId, phoneNumberId } }) }]
      : [],
  );
}

const recentSeconds = 30;
const idleMs = 1_000;
const fullRoundMs = 20_000;

/** The loop of a worker. What was parked lately is looked at every second, the rest less often. */
export function startParkedStatusSettler(dependencies: Settler): Loop {
  let nextFullRound = 0;
  return startPollingLoop({
    name: 'parked statuses',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      const full = performance.now() >= nextFullRound;
      if (full) nextFullRound = performance.now() + fullRoundMs;
      const applied = await applyParkedStatuses(dependencies, full ? undefined : recentSeconds);
      if (applied === limit) {
        // There may be more, which must not be taken for unknown ones.
        nextFullRound = 0;
        return true;
      }
      const emitted = await emitUnknownStatuses(dependencies);
      return applied > 0 || emitted === limit;
    },
  });
}
