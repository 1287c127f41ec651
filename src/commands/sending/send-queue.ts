/**
 * Claimed messages in order of their tokens. Invariant: a message leaves only when its token is due, while the provider owes
 * fewer answers than `Throughput` allows, and within 800 ms of its claim; otherwise it is released unsent.
 */
import type { SendResult } from '../../provider/provider.ts';
import { reportedLagMs, slowBelow, tokenToleranceMs } from '../../records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import { Throughput, type ThroughputLimits } from './throughput.ts';

/**
 * How late a step's messages leave, compared with their tokens, in ms. Messages keep their distance: if one leaves late, so do
 * all later ones, and the channel's schedule must move by the same time. Otherwise the next claim's messages would follow too
 * closely.
 */
class ScheduleLag {
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

export interface SendQueueOptions extends ThroughputLimits {
  /** `isReleased` becomes true once the message must no longer leave, for instance while it waits for a connection. */
  readonly send: (recipient: ClaimedRecipient, isReleased: () => boolean) => Promise<SendResult>;
  /** True once nothing may leave any more; queued messages are then released. */
  readonly isStopped: () => boolean;
  /** Called once for each message. */
  readonly onResult: (recipient: ClaimedRecipient, result: SendResult) => void;
  /** Moves the channel's schedule; returns false if that must be tried again later. */
  readonly writeLag: (lagMs: number) => boolean;
}

interface QueuedBatch {
  readonly recipients: readonly ClaimedRecipient[];
  /** When the first token falls due, on the local clock. */
  readonly startsAt: number;
  readonly spacingMs: number;
  /** `endsAt` when the claim of the batch began. */
  readonly endedAtClaim: number;
}

interface QueuedMessage {
  readonly recipient: ClaimedRecipient;
  /** When its token is due, not counting the lag. */
  readonly dueAt: number;
  readonly leavesBefore: number;
}

const released: SendResult = { kind: 'unreachable', cause: 'held back' };
/** 800 ms: a queued message is CLAIMED, and another step could send it at once if this one cannot. */
const maxQueuedMs = 800;
const pollMs = 50;

export class SendQueue {
  readonly throughput: Throughput;
  readonly #options: SendQueueOptions;
  readonly #lag = new ScheduleLag();
  #messages: QueuedMessage[] = [];
  /** Index of the first message that has not left. */
  #head = 0;
  #unanswered = 0;
  #answeredAt = 0;
  #endsAt = 0;
  #spacingMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the latest pace measurement. */
  #measuredAt = performance.now();
  #sent = 0;
  /** How long due messages have waited for answers to earlier ones. */
  #blockedMs = 0;
  #blockedAt: number | undefined;
  #onAnswer: () => void = () => undefined;

  constructor(options: SendQueueOptions) {
    this.#options = options;
    this.throughput = new Throughput(options);
  }

  /** When the token after the last queued message falls due, on the local clock. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** How long the queued messages keep the queue busy, in ms. */
  remainingMs(): number {
    const bySpacing = (this.#messages.length - this.#head) * this.#spacingMs;
    return Math.max(this.#endsAt - performance.now(), bySpacing);
  }

  /** True if the provider owes answers and has not given one for much longer than usual. */
  isStuck(): boolean {
    return this.#unanswered > 0 && performance.now() - this.#answeredAt > this.throughput.stuckAfterMs();
  }

  /** Appends a batch after the queued messages, even if its tokens are due earlier. */
  add({ recipients, startsAt, spacingMs, endedAtClaim }: QueuedBatch): void {
    const leavesBefore = performance.now() + maxQueuedMs;
    const from = Math.max(startsAt, this.#endsAt);
    if (this.#head === this.#messages.length) [this.#messages, this.#head] = [[], 0];
    for (const [index, recipient] of recipients.entries())
      this.#messages.push({ recipient, dueAt: from + index * spacingMs - this.#lag.totalMs, leavesBefore });
    // The claim placed its tokens after `endedAtClaim`. If the queue now ends later, the schedule lacks the difference.
    this.#lag.resetUnwritten(Math.max(from - startsAt, this.#endsAt - endedAtClaim));
    this.#endsAt = from + recipients.length * spacingMs;
    this.#spacingMs = spacingMs;
    this.flushLag();
    this.sendDue();
  }

  /** Sends what is due, releases what has waited too long, and sets a timer for the next message. */
  sendDue(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const next = this.#messages[this.#head];
      if (next === undefined) return;
      const now = performance.now();
      const waitMs = next.dueAt + this.#lag.totalMs - now;
      if (this.#options.isStopped() || now > next.leavesBefore) {
        this.#head += 1;
        this.#options.onResult(next.recipient, released);
      } else if (!this.throughput.maySend()) {
        if (waitMs <= 0) this.#blockedAt ??= now;
        return;
      } else if (waitMs > 0) {
        this.#timer = setTimeout(() => this.sendDue(), Math.ceil(waitMs));
        return;
      } else {
        this.#addLag(-waitMs - tokenToleranceMs);
        this.#head += 1;
        void this.#send(next);
      }
    }
  }

  /** The share of the rate that the provider's answers allowed since the last call, 0 to 1; 1 if nothing waited for them. */
  takePaceShare(): number {
    const { messagesPerSecond } = this.#options;
    const now = performance.now();
    const ms = now - this.#measuredAt;
    this.#endBlock(now);
    const isLimited =
      this.isStuck() ||
      this.#blockedMs > (1 - slowBelow) * ms ||
      this.throughput.perSecond() < slowBelow * messagesPerSecond;
    const share = isLimited ? Math.min(1, (this.#sent * 1_000) / (messagesPerSecond * ms)) : 1;
    [this.#measuredAt, this.#sent, this.#blockedMs] = [now, 0, 0];
    return share;
  }

  #endBlock(now: number): void {
    if (this.#blockedAt !== undefined) this.#blockedMs += now - Math.max(this.#blockedAt, this.#measuredAt);
    this.#blockedAt = undefined;
  }

  /** Writes the lag to the channel's schedule once there is enough of it. */
  flushLag(): void {
    this.#lag.flush(this.#options.writeLag);
  }

  #addLag(ms: number): void {
    if (ms <= 0) return;
    this.#lag.add(ms);
    this.#endsAt += ms;
    this.flushLag();
  }

  async #send({ recipient, leavesBefore }: QueuedMessage): Promise<void> {
    const { send, onResult, isStopped } = this.#options;
    const sentAt = performance.now();
    if (this.#unanswered === 0) this.#answeredAt = sentAt;
    this.#unanswered += 1;
    this.#sent += 1;
    this.#endBlock(sentAt);
    const number = this.throughput.begin();
    const result = await send(recipient, () => isStopped() || performance.now() > leavesBefore);
    this.#unanswered -= 1;
    this.#answeredAt = performance.now();
    this.throughput.end(number, result.kind === 'accepted' || result.kind === 'rejected');
    if (result.kind === 'accepted') this.throughput.recordAnswerTime(this.#answeredAt - sentAt);
    onResult(recipient, result);
    this.sendDue();
    this.#onAnswer();
  }

  /** Resolves when every message has left or was released, and every answer has arrived. */
  async drain(): Promise<void> {
    for (;;) {
      this.sendDue();
      if (this.#unanswered === 0 && this.#head === this.#messages.length) return;
      await new Promise<void>((resolve) => {
        this.#onAnswer = resolve;
        setTimeout(resolve, pollMs);
      });
    }
  }
}
