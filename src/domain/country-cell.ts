/** Reads what people and tools write for a country: calling codes, ISO codes, names in many languages, flags. */
import {
  callingCodeOf,
  type NumberingPlan,
  planCountries,
  planOfCountry,
  plansOf,
} from './numbering-plans.ts';
import { plainText, withoutSpreadsheetMarks } from './plain-text.ts';

export interface CellCountry {
  /** Undefined if the cell holds only the beginning of a calling code. */
  readonly plan: NumberingPlan | undefined;
  /** Digits behind the calling code, such as the area in `+1-809`; also the beginning of a calling code, in `+88`. */
  readonly completes: string;
}

export type CountryReading =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'country' } & CellCountry)
  | { readonly kind: 'unknown' }
  /** Its parts name different countries. */
  | { readonly kind: 'contradiction' };

const maxCachedCells = 2_000;
const maxCellLength = 80;
const cells = new Map<string, CountryReading>();

/** A list repeats few countries in many rows, so readings are kept. */
export function readCountry(cell: string): CountryReading {
  const known = cells.get(cell);
  if (known !== undefined) return known;
  const text = cell.slice(0, maxCellLength);
  const reading = read(text);
  if (cells.size >= maxCachedCells) cells.clear();
  if (text === cell) cells.set(cell, reading);
  return reading;
}

const none: CountryReading = { kind: 'none' };
const unknown: CountryReading = { kind: 'unknown' };
const contradiction: CountryReading = { kind: 'contradiction' };

const emptyCells = new Set([
  '',
  '#n/a',
  'n/a',
  '#name?',
  '#value!',
  '#ref!',
  'null',
  'nan',
  'none',
  'nil',
  '-',
  '--',
  '?',
]);
/** Words that join several codes. */
const joiningWords = new Set(['and', 'or', 'und', 'oder', 'y', 'o', 'e', 'et', 'ou', '/', '&']);

function read(cell: string): CountryReading {
  // `Iran (Islamic Republic of)` and `Netherlands (the)`
  const text = withoutSpreadsheetMarks(plainText(cell, { keepsFlags: true })).replace(
    / ?\(([^()]*\b(?:of|the))\)/i,
    ', $1',
  );
  if (emptyCells.has(text.toLowerCase())) return none;
  const codes = (text.match(/\d[\d\s().-]*/g) ?? []).map((part) =>
    part.replaceAll(/\D/g, '').replace(/^0+/, ''),
  );
  const words = text
    .replaceAll(/\d[\d\s().-]*/g, ' ')
    .replaceAll(/[()[\]+:;|]/g, ' ')
    .split(/\s+/)
    .filter(
      (word) => /[\p{L}\p{RI}]/u.test(word) && !(codes.length > 1 && joiningWords.has(word.toLowerCase())),
    );
  if (words.length === 0) return codes.length === 0 ? unknown : countryOfCodes(codes);
  const named = countryOfWords(words, text);
  if (named.kind !== 'country' || codes.length === 0) return named;
  const byCode = countryOfCodes(codes);
  if (byCode.kind !== 'country') return byCode;
  return named.plan?.callingCode === byCode.plan?.callingCode
    ? { ...named, completes: byCode.completes }
    : contradiction;
}

function countryOfCodes(codes: readonly string[]): CountryReading {
  const [first = ''] = codes;
  const code = callingCodeOf(first);
  if (code === undefined) {
    const mayBegin = codes.length === 1 && first !== '' && first.length <= 2;
    return mayBegin ? { kind: 'country', plan: undefined, completes: first } : unknown;
  }
  if (codes.some((other) => callingCodeOf(other) !== code)) return contradiction;
  const area = first.slice(code.length);
  if (area.length > 4) return unknown;
  const plans = plansOf(code);
  const plan =
    area === '' ? plans[0] : (plans.find(({ leadingDigits }) => leadingDigits?.test(area)) ?? plans[0]);
  return { kind: 'country', plan, completes: area };
}

function countryOfWords(words: readonly string[], text: string): CountryReading {
  const inFlags = text.match(/\p{RI}\p{RI}/gu)?.map(countryOfFlag) ?? [];
  const rest = words.map((word) => word.replaceAll(/\p{RI}/gu, '')).filter((word) => /\p{L}/u.test(word));
  const named = rest.length === 0 ? [] : namesIn(rest);
  const found = new Set([...inFlags, ...(named ?? [])]);
  const [country] = found;
  const plan = country === undefined ? undefined : planOfCountry(country);
  if (named === undefined || plan === undefined) return unknown;
  return found.size === 1 ? { kind: 'country', plan, completes: '' } : contradiction;
}

