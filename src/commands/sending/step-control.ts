/** Reasons to stop a step of sending early, and what its answers have told so far. */
import { troublesInARow, type Answers } from '../../records/sending/channel-trouble.ts';
import type { ClaimedRecipient } from '../../records/sending/claims.ts';
import type { Halt, Verdict } from './message-outcome.ts';
import type { Refusal } from './stop-sending.ts';

export interface StepControlOptions {
  readonly draining: () => boolean;
  /** Tells the channel; resolves to how long it is held, 0 when it is not. */
  readonly noteAnswers: (answers: Pick<Answers, 'sound' | 'troubles' | 'tries'>) => Promise<number>;
}

/** So many messages in a row malformed in the same way: the next ones will be, too. */
const mistakesInARow = 100;
/** After trouble that the database could not be told of. */
const unheardHoldMs = 2_000;

export type StepControl = ReturnType<typeof controlStep>;

export function controlStep({ draining, noteAnswers }: StepControlOptions) {
  const refusals: Refusal[] = [];
  let halt: Halt | undefined;
  let mistakes = { code: 0, count: 0 };
  /** Of the channel, as far as this step knows. */
  let channel = { troubled: false, tries: false, heldMs: 0 };
  let row = 0;
  let unsaid = { sound: false, troubles: 0 };
  let telling: Promise<void> | undefined;

  const held = (): boolean => channel.tries || channel.heldMs > 0 || row >= troublesInARow;

  const tell = async (): Promise<void> => {
    while (unsaid.sound || unsaid.troubles > 0) {
      const answers = { ...unsaid, tries: channel.tries };
      unsaid = { sound: false, troubles: 0 };
      const heldMs = await noteAnswers(answers);
      channel = { troubled: answers.troubles > 0, tries: false, heldMs };
    }
  };

  const told = (): void => {
    telling = undefined;
  };

  const noteAnswer = (troubled: boolean): void => {
    if (!troubled && row === 0 && !channel.troubled && !channel.tries) return;
    row = troubled ? row + 1 : 0;
    unsaid = troubled ? { ...unsaid, troubles: unsaid.troubles + 1 } : { sound: true, troubles: 0 };
    // A database that is away for a moment: this step stops all the same, and the next one counts anew.
    telling ??= tell().then(told, told);
  };

  return {
    /** Nothing more may leave. */
    stopped: (): boolean => halt !== undefined || channel.heldMs > 0 || row >= troublesInARow || draining(),
    /** "Try again later" costs nobody an attempt now. */
    held,
    stop: (): void => {
      halt ??= { kind: 'changed' };
    },
    /** What the latest claim has seen. */
    claimed: (seen: { readonly troubled: boolean; readonly tries: boolean }): void => {
      channel = { ...channel, ...seen };
    },
    note: (verdict: Verdict, recipient: ClaimedRecipient): void => {
      // Of many equal refusals one is enough to pause a template or a channel.
      const pauses = verdict.halt !== undefined;
      if (verdict.refusal && !(pauses && halt)) refusals.push({ ...verdict.refusal, recipient, pauses });
      halt ??= verdict.halt;
      if (verdict.answered !== false) noteAnswer(verdict.trouble === true);
      mistakes = anotherMistake(mistakes, verdict.mistake);
      if (mistakes.count >= mistakesInARow) halt ??= { kind: 'mistaken' };
    },
    halt: () => halt,
    refusals,
    /** Once every answer is there: for how long the channel is held. */
    async settled(): Promise<number> {
      await telling;
      // The message that was to try has not left.
      if (channel.tries) channel.heldMs = await noteAnswers({ sound: false, troubles: 0, tries: true });
      return channel.heldMs > 0 || row < troublesInARow ? channel.heldMs : unheardHoldMs;
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
