/**
 * How many messages of a step may be unanswered at a time: its share of four times what the channel's rate keeps on the wire
 * at its usual answer time. A provider that hangs has few of them.
 */
export interface GateOptions {
  readonly messagesPerSecond: number;
  /** The median so far. */
  readonly answerMs: number;
  /** Steps of the channel that run at the same time. */
  readonly steps: number;
  /** Whatever the rate, no more than there are connections for. */
  readonly most: number;
}

const headroom = 4;
const fewest = 8;
/** By how much one answer moves the median: half of them are above it, so that it comes to rest there. */
const drift = 1.03;
const [shortestMs, longestMs] = [1, 10_000];

export class Gate {
  readonly #options: GateOptions;
  #answerMs: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: GateOptions) {
    this.#options = options;
    this.#answerMs = options.answerMs;
  }

  get answerMs(): number {
    return this.#answerMs;
  }

  #capacity(): number {
    const { messagesPerSecond, steps, most } = this.#options;
    const ofChannel = Math.max(fewest, (messagesPerSecond * this.#answerMs * headroom) / 1_000);
    return Math.max(1, Math.min(most, Math.ceil(ofChannel / steps)));
  }

  places(): number {
    return this.#capacity() - this.#inside;
  }

  /** Messages a second for which there are places. */
  perSecond(): number {
    return (this.#capacity() * 1_000) / this.#answerMs;
  }

  /** Returns what `leave` has to be told. */
  enter(): number {
    this.#inside += 1;
    return performance.now();
  }

  leave(enteredAt: number, accepted: boolean): void {
    this.#inside -= 1;
    if (accepted) {
      const moved = this.#answerMs * (performance.now() - enteredAt > this.#answerMs ? drift : 1 / drift);
      this.#answerMs = Math.min(longestMs, Math.max(shortestMs, moved));
    }
    this.#waiting.shift()?.();
  }

  /** Calls once, when somebody leaves. */
  whenFree(call: () => void): void {
    this.#waiting.push(call);
  }
}
