/**
 * How late the messages of a step leave, compared with the tokens they hold, in ms. Messages keep their distance: if one
 * leaves late, all that follow do, and the channel's schedule must follow, or the next claim's messages would leave too close.
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

  /** Call it after a claim, which has read the schedule: of the earlier lag only `ms` are not in the schedule yet. */
  resetUnwritten(ms: number): void {
    this.#unwrittenMs = ms;
  }

  /** Calls `write` once enough lag has gathered; it stays unwritten if `write` returns false. */
  flush(write: (lagMs: number) => boolean): void {
    if (this.#unwrittenMs >= reportedLagMs && write(this.#unwrittenMs)) this.#unwrittenMs = 0;
  }
}
