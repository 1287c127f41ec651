/** Reads the provider's published price files, and compares a card with the one before. */
import { parse } from 'csv-parse/sync';
import { type FieldProblem, Invalid } from '../../domain/error.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { everyOther, marketsByCountry } from '../../domain/wallet/markets.ts';

export interface CardPrice {
  readonly market: string;
  /** As on the card: `MARKETING`, `AUTHENTICATION_INTERNATIONAL`, … */
  readonly category: string;
  /** Micro-units. */
  readonly price: bigint;
  readonly tierFrom: bigint;
  /** Null: without end. */
  readonly tierTo: bigint | null;
}

export interface ReadCard {
  readonly prices: readonly CardPrice[];
  /** By country; '' is every other country. */
  readonly markets: ReadonlyMap<string, string>;
}

export interface PriceFiles {
  readonly file: Buffer;
  /** Long form: market, category, tier_from, tier_to, price. */
  readonly tiers?: Buffer | undefined;
  /** Columns country (ISO 3166 alpha-2) and market; replaces the built-in markets. */
  readonly markets?: Buffer | undefined;
}

const refuse = (problems: readonly string[], field = 'file'): Invalid =>
  Invalid.of(problems.slice(0, 20).map((message): FieldProblem => ({ field, message })));

const tidy = (cell: string | undefined): string => (cell ?? '').replaceAll(/\s+/g, ' ').trim();
/** `Authentication-\nInternational` → AUTHENTICATION_INTERNATIONAL. */
const codeOf = (title: string): string =>
  title
    .toUpperCase()
    .replaceAll(/[^A-Z]+/g, '_')
    .replaceAll(/^_|_$/g, '');
const columnOf = (cells: readonly string[]): ReadonlyMap<string, number> =>
  new Map(cells.map((cell, at) => [codeOf(cell), at] as const));

function rowsOf(bytes: Buffer, field: string): readonly (readonly string[])[] {
  const options = { bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true };
  try {
    return parse(bytes, options) as string[][];
  } catch {
    throw refuse([`${field} is not a CSV: save it as CSV in UTF-8`], field);
  }
}

/** Throws Invalid naming everything that is wrong with the files. */
export function readPriceFiles({ file, tiers, markets }: PriceFiles, currency: string): ReadCard {
  const base = readPublished(file, currency);
  const known = new Set(base.map(({ market }) => market));
  const byCountry = markets === undefined ? marketsByCountry(known) : readMarkets(markets, known);
  return {
    prices: tiers === undefined ? base : withTiers(base, readTiers(tiers, known)),
    markets: byCountry,
  };
}

const categories = [
  'MARKETING',
  'UTILITY',
  'AUTHENTICATION',
  'AUTHENTICATION_INTERNATIONAL',
  'SERVICE',
] as const;

function readPublished(file: Buffer, currency: string): readonly CardPrice[] {
  const rows = rowsOf(file, 'file');
  const isHeader = (cells: readonly string[]) => {
    const columns = columnOf(cells);
    return ['MARKET', 'CURRENCY', 'MARKETING'].every((title) => columns.has(title));
  };
  const at = rows.findIndex(isHeader);
  if (at < 0)
    throw refuse([
      'file has no header: a row with the columns Market, Currency, Marketing, Utility, … is expected',
    ]);
  const columns = columnOf(rows[at] ?? []);
  const problems: string[] = [];
  const seen = new Set<string>();
  const prices: CardPrice[] = [];
  for (const cells of rows.slice(at + 1)) {
    const market = tidy(cells[columns.get('MARKET') ?? 0]);
    const given = tidy(cells[columns.get('CURRENCY') ?? 0]);
    if (market === '' || given === '') continue;
    if (seen.has(market)) problems.push(`the market ${market} stands in the file twice`);
    seen.add(market);
    const code = currencyOf(given);
    if (code !== currency) problems.push(`${market} is priced in ${code}, not in ${currency}`);
    for (const category of categories) {
      const column = columns.get(category);
      const text = column === undefined ? '' : tidy(cells[column]);
      if (text === '' || /^n\/?a$/i.test(text)) continue;
      const price = parseAmount(text);
      if (price === undefined || price < 0n)
        problems.push(`${market}, ${category}: "${text.slice(0, 40)}" is no price such as 0.0107`);
      else prices.push({ market, category, price, tierFrom: 0n, tierTo: null });
    }
  }
  if (!prices.some(({ market, category }) => market === everyOther && category === 'MARKETING'))
    problems.push(`the market ${everyOther} is missing or has no price for MARKETING`);
  if (problems.length > 0) throw refuse(problems);
  return prices;
}

const symbols: Readonly<Record<string, string>> = { '€': 'EUR', '₹': 'INR', '£': 'GBP' };

