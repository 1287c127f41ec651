/** Collects what a step's answers mean for the messages that follow: whether the step stops, and which rejections have effects. */
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import type { Classification, StopReason } from './classify-answer.ts';
import type { Rejection } from './handle-rejections.ts';

/** 100 messages in a row that are malformed in the same way: the next ones will be, too. */
const malformedToStop = 100;

export class StopConditions {
  readonly rejections: Rejection[] = [];
  #reason: StopReason | undefined;
  #malformed = { code: 0, count: 0 };

  /** Undefined while the step may send. The first reason stays. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    this.#reason ??= reason;
  }

  onAnswer({ stopReason, rejection, malformedCode }: Classification, recipient: ClaimedRecipient): void {
    const pauses = stopReason !== undefined;
    // One of many equal rejections is enough to pause a template or a channel.
    const isRepeated = pauses && this.#reason !== undefined;
    if (rejection !== undefined && !isRepeated) this.rejections.push({ error: rejection, recipient, pauses });
    if (stopReason !== undefined) this.stop(stopReason);
    this.#countMalformed(malformedCode);
    if (this.#malformed.count >= malformedToStop) this.stop({ kind: 'malformed' });
  }

  #countMalformed(code: number | undefined): void {
    if (code === undefined) this.#malformed = { code: 0, count: 0 };
    else this.#malformed = { code, count: code === this.#malformed.code ? this.#malformed.count + 1 : 1 };
  }
}
