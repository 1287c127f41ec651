/** Compares our records after the kills with the messages that the provider received. Pure. */

export interface OurRecipient {
  readonly phoneNumber: string;
  readonly state: string;
  /** The provider has named the message; it may have failed to deliver it later. */
  readonly accepted: boolean;
}

export interface Books {
  readonly balance: bigint;
  readonly ledger: bigint;
  readonly reserved: bigint;
  /** Sum of the prices of recipients whose reservation is open. */
  readonly owed: bigint;
  /** Cost of the campaign by the ledger. */
  readonly spent: bigint;
  /** Sum of the prices of the campaign's charged recipients. */
  readonly charged: bigint;
  readonly countersFit: boolean;
}

export interface Evidence {
  /** Recipients the campaign was created with; null where the provider took messages of other campaigns too. */
  readonly expected: number | null;
  readonly recipients: readonly OurRecipient[];
  /** Messages the provider took, by number. */
  readonly taken: ReadonlyMap<string, number>;
  /** Messages it took more than once, by our own message id. */
  readonly repeatedMessages: number;
  readonly books: Books;
}

export interface Verdict {
  readonly doubled: number;
  /** Recipients recorded as accepted whose message the provider never received, and recipients without an outcome. */
  readonly lost: number;
  /** UNKNOWN recipients: those whose message the provider has, and the others. */
  readonly unknown: number;
  /** Unknown although the provider took the message: its receipts have not settled it. */
  readonly unsettled: number;
  readonly problems: readonly string[];
}

const acceptedStates = new Set(['ACCEPTED', 'SENT', 'DELIVERED', 'READ']);
const openStates = new Set(['PENDING', 'CLAIMED']);
const givenUp = new Set(['FAILED', 'CANCELLED']);

export function compareRecords({ expected, recipients, taken, repeatedMessages, books }: Evidence): Verdict {
  const known = new Set(recipients.map(({ phoneNumber }) => phoneNumber));
  const doubledNumbers = [...taken.values()].filter((count) => count > 1).length;
  const waiting = recipients.filter(({ state }) => openStates.has(state)).length;
  const onlyClaimed = recipients.filter(
    ({ phoneNumber, state }) => acceptedStates.has(state) && !taken.has(phoneNumber),
  ).length;
  const missing = Math.max(0, (expected ?? 0) - recipients.length);
  const lost = waiting + onlyClaimed + missing;
  const unknown = recipients.filter(({ state }) => state === 'UNKNOWN');
  const unsettled = unknown.filter(({ phoneNumber }) => taken.has(phoneNumber)).length;
  const refused = recipients.filter(({ state, accepted }) => givenUp.has(state) && !accepted);
  const denied = refused.filter(({ phoneNumber }) => taken.has(phoneNumber)).length;
  const strangers = expected === null ? 0 : [...taken.keys()].filter((number) => !known.has(number)).length;
  const doubled = Math.max(doubledNumbers, repeatedMessages);
  const problems = [
    ...problem(doubled, 'messages were sent twice'),
    ...problem(lost, 'recipients are lost'),
    ...problem(unsettled, 'unknown messages were not settled by their receipts'),
    ...problem(denied, 'recipients are said to have got nothing, and the provider took a message for them'),
    ...problem(refused.length, 'recipients were given up though nothing is wrong with them'),
    ...problem(strangers, 'numbers got a message that are no recipients'),
    ...differ('the ledger sums to', books.ledger, 'the balance is', books.balance),
    ...differ('reserved is', books.reserved, 'open is', books.owed),
    ...differ('the campaign cost', books.spent, 'its messages cost', books.charged),
    ...(books.countersFit ? [] : ['the counters do not fit the rows']),
  ];
  return { doubled, lost, unknown: unknown.length, unsettled, problems };
}

const problem = (count: number, what: string): readonly string[] => (count > 0 ? [`${count} ${what}`] : []);

function differ(...[first, one, second, other]: [string, bigint, string, bigint]): readonly string[] {
  return one === other ? [] : [`${first} ${one}, ${second} ${other}`];
}