/** The files write `EUR`, `₹` or `$US`, `$AU`, … */
function currencyOf(text: string): string {
  const dollar = /^\$([A-Z]{2})$/.exec(text);
  return dollar === null ? (symbols[text] ?? text.toUpperCase()) : `${dollar[1]}D`;
}

/** A tier from 0 on replaces the price without a tier. */
function withTiers(base: readonly CardPrice[], tiers: readonly CardPrice[]): readonly CardPrice[] {
  const key = ({ market, category, tierFrom }: CardPrice) => `${market}\n${category}\n${tierFrom}`;
  return [...new Map([...base, ...tiers].map((price) => [key(price), price])).values()];
}

function readTiers(file: Buffer, known: ReadonlySet<string>): readonly CardPrice[] {
  const [header = [], ...rows] = rowsOf(file, 'tiers');
  const columns = columnOf(header);
  const wanted = ['MARKET', 'CATEGORY', 'TIER_FROM', 'TIER_TO', 'PRICE'];
  if (!wanted.every((title) => columns.has(title)))
    throw refuse(['tiers must have the columns market, category, tier_from, tier_to, price'], 'tiers');
  const problems: string[] = [];
  const tiers = rows.flatMap((cells): readonly CardPrice[] => {
    const cell = (title: string) => tidy(cells[columns.get(title) ?? 0]);
    const [market, price] = [cell('MARKET'), parseAmount(cell('PRICE'))];
    const [from, to] = [cell('TIER_FROM'), cell('TIER_TO')];
    const isOpen = to === '' || to.toUpperCase() === 'MAX';
    if (!known.has(market)) problems.push(`the market ${market} is not on the card`);
    if (price === undefined || price < 0n || !/^\d{1,15}$/.test(from) || !(isOpen || /^\d{1,15}$/.test(to))) {
      problems.push(`${market}: tier_from, tier_to and price must be numbers`);
      return [];
    }
    const tierTo = isOpen ? null : BigInt(to);
    if (tierTo !== null && tierTo <= BigInt(from))
      problems.push(`${market}: tier_to must be above tier_from`);
    return [{ market, category: codeOf(cell('CATEGORY')), price, tierFrom: BigInt(from), tierTo }];
  });
  if (problems.length > 0) throw refuse(problems, 'tiers');
  return tiers;
}

function readMarkets(file: Buffer, known: ReadonlySet<string>): ReadonlyMap<string, string> {
  const [header = [], ...rows] = rowsOf(file, 'markets');
  const columns = columnOf(header);
  const [country, market] = [columns.get('COUNTRY') ?? columns.get('ISO'), columns.get('MARKET')];
  if (country === undefined || market === undefined)
    throw refuse(['markets must have the columns country (ISO 3166 alpha-2) and market'], 'markets');
  const problems: string[] = [];
  const found = new Map([['', everyOther]]);
  for (const cells of rows) {
    const [code, name] = [tidy(cells[country]).toUpperCase(), tidy(cells[market])];
    if (!/^[A-Z]{2}$/.test(code)) problems.push(`"${code.slice(0, 20)}" is no ISO 3166 alpha-2 code`);
    else if (!known.has(name))
      problems.push(`${code} is mapped to ${name}, a market that the card does not have`);
    else found.set(code, name);
  }
  if (problems.length > 0) throw refuse(problems, 'markets');
  return found;
}

export interface PriceDifference {
  readonly market: string;
  readonly category: string;
  /** Micro-units; null: no such price. */
  readonly before: bigint | null;
  readonly after: bigint | null;
}

const basePrices = (prices: readonly CardPrice[]): ReadonlyMap<string, bigint> =>
  new Map(
    prices
      .filter(({ tierFrom }) => tierFrom === 0n)
      .map(({ market, category, price }) => [`${market}\n${category}`, price]),
  );

/** What rises, falls, comes or goes, by market and category. */
export function comparePrices(
  before: readonly CardPrice[],
  after: readonly CardPrice[],
): readonly PriceDifference[] {
  const [old, fresh] = [basePrices(before), basePrices(after)];
  return [...new Set([...fresh.keys(), ...old.keys()])].flatMap((key) => {
    const [market = '', category = ''] = key.split('\n');
    const [was, is] = [old.get(key) ?? null, fresh.get(key) ?? null];
    return was === is ? [] : [{ market, category, before: was, after: is }];
  });
}

/** A price that moves more than tenfold is more likely a mistake than a new price. */
export const implausible = (differences: readonly PriceDifference[]): readonly string[] =>
  differences.flatMap(({ market, category, before, after }) =>
    before !== null && after !== null && before > 0n && (after > before * 10n || after * 10n < before)
      ? [
          `${market}, ${category} changes from ${formatAmount(before)} to ${formatAmount(after)}, more than tenfold`,
        ]
      : [],
  );
