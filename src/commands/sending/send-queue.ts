/**
 * Claimed messages in line for their tokens. Each leaves when its token falls due, while there are places for unanswered
 * ones: four times what the channel's rate keeps on the wire at its usual answer time. A provider that hangs has few of them.
 */
import type { SendResult } from '../../provider/provider.ts';
import { toldLateMs, tokenToleranceMs } from '../../records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';

export interface SendQueueOptions {
  readonly messagesPerSecond: number;
  /** The median so far. */
  readonly answerMs: number;
  /** Of the channel's places for unanswered messages, 0 to 1. */
  readonly share: number;
  /** Whatever the rate, no more than there are connections for. */
  readonly most: number;
  readonly send: (recipient: ClaimedRecipient, heldBack: () => boolean) => Promise<SendResult>;
  /** Nobody may leave any more. */
  readonly stopped: () => boolean;
  readonly settle: (recipient: ClaimedRecipient, result: SendResult) => void;
  /** Everybody in line leaves so much later than their tokens said. False when it has to be told again. */
  readonly endsLater: (lateMs: number) => boolean;
}

interface QueuedBatch {
  readonly recipients: readonly ClaimedRecipient[];
  /** When the first token falls due, on our clock. */
  readonly startsAt: number;
  readonly spacingMs: number;
  /** Where the line ended when the page was asked for. */
  readonly askedEnd: number;
}

interface QueuedMessage {
  readonly recipient: ClaimedRecipient;
  /** By its token, less what the line was late by then. */
  readonly dueAt: number;
  readonly leavesBefore: number;
}

const heldBack: SendResult = { kind: 'unreachable', cause: 'held back' };
const headroom = 4;
const fewest = 8;
/** By how much one answer moves the median: half of them are above it, so that it comes to rest there. */
const drift = 1.03;
const [shortestMs, longestMs] = [1, 10_000];
/** Who has not left by then is given back: nobody stays claimed without a token that is due soon. */
const longestStayMs = 800;
const stuckMs = 1_000;
const lookAgainMs = 50;

export class SendQueue {
  readonly #options: SendQueueOptions;
  #answerMs: number;
  #messages: QueuedMessage[] = [];
  #first = 0;
  #unanswered = 0;
  #answeredAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;
  /** When the last in line, and the pause behind it, is over; on our clock. */
  #endsAt = 0;
  #lateMs = 0;
  /** Of it, what the schedule does not follow yet. */
  #untoldMs = 0;
  #perMessageMs = 0;

  constructor(options: SendQueueOptions) {
    this.#options = options;
    this.#answerMs = options.answerMs;
  }

  get answerMs(): number {
    return this.#answerMs;
  }

  get endsAt(): number {
    return this.#endsAt;
  }

  #capacity(): number {
    const { messagesPerSecond, share, most } = this.#options;
    const ofChannel = Math.max(fewest, (messagesPerSecond * this.#answerMs * headroom) / 1_000);
    return Math.max(1, Math.min(most, Math.ceil(ofChannel * share)));
  }

  /** Messages a second for which there are places. */
  perSecond(): number {
    return (this.#capacity() * 1_000) / this.#answerMs;
  }

  /** How long the line goes on sending. */
  restMs(): number {
    const behind = (this.#messages.length - this.#first) * this.#perMessageMs;
    return Math.max(this.#endsAt - performance.now(), behind);
  }

  /** Answers are awaited, and none has come for much longer than usual. */
  isStuck(): boolean {
    const longest = Math.max(stuckMs, this.#answerMs * headroom);
    return this.#unanswered > 0 && performance.now() - this.#answeredAt > longest;
  }

  /** The next page; all of them leave behind those that are in queue. */
  add({ recipients, startsAt, spacingMs, askedEnd }: QueuedBatch): void {
    const leavesBefore = performance.now() + longestStayMs;
    const laterMs = this.#endsAt - askedEnd;
    const from = Math.max(startsAt, this.#endsAt);
    if (this.#first === this.#messages.length) [this.#messages, this.#first] = [[], 0];
    for (const [index, recipient] of recipients.entries())
      this.#messages.push({ recipient, dueAt: from + index * spacingMs - this.#lateMs, leavesBefore });
    this.#endsAt = from + recipients.length * spacingMs;
    this.#untoldMs = Math.max(from - startsAt, laterMs);
    this.#perMessageMs = spacingMs;
    this.tell();
    this.leave();
  }

  /** Lets leave whose token is due, and gives back who has waited for too long. */
  leave(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const next = this.#messages[this.#first];
      if (next === undefined) return;
      const now = performance.now();
      const restMs = next.dueAt + this.#lateMs - now;
      if (this.#options.stopped() || now > next.leavesBefore) this.#take(next, false);
      else if (this.#unanswered >= this.#capacity()) return;
      else if (restMs > 0) {
        this.#timer = setTimeout(() => this.leave(), Math.ceil(restMs));
        return;
      } else {
        this.#shift(-restMs - tokenToleranceMs);
        this.#take(next, true);
      }
    }
  }

  /** What is later than its token allows keeps its distance from the others: they are later, too. */
  #shift(lateMs: number): void {
    if (lateMs <= 0) return;
    this.#lateMs += lateMs;
    this.#endsAt += lateMs;
    this.#untoldMs += lateMs;
    this.tell();
  }

  /** Has the schedule follow what the line is late by. */
  tell(): void {
    if (this.#untoldMs >= toldLateMs && this.#options.endsLater(this.#untoldMs)) this.#untoldMs = 0;
  }

  #take({ recipient, leavesBefore }: QueuedMessage, leaves: boolean): void {
    const { send, settle, stopped } = this.#options;
    this.#first += 1;
    if (!leaves) {
      settle(recipient, heldBack);
      return;
    }
    const sentAt = performance.now();
    if (this.#unanswered === 0) this.#answeredAt = sentAt;
    this.#unanswered += 1;
    void send(recipient, () => stopped() || performance.now() > leavesBefore).then((result) => {
      this.#unanswered -= 1;
      this.#answeredAt = performance.now();
      if (result.kind === 'accepted') {
        const moved = this.#answerMs * (this.#answeredAt - sentAt > this.#answerMs ? drift : 1 / drift);
        this.#answerMs = Math.min(longestMs, Math.max(shortestMs, moved));
      }
      settle(recipient, result);
      this.leave();
      this.#wake();
    });
  }

  /** Resolves when nobody is in line any more, and everybody has answered. */
  async empty(): Promise<void> {
    for (;;) {
      this.leave();
      if (this.#unanswered === 0 && this.#first === this.#messages.length) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, lookAgainMs);
      });
    }
  }
}
