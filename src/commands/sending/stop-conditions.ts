/** Collects what a step's answers mean for the messages that follow: whether the step stops, and which rejections have effects. */
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import type { Classification, StopReason } from './classify-answer.ts';
import type { Rejection } from './handle-rejections.ts';

/** 100 messages in a row that are malformed in the same way: the next ones will be, too. */
const malformedToStop = 100;

export class StopConditions {
  readonly rejections: Rejection[] = [];
  #reason: StopReason | undefined;
  #malformed: { readonly reason: string | null; readonly count: number };

  /** `lastReasons`: of the answers to earlier steps, the last first; a run of malformed messages goes on across steps. */
  constructor(lastReasons: readonly (string | null)[]) {
    const [reason = null] = lastReasons;
    const end = lastReasons.findIndex((other) => other !== reason);
    this.#malformed = { reason, count: end === -1 ? lastReasons.length : end };
  }

  /** Undefined while the step may send. The first reason stays. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    this.#reason ??= reason;
  }

  onAnswer({ stopReason, rejection, malformedReason }: Classification, recipient: ClaimedRecipient): void {
    const pauses = stopReason !== undefined;
    // One of many equal rejections is enough to pause a template or a channel, or to block a country.
    const isRepeated =
      (pauses && this.#reason !== undefined) ||
      this.rejections.some(
        (other) => other.error.code === rejection?.code && other.recipient.country === recipient.country,
      );
    if (rejection !== undefined && !isRepeated) this.rejections.push({ error: rejection, recipient, pauses });
    if (stopReason !== undefined) this.stop(stopReason);
    this.#countMalformed(malformedReason ?? null);
    const { reason: alike, count } = this.#malformed;
    if (alike !== null && count >= malformedToStop) this.stop({ kind: 'malformed' });
  }

  #countMalformed(reason: string | null): void {
    const { reason: before, count } = this.#malformed;
    this.#malformed = { reason, count: reason === before ? count + 1 : 1 };
  }
}