const countryOfFlag = (flag: string): string =>
  [...flag].map((letter) => String.fromCharCode((letter.codePointAt(0) ?? 0) - 0x1_f1a5)).join('');

/** `IN India` and `India - IN` name a country twice. */
function namesIn(words: readonly string[]): readonly string[] | undefined {
  const whole = countryOfName(words.join(' '));
  if (whole !== undefined) return [whole];
  const [first = ''] = words;
  const last = words.at(-1) ?? '';
  if (words.length > 1 && isShortCode(first)) {
    const named = countryOfName(words.slice(1).join(' '));
    const code = countryOfName(first);
    if (named !== undefined && code !== undefined) return [code, named];
  }
  if (words.length > 1 && isShortCode(last)) {
    const named = countryOfName(words.slice(0, -1).join(' '));
    const code = countryOfName(last);
    if (named !== undefined && code !== undefined) return [named, code];
  }
  return undefined;
}

const isShortCode = (word: string): boolean => /^[A-Za-z]{2,3}$/.test(word);

/** ISO 3166 alpha-2 of a code or a name; undefined if there is none. */
function countryOfName(given: string): string | undefined {
  const text = given.trim();
  const upper = text.toUpperCase();
  if (/^[A-Z]{2}$/.test(upper)) {
    const country = otherCodes[upper] ?? upper;
    return planOfCountry(country) === undefined ? undefined : country;
  }
  const region = /^[a-z]{2,3}[-_](?:[a-z]{4}[-_])?([a-z]{2})$/i.exec(text)?.[1]?.toUpperCase();
  if (region !== undefined && planOfCountry(region) !== undefined) return region;
  const key = keyOf(text);
  if (key === '') return undefined;
  return byAlpha3.get(upper) ?? byName(key) ?? byFormalName(text, key);
}

const otherCodes: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

const formal =
  /^(?:the )?(?:[a-z]+ ){0,3}(?:republic|kingdom|state|states|federation|sultanate|commonwealth|principality|union) of (?:the )?/;
const formalEnd =
  /\b(?:republic|kingdom|states?|federation|sultanate|commonwealth|principality|province|the)\b/i;

/** `Tanzania, United Republic of` and `Republic of Moldova`. */
function byFormalName(text: string, key: string): string | undefined {
  const comma = text.indexOf(',');
  if (comma !== -1) {
    const [name, title] = [text.slice(0, comma), text.slice(comma + 1)];
    return byName(keyOf(`${title} ${name}`)) ?? (formalEnd.test(title) ? byName(keyOf(name)) : undefined);
  }
  const bare = key.replace(formal, '').replace(/^the /, '');
  return bare === key ? undefined : byName(bare);
}

/** Lower case without accents and punctuation. Vowel signs of other scripts stay, because they distinguish names. */
function keyOf(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036F'’ʻ`´.]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('\u0307', '')
    .replaceAll('ß', 'ss')
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll('æ', 'ae')
    .replaceAll('&', ' and ')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .replaceAll(/\bst\b/g, 'saint')
    .trim();
}

// Names by script, so that one unknown name does not load every language. Each language takes 3 to 4 ms.
const latin = ['en', 'es', 'pt', 'fr', 'de', 'it', 'nl', 'pl', 'tr', 'id'];
const languagesByScript: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\p{Script=Cyrillic}/u, ['ru']],
  [/\p{Script=Arabic}/u, ['ar']],
  [/\p{Script=Devanagari}/u, ['hi']],
  [/\p{Script=Hangul}/u, ['ko']],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, ['ja']],
  [/\p{Script=Han}/u, ['zh', 'ja']],
];

