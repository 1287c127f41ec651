/** What our records say after the kills, beside what the provider itself received. Pure. */

export interface OurRecipient {
  readonly phoneNumber: string;
  readonly state: string;
}

export interface Books {
  readonly balance: bigint;
  readonly ledger: bigint;
  readonly reserved: bigint;
  /** Sum of the prices of recipients whose reservation is open. */
  readonly owed: bigint;
  readonly countersFit: boolean;
}

export interface Evidence {
  readonly recipients: readonly OurRecipient[];
  /** Messages the provider took, by number. */
  readonly taken: ReadonlyMap<string, number>;
  /** Messages it took more than once, by our own message id. */
  readonly repeatedMessages: number;
  readonly books: Books;
}

export interface Verdict {
  readonly doubled: number;
  /** The provider never got a message we say was accepted, or we wait for somebody for ever. */
  readonly lost: number;
  /** Said to be unknown: the provider has it, or has not. */
  readonly unknown: number;
  /** Unknown although the provider took the message: its receipts have not settled it. */
  readonly unsettled: number;
  readonly problems: readonly string[];
}

const acceptedStates = new Set(['ACCEPTED', 'SENT', 'DELIVERED', 'READ']);
const openStates = new Set(['PENDING', 'CLAIMED']);

export function judgeChaos({ recipients, taken, repeatedMessages, books }: Evidence): Verdict {
  const doubledNumbers = [...taken.values()].filter((count) => count > 1).length;
  const lost = recipients.filter(
    ({ phoneNumber, state }) =>
      openStates.has(state) || (acceptedStates.has(state) && !taken.has(phoneNumber)),
  ).length;
  const unknown = recipients.filter(({ state }) => state === 'UNKNOWN');
  const unsettled = unknown.filter(({ phoneNumber }) => taken.has(phoneNumber)).length;
  const doubled = Math.max(doubledNumbers, repeatedMessages);
  const problems = [
    ...(doubled > 0 ? [`${doubled} messages were sent twice`] : []),
    ...(lost > 0 ? [`${lost} recipients are lost`] : []),
    ...(unsettled > 0 ? [`${unsettled} unknown messages were not settled by their receipts`] : []),
    ...(books.ledger === books.balance
      ? []
      : [`the ledger sums to ${books.ledger}, the balance is ${books.balance}`]),
    ...(books.reserved === books.owed ? [] : [`${books.reserved} is reserved, ${books.owed} is open`]),
    ...(books.countersFit ? [] : ['the counters do not fit the rows']),
  ];
  return { doubled, lost, unknown: unknown.length, unsettled, problems };
}
