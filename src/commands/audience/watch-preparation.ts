import type { Dependencies } from '../../dependencies.ts';
import { needsPreparation } from '../../records/audience/preparation.ts';

const pollEveryMs = 1_000;

export interface PreparationWatch {
  /** Aborts when the caller gives up, or when the campaign is cancelled or prepared elsewhere. */
  readonly signal: AbortSignal;
  readonly showProgress: (rows: () => number) => void;
  readonly end: () => void;
}

/** Sends a heartbeat each second, and stops the work as soon as the campaign needs no preparation any more. */
export function watchPreparation(
  { database }: Pick<Dependencies, 'database'>,
  campaignId: string,
  { heartbeat, signal }: { readonly heartbeat: (rows: number) => void; readonly signal: AbortSignal },
): PreparationWatch {
  let rows = (): number => 0;
  const stop = new AbortController();
  const timer = setInterval(() => {
    heartbeat(rows());
    needsPreparation(database, campaignId).then(
      (needed) => {
        if (!needed) stop.abort();
      },
      // Ignored: without the database the preparation itself fails.
      () => undefined,
    );
  }, pollEveryMs);
  return {
    signal: AbortSignal.any([signal, stop.signal]),
    showProgress: (count) => {
      rows = count;
    },
    end: () => clearInterval(timer),
  };
}
