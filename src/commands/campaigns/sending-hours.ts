/** Keeps a campaign's sending inside its windows. Nothing is computed for a campaign without one. */
import { nextOpenTime } from '../../domain/campaigns/sending-window.ts';
import type { Dependencies } from '../../dependencies.ts';
import { recordWindowOpening, type SendingHours } from '../../records/campaigns/sending-hours.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { leaveSlotQueue } from '../../records/sending/send-slots.ts';

/** 0.5 s: a request that leaves at the last moment still reaches the provider before the closing. */
const marginMs = 500;
/** 1 day: how long a campaign waits whose windows are never open together. A change of a window wakes its workflow sooner. */
const neverOpensMs = 86_400_000;

type Keeper = Pick<Dependencies, 'config' | 'database' | 'metrics'>;

export type OpenHours =
  | {
      readonly isOpen: true;
      /** True from `marginMs` before the closing: nothing more may be sent. */ readonly isOver: () => boolean;
    }
  | { readonly isOpen: false; readonly waitMs: number };

/** While a window is closed, the campaign leaves the channel's slot queue, and its record holds the next opening. */
export async function checkSendingHours(
  dependencies: Keeper,
  campaignId: string,
  { status, windows, now, askedAt, epoch, pending, claimed }: SendingHours,
): Promise<OpenHours> {
  // A campaign without pending recipients has nothing to send, and may be completed.
  if (windows.length === 0 || status !== 'RUNNING' || pending === 0)
    return { isOpen: true, isOver: () => false };
  const open = nextOpenTime(windows, new Date(now));
  const opensAt = open?.opensAt ?? new Date(now + neverOpensMs);
  const opensInMs = Math.ceil(opensAt.getTime() - now);
  const closesInMs = (open?.closesAt?.getTime() ?? Infinity) - now;
  if (opensInMs <= 0 && closesInMs > marginMs) {
    const overAt = askedAt + closesInMs - marginMs;
    return { isOpen: true, isOver: () => performance.now() >= overAt };
  }
  if (opensInMs <= 0) return { isOpen: false, waitMs: Math.ceil(closesInMs) };
  await recordWindowOpening(dependencies.database, { campaignId, epoch, opensAt });
  await leaveSlotQueue(dependencies.database, campaignId);
  if (claimed === 0) return { isOpen: false, waitMs: opensInMs };
  return { isOpen: false, waitMs: Math.min(opensInMs, await expireOpenClaims(dependencies, campaignId)) };
}

/** Moves expired claims of a crashed step to UNKNOWN although the window is closed. Returns ms until the next check. */
async function expireOpenClaims({ config, database, metrics }: Keeper, campaignId: string): Promise<number> {
  const graceSeconds = config.outcomeGraceSeconds;
  metrics.recipientChanges.inc(
    { state: 'unknown' },
    await expireClaims(database, { campaignId, graceSeconds }),
  );
  return graceSeconds * 1_000;
}
