/**
 * The provider's markets by country (ISO 3166 alpha-2), for cards that are loaded without a file of markets. A country that is
 * not named pays the prices of `Other`; one whose own market a card does not have pays its region's.
 */

const own =
  'AR Argentina,BR Brazil,CL Chile,CO Colombia,EG Egypt,FR France,DE Germany,HK Hong Kong,HU Hungary,IN India,ID Indonesia,IL Israel,IT Italy,MY Malaysia,MX Mexico,NL Netherlands,NG Nigeria,PK Pakistan,PE Peru,PL Poland,QA Qatar,RO Romania,RU Russia,SA Saudi Arabia,SG Singapore,ZA South Africa,ES Spain,TR Turkey,AE United Arab Emirates,GB United Kingdom,US United States,CA Canada';

const regions: Readonly<Record<string, string>> = {
  'North America': 'US CA',
  'Rest of Africa':
    'DZ AO BJ BW BF BI CM TD CG CI ER ET GA GM GH GW KE LS LR LY MG MW ML MR MA MZ NA NE RW SN SL SO SS SD SZ TZ TG TN UG ZM ZW NG ZA EG',
  'Rest of Asia Pacific': 'AF AU BD KH CN HK JP LA LK MN MY NP NZ PG PH PK SG TW TJ TH TM UZ VN ID IN',
  'Rest of Central & Eastern Europe': 'AL AM AZ BY BG HR CZ GE GR HU LV LT MD MK PL RO RS RU SK SI UA',
  'Rest of Latin America': 'BO CR DO EC SV GT HT HN JM NI PA PR PY UY VE AR BR CL CO MX PE',
  'Rest of Middle East': 'BH IQ JO KW LB OM QA YE AE SA IL TR',
  'Rest of Western Europe': 'AT BE CH DK FI IE NO PT SE DE ES FR GB IT NL',
};

const ownMarkets = new Map(own.split(',').map((entry) => [entry.slice(0, 2), entry.slice(3)] as const));

/** Spelled as the provider's files spell it. */
export const everyOther = 'Other';

/** The market of each country on a card with these markets; '' is every other country. */
export function marketsByCountry(markets: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map([['', everyOther]]);
  for (const [region, countries] of Object.entries(regions)) {
    if (!markets.has(region)) continue;
    for (const country of countries.split(' ')) found.set(country, region);
  }
  for (const [country, market] of ownMarkets) if (markets.has(market)) found.set(country, market);
  return found;
}
