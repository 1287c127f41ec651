/** What became of a campaign's recipients, as shares of those that were sent to. */
import type { api } from '../../client.ts';

export interface Rates {
  /** Accepted by the provider or further. */
  readonly sent: number;
  /** Sent to or failed. */
  readonly done: number;
  /** Each between 0 and 1; undefined before anything was sent. */
  readonly delivered: number | undefined;
  readonly read: number | undefined;
  readonly failed: number | undefined;
}

export function ratesOf({ counters }: Pick<api.Campaign, 'counters'>): Rates {
  const { accepted, sent: handed, delivered, read, failed, unknown } = counters;
  const sent = accepted + handed + delivered + read;
  const done = sent + failed + unknown;
  const share = (part: number, whole: number) => (whole === 0 ? undefined : part / whole);
  return {
    sent,
    done,
    delivered: share(delivered + read, sent),
    read: share(read, sent),
    failed: share(failed, done),
  };
}

/** A campaign that ended without reaching half of its recipients is not shown in a calm colour. */
export function colourOf(campaign: Pick<api.Campaign, 'status' | 'counters'>): string | undefined {
  const { failed } = ratesOf(campaign);
  if (campaign.status !== 'COMPLETED' || failed === undefined) return undefined;
  if (failed === 1) return 'red';
  return failed > 0.5 ? 'orange' : undefined;
}
