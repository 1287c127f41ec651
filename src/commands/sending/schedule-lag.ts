/**
 * How late the messages of a step leave, compared with the times of their tokens, in ms. Messages keep their distance: if one
 * leaves late, so do all that follow, and the channel's schedule must move as much, or the next claim's messages would follow
 * too closely.
 */
import { reportedLagMs } from '../../records/sending/channel-rate.ts';

export class ScheduleLag {
  #totalMs = 0;
  /** Lag not yet written to `channel_rate.next_at`. */
  #unwrittenMs = 0;

  get totalMs(): number {
    return this.#totalMs;
  }

  add(ms: number): void {
    this.#totalMs += ms;
    this.#unwrittenMs += ms;
  }

  /** After a claim: `ms`, by which the queue now runs later than the schedule, replaces the lag that was not yet written. */
  resetUnwritten(ms: number): void {
    this.#unwrittenMs = ms;
  }

  /** Calls `write` once enough lag has gathered; it stays unwritten if `write` returns false. */
  flush(write: (lagMs: number) => boolean): void {
    if (this.#unwrittenMs >= reportedLagMs && write(this.#unwrittenMs)) this.#unwrittenMs = 0;
  }
}