function byName(key: string): string | undefined {
  const alias = aliases().get(key);
  if (alias !== undefined) return alias;
  const languages = languagesByScript.find(([script]) => script.test(key))?.[1] ?? latin;
  for (const language of languages) {
    const found = namesOf(language).get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

const namesByLanguage = new Map<string, ReadonlyMap<string, string>>();
/** Two countries share these. */
const shared = new Set(['CG', 'CD']);

function namesOf(language: string): ReadonlyMap<string, string> {
  const known = namesByLanguage.get(language);
  if (known !== undefined) return known;
  const names = new Map<string, string>();
  for (const style of ['long', 'short'] as const) {
    const display = new Intl.DisplayNames([language], { type: 'region', style, fallback: 'none' });
    for (const country of planCountries) {
      const name = display.of(country);
      if (name === undefined) continue;
      const key = keyOf(name);
      if (shared.has(country) && !key.includes(' ')) continue;
      if (!names.has(key)) names.set(key, country);
    }
  }
  namesByLanguage.set(language, names);
  return names;
}

const alpha3 =
  'ABW:AW AFG:AF AGO:AO AIA:AI ALA:AX ALB:AL AND:AD ARE:AE ARG:AR ARM:AM ASM:AS ATG:AG AUS:AU AUT:AT AZE:AZ BDI:BI BEL:BE BEN:BJ BES:BQ BFA:BF BGD:BD BGR:BG BHR:BH BHS:BS BIH:BA BLM:BL BLR:BY BLZ:BZ BMU:BM BOL:BO BRA:BR BRB:BB BRN:BN BTN:BT BWA:BW CAF:CF CAN:CA CCK:CC CHE:CH CHL:CL CHN:CN CIV:CI CMR:CM COD:CD COG:CG COK:CK COL:CO COM:KM CPV:CV CRI:CR CUB:CU CUW:CW CXR:CX CYM:KY CYP:CY CZE:CZ DEU:DE DJI:DJ DMA:DM DNK:DK DOM:DO DZA:DZ ECU:EC EGY:EG ERI:ER ESH:EH ESP:ES EST:EE ETH:ET FIN:FI FJI:FJ FLK:FK FRA:FR FRO:FO FSM:FM GAB:GA GBR:GB GEO:GE GGY:GG GHA:GH GIB:GI GIN:GN GLP:GP GMB:GM GNB:GW GNQ:GQ GRC:GR GRD:GD GRL:GL GTM:GT GUF:GF GUM:GU GUY:GY HKG:HK HND:HN HRV:HR HTI:HT HUN:HU IDN:ID IMN:IM IND:IN IOT:IO IRL:IE IRN:IR IRQ:IQ ISL:IS ISR:IL ITA:IT JAM:JM JEY:JE JOR:JO JPN:JP KAZ:KZ KEN:KE KGZ:KG KHM:KH KIR:KI KNA:KN KOR:KR KWT:KW LAO:LA LBN:LB LBR:LR LBY:LY LCA:LC LIE:LI LKA:LK LSO:LS LTU:LT LUX:LU LVA:LV MAC:MO MAF:MF MAR:MA MCO:MC MDA:MD MDG:MG MDV:MV MEX:MX MHL:MH MKD:MK MLI:ML MLT:MT MMR:MM MNE:ME MNG:MN MNP:MP MOZ:MZ MRT:MR MSR:MS MTQ:MQ MUS:MU MWI:MW MYS:MY MYT:YT NAM:NA NCL:NC NER:NE NFK:NF NGA:NG NIC:NI NIU:NU NLD:NL NOR:NO NPL:NP NRU:NR NZL:NZ OMN:OM PAK:PK PAN:PA PER:PE PHL:PH PLW:PW PNG:PG POL:PL PRI:PR PRK:KP PRT:PT PRY:PY PSE:PS PYF:PF QAT:QA REU:RE ROU:RO RUS:RU RWA:RW SAU:SA SDN:SD SEN:SN SGP:SG SHN:SH SJM:SJ SLB:SB SLE:SL SLV:SV SMR:SM SOM:SO SPM:PM SRB:RS SSD:SS STP:ST SUR:SR SVK:SK SVN:SI SWE:SE SWZ:SZ SXM:SX SYC:SC SYR:SY TCA:TC TCD:TD TGO:TG THA:TH TJK:TJ TKL:TK TKM:TM TLS:TL TON:TO TTO:TT TUN:TN TUR:TR TUV:TV TWN:TW TZA:TZ UGA:UG UKR:UA URY:UY USA:US UZB:UZ VAT:VA VCT:VC VEN:VE VGB:VG VIR:VI VNM:VN VUT:VU WLF:WF WSM:WS YEM:YE ZAF:ZA ZMB:ZM ZWE:ZW ASC:AC TAA:TA XKX:XK XKK:XK KOS:XK UAE:AE KSA:SA GER:DE DRC:CD ROK:KR PRC:CN';
const byAlpha3: ReadonlyMap<string, string> = new Map(
  alpha3.split(' ').map((pair): [string, string] => [pair.slice(0, 3), pair.slice(4)]),
);

/** Names that people type and the languages' own lists lack; `;` ends a country. */
const aliasList =
  'CI:ivory coast,cote d ivoire,elfenbeinkuste,costa de marfil;CZ:czech republic,czech,cesko,ceska republika,czechia republic,tschechische republik,republica checa,republique tcheque,repubblica ceca,republika czeska;TR:turkey,turkei;GB:england,scotland,wales,northern ireland,great britain,britain,grossbritannien,gran bretana,gra bretanha,grande bretagne,gran bretagna,inglaterra,angleterre,inghilterra,united kingdom of great britain and northern ireland;NL:holland,the netherlands,holanda,hollande,olanda;AE:uae,u a e,emirates,emirats,emiratos arabes,emirados arabes,الامارات,الإمارات,امارات;SA:ksa,saudi,saudia,السعودية,المملكة العربية السعودية;KR:south korea,republic of korea,korea republic,korea south,sudkorea,corea del sur,coree du sud,corea del sud,coreia do sul,대한민국,한국;KP:north korea,korea north,democratic peoples republic of korea,nordkorea;RU:russian federation,российская федерация,рф,russische foderation;MM:burma,birma,birmanie,birmania;SZ:swaziland;VA:vatican,holy see,vatikan,vaticano;US:usa,u s a,us,u s,united states of america,america,ee uu,eeuu,ee uu a,estados unidos de america,eua,etats unis d amerique,stati uniti d america,vereinigte staaten von amerika,сша,соединенные штаты америки,amerika,美国,アメリカ;LA:lao peoples democratic republic,lao,lao pdr;SY:syrian arab republic;IR:islamic republic of iran,persia;TZ:united republic of tanzania;MD:republica moldova,moldavia;MK:macedonia,fyrom,the former yugoslav republic of macedonia,the former yugoslav republic of macedonia;CV:cape verde,cabo verde;TL:east timor,timor leste;CD:democratic republic of the congo,democratic republic of congo,dr congo,congo kinshasa,congo drc,congo dr,congo democratic republic,zaire,the democratic republic of the congo;CG:republic of the congo,republic of congo,congo brazzaville,congo republic;PS:palestine,palestinian territory,state of palestine,occupied palestinian territory,palestinian territory occupied,فلسطين;TW:taiwan roc,republic of china,taiwan province of china,chinese taipei,province of china taiwan;CN:peoples republic of china,prc,mainland china,china mainland,中国大陆,中國;HK:hong kong,hongkong,hong kong sar;MO:macau,macao;VN:viet nam;BO:plurinational state of bolivia;VE:bolivarian republic of venezuela;FM:federated states of micronesia;FK:falkland islands malvinas,malvinas,falklands;VI:us virgin islands,virgin islands us,virgin islands u s;VG:british virgin islands,virgin islands british,bvi;IE:republic of ireland,eire;BY:belorussia,byelorussia,белоруссия;KG:kirghizia,киргизия;UA:the ukraine,україна,ukraina;GM:the gambia;BS:the bahamas;BN:brunei darussalam;RE:reunion island,la reunion;CW:curacao;BA:bosnia,bosnia herzegovina,bosnia and hercegovina;TT:trinidad;AG:antigua;KN:saint kitts;VC:saint vincent;ST:sao tome;PM:saint pierre;MF:saint martin french part;SX:sint maarten dutch part;BL:saint barthelemy,saint barts;SH:saint helena ascension and tristan da cunha;BQ:bonaire,bonaire sint eustatius and saba,caribbean netherlands;RO:rumania,romania;BR:brasil;MX:mexiko,mejico,estados unidos mexicanos;DE:brd,bundesrepublik deutschland;MA:maroc,marokko;MU:ile maurice,mauritius island;SE:sverige;NO:norge,noreg;DK:danmark;FI:suomi;SK:slovensko;HU:magyarorszag;BG:българия;HR:hrvatska;RS:srbija,србија;EE:eesti;LV:latvija;LT:lietuva;SI:slovenija;AL:shqiperia,shqiperi;IL:ישראל;TH:ประเทศไทย,ไทย;BD:বাংলাদেশ;PK:پاکستان;AM:հայաստան;GE:საქართველო;KZ:казакстан,қазақстан;IS:island;EG:misr;LK:ceylon;GR:hellas,ελλαδα,ellada;XK:kosova;JP:nippon,nihon;PF:tahiti;IN:bharat,hindustan;LY:libyan arab jamahiriya;SJ:svalbard;CK:cook islands;NZ:aotearoa';
let aliasesByKey: ReadonlyMap<string, string> | undefined;

function aliases(): ReadonlyMap<string, string> {
  aliasesByKey ??= new Map(
    aliasList.split(';').flatMap((entry) => {
      const [country = '', names = ''] = entry.split(':');
      return names.split(',').map((name): [string, string] => [keyOf(name), country]);
    }),
  );
  return aliasesByKey;
}
