import { describe, expect, it } from 'vitest';
import { comparePrices, implausible, readPriceFiles } from '../../../src/commands/wallet/price-file.ts';
import { Invalid } from '../../../src/domain/error.ts';

/** As the provider publishes it: rows of preamble, a line break within quotes, n/a. */
const published = [
  'WhatsApp Business Platform rates,,,,,,',
  '"Effective October 1, 2026",,,,,,',
  ',,,,,,',
  'Market,Currency,Marketing,Utility,Authentication,"Authentication-\nInternational",Service',
  'India,$US,0.0118,0.0014,0.0014,0.0280,0.0014',
  'North America,$US,0.0250,0.0040,0.0040,n/a,0.0040',
  'Rest of Latin America,$US,0.0740,0.0113,0.0113,n/a,0.0113',
  'Other,$US,0.0604,0.0077,0.0077,n/a,0.0077',
  '',
].join('\n');

const read = (text: string, currency = 'USD') => readPriceFiles({ file: Buffer.from(text) }, currency);

const problemsOf = (run: () => unknown): readonly string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof Invalid) return error.problems.map(({ message }) => message);
    throw error;
  }
  return [];
};

describe('a published price file', () => {
  it.each([
    ['as it is', published],
    ['with a byte order mark', `\uFEFF${published}`],
    ['with line breaks of Windows', published.replaceAll('\n', '\r\n')],
  ])('is read %s', (_, text) => {
    const { prices, markets } = read(text);
    const of = (market: string) =>
      Object.fromEntries(
        prices.filter((one) => one.market === market).map(({ category, price }) => [category, price]),
      );
    expect(of('India')).toEqual({
      MARKETING: 11_800n,
      UTILITY: 1_400n,
      AUTHENTICATION: 1_400n,
      AUTHENTICATION_INTERNATIONAL: 28_000n,
      SERVICE: 1_400n,
    });
    expect(Object.keys(of('Other'))).not.toContain('AUTHENTICATION_INTERNATIONAL');
    expect(['US', 'CA', 'PR', 'DO', 'JM', 'IN', ''].map((country) => markets.get(country))).toEqual([
      'North America',
      'North America',
      'Rest of Latin America',
      'Rest of Latin America',
      'Rest of Latin America',
      'India',
      'Other',
    ]);
    expect(markets.has('FR')).toBe(false);
  });

  it.each([
    ['a file without the header', 'a,b\n1,2', /no header/],
    ['another currency', published.replace('India,$US', 'India,EUR'), /India is priced in EUR, not in USD/],
    ['no market Other', published.replace('Other,', 'Others,'), /the market Other is missing/],
    [
      'a market twice',
      published.replace('Other,', 'India,$US,1,1,1,1,1\nOther,'),
      /India stands in the file twice/,
    ],
    ['a price that is none', published.replace('0.0118', '1e3'), /India, MARKETING: "1e3" is no price/],
  ])('is refused with %s', (_, text, wanted) => {
    expect(problemsOf(() => read(text)).join('\n')).toMatch(wanted);
  });

  it('takes tiers and markets from further files', () => {
    const files = {
      file: Buffer.from(published),
      tiers: Buffer.from('market,category,tier_from,tier_to,price\nIndia,UTILITY,250000,MAX,0.0010\n'),
      markets: Buffer.from('country,market\nGU,North America\n'),
    };
    const { prices, markets } = readPriceFiles(files, 'USD');
    expect(prices).toContainEqual({
      market: 'India',
      category: 'UTILITY',
      price: 1_000n,
      tierFrom: 250_000n,
      tierTo: null,
    });
    expect([...markets]).toEqual([
      ['', 'Other'],
      ['GU', 'North America'],
    ]);
  });

  it('is refused if a country is mapped to a market that it does not have', () => {
    const files = { file: Buffer.from(published), markets: Buffer.from('country,market\nDE,Germany\n') };
    expect(problemsOf(() => readPriceFiles(files, 'USD'))).toEqual([
      'DE is mapped to Germany, a market that the card does not have',
    ]);
  });

  it('is compared with the card before, and doubted if a price moves more than tenfold', () => {
    const before = read(published).prices;
    const after = read(published.replace('0.0118', '0.1190').replace('0.0604', '0.0610')).prices;
    const differences = comparePrices(before, after);
    expect(differences).toEqual([
      { market: 'India', category: 'MARKETING', before: 11_800n, after: 119_000n },
      { market: 'Other', category: 'MARKETING', before: 60_400n, after: 61_000n },
    ]);
    expect(implausible(differences)).toEqual([
      'India, MARKETING changes from 0.0118 to 0.119, more than tenfold',
    ]);
    expect(comparePrices(before, before)).toEqual([]);
  });
});
