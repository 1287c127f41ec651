/**
 * How many unanswered messages a channel may have, and how many messages a second that allows.
 *
 * A message is overtaken once a later one was answered: the provider is slow with it but still works. Two limits follow:
 * - messages that are not overtaken: rate × median answer time × 4, so that a provider that hangs has few of them;
 * - all messages: 10 s of the rate, and the channel's part of the process's connections, so that a few slow answers do not slow
 *   down the rest.
 */

/** 4: answers may take four times the median before the queue sends more slowly than the rate allows. */
const headroom = 4;
/** 8: the channel may always have this many unanswered messages, so that one slow answer does not stop it. */
const minUnanswered = 8;
/** 10 s of the rate: with half of the answers 25 s late, 0.8 of the rate is kept. */
const maxUnansweredSeconds = 10;
/** 1.03: each answer moves the estimate up or down by 3 %, so that it settles where half of the answers are slower. */
const step = 1.03;
const [minAnswerMs, maxAnswerMs] = [1, 10_000];
/** 1 s, or four medians if that is longer: a provider that gives no answer for this long counts as hanging. */
const stuckAfterMs = 1_000;
/** 2 s: about how long an answer counts towards the answer rate. */
const rateOverMs = 2_000;

interface ChannelTraffic {
  unanswered: number;
  /** Answers, each counting less as it ages. */
  recentAnswers: number;
  answeredAt: number;
}

/** A process's unanswered messages by channel. Steps of one channel overlap, so they share it. */
export class ProviderTraffic {
  readonly #channels = new Map<string, ChannelTraffic>();

  /** Channels with unanswered messages. */
  get channels(): number {
    return this.#channels.size;
  }

  unanswered(channelId: string): number {
    return this.#channels.get(channelId)?.unanswered ?? 0;
  }

  answersPerSecond(channelId: string): number {
    const channel = this.#channels.get(channelId);
    return channel === undefined ? 0 : (this.#decayed(channel) * 1_000) / rateOverMs;
  }

  begin(channelId: string): void {
    const channel = this.#channels.get(channelId);
    if (channel !== undefined) channel.unanswered += 1;
    else this.#channels.set(channelId, { unanswered: 1, recentAnswers: 0, answeredAt: performance.now() });
  }

  end(channelId: string): void {
    const channel = this.#channels.get(channelId);
    if (channel === undefined) return;
    channel.unanswered -= 1;
    channel.recentAnswers = this.#decayed(channel) + 1;
    channel.answeredAt = performance.now();
    if (channel.unanswered === 0) this.#channels.delete(channelId);
  }

  #decayed({ recentAnswers, answeredAt }: ChannelTraffic): number {
    return recentAnswers * Math.exp((answeredAt - performance.now()) / rateOverMs);
  }
}

export interface ThroughputLimits {
  readonly channelId: string;
  readonly traffic: ProviderTraffic;
  readonly messagesPerSecond: number;
  /** Median so far, in ms. */
  readonly answerMs: number;
  /** This step's share of the messages that are not overtaken, 0 to 1. */
  readonly share: number;
  /** Connections of the process to the provider. */
  readonly connections: number;
}

export class Throughput {
  readonly #limits: ThroughputLimits;
  #answerMs: number;
  #sent = 0;
  /** Numbers of the messages without an answer that are not overtaken, in the order in which they left. */
  readonly #fresh = new Set<number>();

  constructor(limits: ThroughputLimits) {
    this.#limits = limits;
    this.#answerMs = limits.answerMs;
  }

  /** Median time to an answer, in ms. */
  get answerMs(): number {
    return this.#answerMs;
  }

  /** Counts a message that leaves. Returns its number, for `end`. */
  begin(): number {
    this.#limits.traffic.begin(this.#limits.channelId);
    this.#sent += 1;
    this.#fresh.add(this.#sent);
    return this.#sent;
  }

  /** `isAnswer`: the provider has answered; otherwise the message was given up. */
  end(number: number, isAnswer: boolean): void {
    this.#limits.traffic.end(this.#limits.channelId);
    if (!isAnswer) this.#fresh.delete(number);
    else if (this.#fresh.has(number))
      for (const earlier of this.#fresh) {
        if (earlier > number) break;
        this.#fresh.delete(earlier);
      }
  }

  recordAnswerTime(tookMs: number): void {
    const moved = this.#answerMs * (tookMs > this.#answerMs ? step : 1 / step);
    this.#answerMs = Math.min(maxAnswerMs, Math.max(minAnswerMs, moved));
  }

  /** True if one more message may leave. */
  maySend(): boolean {
    return this.#fresh.size < this.#maxFresh() && this.#freeOfChannel() > 0;
  }

  /** Messages a second that can leave at the provider's current speed. */
  perSecond(): number {
    const { traffic, channelId } = this.#limits;
    const maxFresh = this.#maxFresh();
    const byAnswers = (maxFresh * 1_000) / this.#answerMs;
    const free = Math.max(0, this.#freeOfChannel());
    // Overtaken messages leave room for all others.
    if (free + this.#fresh.size >= maxFresh) return Math.max(1, byAnswers);
    return Math.max(1, Math.min(byAnswers, free + traffic.answersPerSecond(channelId)));
  }

  /** How long ago the last answer may be, while others are due, before the provider counts as hanging. */
  stuckAfterMs(): number {
    return Math.max(stuckAfterMs, this.#answerMs * headroom);
  }

  #maxFresh(): number {
    const { messagesPerSecond, share, connections } = this.#limits;
    const seconds = Math.min(maxUnansweredSeconds, (this.#answerMs * headroom) / 1_000);
    const ofChannel = Math.max(minUnanswered, messagesPerSecond * seconds);
    return Math.max(1, Math.min(connections, Math.ceil(ofChannel * share)));
  }

  #freeOfChannel(): number {
    const { channelId, traffic, messagesPerSecond, connections } = this.#limits;
    const ofConnections = Math.floor(connections / Math.max(1, traffic.channels));
    const most = Math.min(messagesPerSecond * maxUnansweredSeconds, ofConnections);
    return Math.max(most, this.#maxFresh()) - traffic.unanswered(channelId);
  }
}
