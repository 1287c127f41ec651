/** Delivered, read and failed recipients of a campaign as shares. */
import type { api } from '../../client.ts';

export interface Rates {
  /** Recipients whose message the provider accepted, whatever its later status. */
  readonly sent: number;
  /** Recipients that are sent, failed or of unknown outcome. */
  readonly done: number;
  /** Delivered and read are shares of `sent`, failed of `done`: between 0 and 1, undefined where that is 0. */
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

/** Red: all messages of a completed campaign failed. Orange: more than half did, or nothing moves although people wait. */
export function colourOf(
  campaign: Pick<api.Campaign, 'status' | 'counters' | 'waiting_for'>,
): string | undefined {
  if (campaign.waiting_for === 'WORKFLOW_STUCK') return 'orange';
  const { failed } = ratesOf(campaign);
  if (campaign.status !== 'COMPLETED' || failed === undefined) return undefined;
  if (failed === 1) return 'red';
  return failed > 0.5 ? 'orange' : undefined;
}
