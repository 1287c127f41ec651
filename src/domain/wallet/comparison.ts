/** Compares what we charged on a day with what the provider says of it. Amounts are integer micro-units. */

/** The provider bills other categories too, which this service never sends. */
const comparedCategories: ReadonlySet<string> = new Set([
  'MARKETING',
  'UTILITY',
  'AUTHENTICATION',
  'AUTHENTICATION_INTERNATIONAL',
]);

export const comparisonStates = ['DIFFERENT', 'NOT_COMPARED'] as const;

export const pricingTypes = ['REGULAR', 'FREE'] as const;

/** Delivered messages and their cost. */
export interface Figures {
  readonly messages: number;
  readonly cost: bigint;
}

export interface Figure extends Figures {
  readonly category: string;
  /** ISO 3166 alpha-2; '' if unknown. */
  readonly country: string;
  readonly type: (typeof pricingTypes)[number];
}

export interface ProviderFigure extends Figure {
  /** The provider's range of messages in the month, such as `0:750000`; null for free ones. */
  readonly tier: string | null;
}

/** What a workspace pays on top of the provider's price of a message. */
export interface Markup {
  /** In millionths. */
  readonly factor: bigint;
  readonly fixed: bigint;
}

export const noMarkup: Markup = { factor: 1_000_000n, fixed: 0n };

/** OTHER_SENDERS: something else sends on the number, too. */
export const differenceCauses = [
  'OTHER_SENDERS',
  'TIER',
  'AUTHENTICATION_INTERNATIONAL',
  'MAX_PRICE',
] as const;
export type DifferenceCause = (typeof differenceCauses)[number];

export interface FigureDifference extends Omit<Figure, keyof Figures> {
  readonly ours: Figures;
  readonly theirs: Figures;
  /** Ours less the provider's, which is raised by the markup before. */
  readonly difference: bigint;
  /** Null: not known. */
  readonly cause: DifferenceCause | null;
}

interface Line extends Omit<Figure, keyof Figures> {
  ours: Figures;
  theirs: Figures;
  readonly tiers: string[];
}

/** Returns the lines that differ by more than the provider's figures, which are approximate, allow for. */
export function compareFigures(
  ours: readonly Figure[],
  theirs: readonly ProviderFigure[],
  markup: Markup = noMarkup,
): readonly FigureDifference[] {
  const lines = new Map<string, Line>();
  const lineOf = ({ category, country, type }: Figure): Line => {
    const key = `${category} ${country} ${type}`;
    const known = lines.get(key) ?? { category, country, type, ours: none, theirs: none, tiers: [] };
    lines.set(key, known);
    return known;
  };
  for (const figure of ours) {
    const line = lineOf(figure);
    line.ours = added(line.ours, figure);
  }
  for (const figure of theirs) {
    if (!comparedCategories.has(figure.category)) continue;
    const line = lineOf(figure);
    line.theirs = added(line.theirs, figure);
    if (figure.tier !== null) line.tiers.push(figure.tier);
  }
  const differing = [...lines.values()].filter((line) => !agree(line, markup));
  return differing.map((line) => {
    const { category, country, type } = line;
    return {
      category,
      country,
      type,
      ours: line.ours,
      theirs: line.theirs,
      difference: differenceOf(line, markup),
      cause: causeOf(line, { markup, differing }),
    };
  });
}

const none: Figures = { messages: 0, cost: 0n };

const added = (one: Figures, other: Figures): Figures => ({
  messages: one.messages + other.messages,
  cost: one.cost + other.cost,
});

/** What the provider's figure amounts to at the prices of the workspace. */
const expectedOf = ({ type, theirs }: Line, { factor, fixed }: Markup): bigint =>
  type === 'FREE'
    ? theirs.cost
    : (theirs.cost * factor) / noMarkup.factor + fixed * BigInt(Math.round(theirs.messages));

const differenceOf = (line: Line, markup: Markup): bigint => line.ours.cost - expectedOf(line, markup);

const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount);

/** 3 messages or 0.5 %. */
const messagesAgree = ({ ours, theirs }: Line): boolean =>
  Math.abs(ours.messages - theirs.messages) <= Math.max(3, theirs.messages * 0.005);

/** 1 %, and what the messages cost by which the counts may differ. */
function costsAgree(line: Line, markup: Markup): boolean {
  const { ours, theirs } = line;
  const more = BigInt(Math.abs(ours.messages - theirs.messages));
  const expected = expectedOf(line, markup);
  const each = (cost: bigint, messages: number) => (messages === 0 ? 0n : cost / BigInt(messages));
  const [one, other] = [each(ours.cost, ours.messages), each(expected, theirs.messages)];
  return absolute(ours.cost - expected) <= expected / 100n + more * (one > other ? one : other);
}

const agree = (line: Line, markup: Markup): boolean => messagesAgree(line) && costsAgree(line, markup);

const isAuthentication = ({ category }: Line): boolean => category.startsWith('AUTHENTICATION');

function causeOf(
  line: Line,
  { markup, differing }: { readonly markup: Markup; readonly differing: readonly Line[] },
): DifferenceCause | null {
  const { category, country, type, ours, theirs, tiers } = line;
  const messages = ours.messages - theirs.messages;
  if (!messagesAgree(line)) {
    const isMoved = differing.some(
      (other) =>
        other !== line &&
        isAuthentication(other) &&
        other.country === country &&
        other.type === type &&
        other.ours.messages - other.theirs.messages === -messages,
    );
    if (isAuthentication(line) && isMoved) return 'AUTHENTICATION_INTERNATIONAL';
    return messages < 0 ? 'OTHER_SENDERS' : null;
  }
  if (differenceOf(line, markup) < 0n) return isAuthentication(line) ? 'AUTHENTICATION_INTERNATIONAL' : null;
  if (tiers.some((tier) => !tier.startsWith('0:'))) return 'TIER';
  return category === 'MARKETING' ? 'MAX_PRICE' : null;
}
