/** Reasons to stop a step of sending early, and what its answers have told so far. */
import { failuresToOpen, type AnswerCounts } from '../../records/sending/circuit-breaker.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import type { StopReason, Classification } from './classify-answer.ts';
import type { Rejection } from './stop-sending.ts';

export interface StepControlOptions {
  readonly draining: () => boolean;
  /** Tells the channel; resolves to how long it is held, 0 when it is not. */
  readonly recordAnswers: (
    answers: Pick<AnswerCounts, 'succeeded' | 'failures' | 'isProbe'>,
  ) => Promise<number>;
}

/** So many messages in a row malformed in the same way: the next ones will be, too. */
const mistakesInARow = 100;
/** After trouble that the database could not be told of. */
const unheardHoldMs = 2_000;

export type StepControl = ReturnType<typeof controlStep>;

export function controlStep({ draining, recordAnswers }: StepControlOptions) {
  const rejections: Rejection[] = [];
  let stopReason: StopReason | undefined;
  let mistakes = { code: 0, count: 0 };
  /** Of the channel, as far as this step knows. */
  let channel = { isFailing: false, isProbe: false, openMs: 0 };
  let row = 0;
  let unsaid = { succeeded: false, failures: 0 };
  let telling: Promise<void> | undefined;

  const held = (): boolean => channel.isProbe || channel.openMs > 0 || row >= failuresToOpen;

  const tell = async (): Promise<void> => {
    while (unsaid.succeeded || unsaid.failures > 0) {
      const answers = { ...unsaid, isProbe: channel.isProbe };
      unsaid = { succeeded: false, failures: 0 };
      const openMs = await recordAnswers(answers);
      channel = { isFailing: answers.failures > 0, isProbe: false, openMs };
    }
  };

  const told = (): void => {
    telling = undefined;
  };

  const noteAnswer = (isFailing: boolean): void => {
    if (!isFailing && row === 0 && !channel.isFailing && !channel.isProbe) return;
    row = isFailing ? row + 1 : 0;
    unsaid = isFailing ? { ...unsaid, failures: unsaid.failures + 1 } : { succeeded: true, failures: 0 };
    // A database that is away for a moment: this step stops all the same, and the next one counts anew.
    telling ??= tell().then(told, told);
  };

  return {
    /** Nothing more may leave. */
    stopped: (): boolean =>
      stopReason !== undefined || channel.openMs > 0 || row >= failuresToOpen || draining(),
    /** "Try again later" costs nobody an attempt now. */
    held,
    stop: (): void => {
      stopReason ??= { kind: 'changed' };
    },
    /** What the latest claim has seen. */
    claimed: (seen: { readonly isFailing: boolean; readonly isProbe: boolean }): void => {
      channel = { ...channel, ...seen };
    },
    note: (classification: Classification, recipient: ClaimedRecipient): void => {
      // Of many equal rejections one is enough to pause a template or a channel.
      const pauses = classification.stopReason !== undefined;
      if (classification.rejection && !(pauses && stopReason))
        rejections.push({ ...classification.rejection, recipient, pauses });
      stopReason ??= classification.stopReason;
      if (classification.answered !== false) noteAnswer(classification.trouble === true);
      mistakes = anotherMistake(mistakes, classification.mistake);
      if (mistakes.count >= mistakesInARow) stopReason ??= { kind: 'mistaken' };
    },
    stopReason: () => stopReason,
    rejections,
    /** Once every answer is there: for how long the channel is held. */
    async settled(): Promise<number> {
      await telling;
      // The message that was to try has not left.
      if (channel.isProbe)
        channel.openMs = await recordAnswers({ succeeded: false, failures: 0, isProbe: true });
      return channel.openMs > 0 || row < failuresToOpen ? channel.openMs : unheardHoldMs;
    },
  };
}

interface Mistakes {
  readonly code: number;
  readonly count: number;
}

function anotherMistake({ code, count }: Mistakes, mistake: number | undefined): Mistakes {
  if (mistake === undefined) return { code: 0, count: 0 };
  return { code: mistake, count: mistake === code ? count + 1 : 1 };
}
