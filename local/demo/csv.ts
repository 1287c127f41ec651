/** A contact list as people really export it: the same rows for the same seed. */
import { createRandom } from '../simulator/protocol/random.ts';

export interface DemoCsv {
  /** With byte order mark and CRLF line ends. */
  readonly text: string;
  readonly rows: number;
  /** How many rows have each of the deliberate mistakes. */
  readonly planted: { readonly duplicates: number; readonly invalid: number; readonly nameless: number };
}

/** 0-based columns, as `csv_mapping` names them. */
export const demoCsvMapping = {
  name_column: 0,
  email_column: 1,
  country_code_column: 2,
  phone_column: 3,
  custom_field_mapping: { city: 4, note: 5 },
} as const;

const header = ['Full name', 'E-mail', 'Country', 'Mobile phone', 'City', 'Note'];
const firstNames = [
  'Ada',
  'José',
  'Zoë',
  'Łukasz',
  'Renée',
  'Björn',
  'Mária',
  'Øyvind',
  'Søren',
  'Inês',
  'Grace',
  '李',
  'محمد',
];
const lastNames = [
  'Müller',
  "O'Brien",
  'García',
  'Nguyễn',
  'Škoda',
  'Smith',
  'Ångström',
  'de la Cruz',
  'Kowalski',
  '王',
];
const cities = [
  'München',
  'São Paulo',
  'Kraków',
  'London, UK',
  'Zürich',
  'New York, NY',
  'Málaga',
  'Reykjavík',
];
const notes = [
  '',
  '',
  '',
  'VIP; call first',
  'likes "quoted" words',
  'first line\nsecond line',
  'a, b, c',
  '  spaces  ',
];

interface Country {
  readonly iso: string;
  readonly code: string;
  /** A national number without its trunk prefix, unique for every index. */
  readonly national: (index: number) => string;
  readonly trunk: string;
}

const padded = (index: number, length: number) => String(index).padStart(length, '0');

// Ranges that the numbering plans give to mobile phones.
const countries: readonly Country[] = [
  { iso: 'DE', code: '49', trunk: '0', national: (index) => `151${padded(10_000_000 + index, 8)}` },
  { iso: 'GB', code: '44', trunk: '0', national: (index) => `7400${padded(100_000 + index, 6)}` },
  { iso: 'ES', code: '34', trunk: '', national: (index) => `612${padded(100_000 + index, 6)}` },
  { iso: 'PL', code: '48', trunk: '', national: (index) => `512${padded(100_000 + index, 6)}` },
  { iso: 'IN', code: '91', trunk: '0', national: (index) => `98765${padded(10_000 + index, 5)}` },
  { iso: 'BR', code: '55', trunk: '', national: (index) => `119${padded(81_000_000 + index, 8)}` },
];

const invalidPhones = ['', 'n/a', '12345', '+49 30', '000000000', 'call me', '+1 555', '0151-ABC'];

export function makeDemoCsv({ rows, seed }: { readonly rows: number; readonly seed: number }): DemoCsv {
  const random = createRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const planted = { duplicates: 0, invalid: 0, nameless: 0 };
  const lines = [header.map(quoted).join(',')];
  const earlier: (readonly [string, string])[] = [];

  for (let index = 0; index < rows; index += 1) {
    const country = pick(countries);
    let place: readonly [string, string] = [countryCell(country, random), phoneCell(country, index, random)];
    const chance = random();
    if (chance < 0.02 && earlier.length > 0) {
      planted.duplicates += 1;
      place = pick(earlier);
    } else if (chance < 0.04) {
      planted.invalid += 1;
      place = [place[0], pick(invalidPhones)];
    } else if (earlier.length < 5_000) {
      earlier.push(place);
    }
    let name = `${pick(firstNames)} ${pick(lastNames)}`;
    if (random() < 0.01) {
      planted.nameless += 1;
      name = '';
    }
    const email = random() < 0.1 ? '' : `person${index}@example.com`;
    lines.push([name, email, ...place, pick(cities), pick(notes)].map(quoted).join(','));
  }
  return { text: `\uFEFF${lines.join('\r\n')}\r\n`, rows, planted };
}

function countryCell({ iso, code }: Country, random: () => number): string {
  const chance = random();
  if (chance < 0.4) return `+${code}`;
  return chance < 0.7 ? code : iso;
}

function phoneCell({ iso, code, trunk, national }: Country, index: number, random: () => number): string {
  const number = national(index);
  const spaced = `${number.slice(0, 3)} ${number.slice(3, 6)} ${number.slice(6)}`;
  const forms = [`+${code}${number}`, `+${code} ${spaced}`, `${trunk}${number}`, `${trunk}${spaced}`];
  // International calls from Brazil need a carrier code after the 00.
  if (iso !== 'BR') forms.push(`00${code}${number}`);
  return forms[Math.floor(random() * forms.length)] ?? number;
}

function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
