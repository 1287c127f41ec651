import type { MessageOutcome, RecipientOutcome } from '../../src/records/sending/outcomes.ts';

/** The outcomes of one claim, given by position. */
export const outcomesOf = (
  claimId: string,
  byPosition: ReadonlyMap<number, MessageOutcome>,
): readonly RecipientOutcome[] =>
  [...byPosition].map(([position, outcome]) => ({ position, claimId, outcome }));
