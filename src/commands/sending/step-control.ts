/** Reasons to stop a step of sending early, and what its answers have told so far. */
import type { ClaimedRecipient } from '../../records/sending/claims.ts';
import type { Halt, Verdict } from './message-outcome.ts';
import type { Refusal } from './stop-sending.ts';

export interface StepControl {
  /** Nothing more may leave. */
  readonly stopped: () => boolean;
  readonly note: (verdict: Verdict, recipient: ClaimedRecipient) => void;
  readonly halt: () => Halt | undefined;
  readonly refusals: readonly Refusal[];
  readonly close: () => void;
}

export interface StepControlOptions {
  /** False once the campaign was paused, cancelled or started again. */
  readonly isUnchanged: () => Promise<boolean>;
  readonly draining: () => boolean;
}

const watchEveryMs = 400;
/** So many answers in a row of a provider in trouble, and no more people are put at risk until it has had a rest. */
const troubleInARow = 10;
/** So many messages in a row malformed in the same way: the next ones will be, too. */
const mistakesInARow = 100;

export function controlStep({ isUnchanged, draining }: StepControlOptions): StepControl {
  const refusals: Refusal[] = [];
  let halt: Halt | undefined;
  let troubles = 0;
  let mistakes = { code: 0, count: 0 };
  let changed = false;
  const watch = setInterval(() => {
    isUnchanged().then(
      (same) => {
        if (!same) changed = true;
      },
      // A database that is gone for a moment stops nothing that is claimed already.
      () => undefined,
    );
  }, watchEveryMs);

  return {
    stopped: () => halt !== undefined || changed || draining(),
    note: (verdict, recipient) => {
      // Of many equal refusals one is enough to pause a template or a channel.
      if (verdict.refusal && !(verdict.halt && halt)) refusals.push({ ...verdict.refusal, recipient });
      halt ??= verdict.halt;
      troubles = verdict.trouble === true ? troubles + 1 : 0;
      if (troubles >= troubleInARow) halt ??= { kind: 'troubled' };
      mistakes = anotherMistake(mistakes, verdict.mistake);
      if (mistakes.count >= mistakesInARow) halt ??= { kind: 'mistaken' };
    },
    halt: () => halt,
    refusals,
    close: () => clearInterval(watch),
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
