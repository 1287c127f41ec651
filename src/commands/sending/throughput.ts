/** Estimates how many messages a send queue can put through: from the median time to an answer of the provider. */

/** 4: answers may take four times the median before the queue sends more slowly than the rate allows. */
const headroom = 4;
/** 8: the channel may always have this many unanswered messages, so that one slow answer does not stop it. */
const minUnanswered = 8;
/** 1.03: each answer moves the estimate by 3 %, up or down; it rests where half of the answers are slower. */
const step = 1.03;
const [minAnswerMs, maxAnswerMs] = [1, 10_000];
/** 1 s, or four medians if that is longer: a provider that gives no answer for so long counts as hanging. */
const stuckAfterMs = 1_000;

export interface ThroughputLimits {
  readonly messagesPerSecond: number;
  /** Median so far, in ms. */
  readonly answerMs: number;
  /** Share of the channel's unanswered messages that this step may have, 0 to 1. */
  readonly share: number;
  /** Connections of the process to the provider. */
  readonly connections: number;
}

export class ThroughputEstimator {
  readonly #limits: ThroughputLimits;
  #answerMs: number;

  constructor(limits: ThroughputLimits) {
    this.#limits = limits;
    this.#answerMs = limits.answerMs;
  }

  /** Median time to an answer, in ms. */
  get answerMs(): number {
    return this.#answerMs;
  }

  recordAnswer(tookMs: number): void {
    const moved = this.#answerMs * (tookMs > this.#answerMs ? step : 1 / step);
    this.#answerMs = Math.min(maxAnswerMs, Math.max(minAnswerMs, moved));
  }

  /** How many messages may be without an answer at a time. */
  maxUnanswered(): number {
    const { messagesPerSecond, share, connections } = this.#limits;
    const ofChannel = Math.max(minUnanswered, (messagesPerSecond * this.#answerMs * headroom) / 1_000);
    return Math.max(1, Math.min(connections, Math.ceil(ofChannel * share)));
  }

  perSecond(): number {
    return (this.maxUnanswered() * 1_000) / this.#answerMs;
  }

  /** How long the last answer may be ago, while others are due, before the provider counts as hanging. */
  stuckAfterMs(): number {
    return Math.max(stuckAfterMs, this.#answerMs * headroom);
  }
}
