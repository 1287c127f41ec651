/** Guesses the columns of a CSV (phone, country, name, e-mail) from its header and its first rows, by what could be read with them. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { callingCodeFor, isPhoneNumber, type PhoneNumber, readNumber } from '../phone-number.ts';
import { consentHeading, type ConsentMapping, looksLikeConsent, plainHeader } from './consent-column.ts';
import { isColumnName, mostCustomColumns, type CsvMapping } from './csv.ts';

export interface GuessedColumns {
  readonly mapping: CsvMapping;
  /** 0 to 1, by the name of the mapping's field. Contains only fields for which a column was found. */
  readonly confidence: Readonly<Record<string, number>>;
}

// The words of headers, in small letters and without accents, in the languages of the largest markets.
const words = {
  mobile:
    /\b(?:mob|mobile?s?|mobile?(?:phone|number|no)|mobil\p{L}*|mobiel\p{L}*|cell(?:phone|ular\p{L}*)?|whats ?app\p{L}*|handy\p{L}*|portable|gsm|movil\p{L}*|celular\p{L}*|telemovel|cellulare|komork\p{L}*|cep|hp|ponsel)\b|мобил|сотов|جوال|موبايل|मोबाइल|手机|携帯/u,
  phone:
    /\b(?:phone\p{L}*|ph|tel|telefon\p{L}*|rufnummer|telephones?|fone|telepon|telp|msisdn|wa ?id|jid|chat ?id)\b|телеф|هاتف|फ़?ोन|电话|電話/u,
  lower:
    /\b(?:home|work|business|office|company|primary|main|other|default|billing|shipping|privat\p{L}*|geschaft\p{L}*|domicile|bureau|casa|trabajo|trabalho|ev|is)\b|дом|раб/u,
  never: /\b(?:fax|telefax|pager|telex|label|type|typ|tipo|extension|ext)\b/u,
  otherId:
    /\b(?:id|ids|dni|nif|nie|cpf|cnpj|rfc|curp|cuit|cuil|rut|nit|ssn|pan|aadhaar|passport|pasaporte|iban|zip|plz|postal|postcode|order|orders|pedido|invoice|date|datum|fecha|data|birthday|price|preis|precio|preco|total|amount|spent)\b/u,
  country:
    /\b(?:country|countrycode|land|lander\p{L}*|landes\p{L}*|pays|pais|paese|kraj|ulke|negara|nation|calling ?code|dial(?:ing|ling)? ?code|dial|vorwahl|indicatif|ddi|iso)\b|страна|بلد|دولة|देश|国家|国|國/u,
  notCountry:
    /\b(?:lang|language|locale|sprache|langue|idioma|lingua|taal|jezyk|dil|bahasa|state|province|region|bundesland|provincia|estado)\b|язык|لغة|भाषा|语言|言語/u,
  fullName:
    /^(?:full ?name|name|display ?name|contact ?name|customer ?name|client ?name|push ?name|saved ?name|profile ?name|nombre completo|nome completo|nom complet|vollstandiger name|naam|nombre y apellidos?|姓名|名前|氏名|имя|الاسم|नाम)$/u,
  firstName:
    /\b(?:first ?names?|given ?name|forename|vorname|nombres?|prenom|nome|voornaam|imie|isim|ad)\b|имя|名/u,
  person: /\b(?:customer|kunde|cliente|client|contact|kontakt|contacto|contato|buyer|recipient)\b/u,
  notName:
    /\b(?:owner|company|firma|empresa|organi[sz]ation|phonetic|nick ?name|prefix|suffix|middle|last|sur|surname|family|nachname|apellidos?|sobrenome|cognome|user ?name|label|type|id|file as|title|tags?|source|status|since|number|country)\b/u,
  email: /e-?mail|correo|courriel/u,
};

/** Maximum length of all guessed custom column names together, in characters: more would make the response too long. */
const mostNamed = 4_096;

/** Maximum number of characters of a cell to examine: no e-mail address is longer. */
const longestCell = 320;

/** How many columns are tried as the phone and as the country column, and with how many rows: reading numbers takes most of the time. */
const mostPhoneColumns = 4;
const mostCountryColumns = 2;
const mostRows = 200;

interface Column {
  readonly index: number;
  /** See `plainHeader`. */
  readonly header: string;
  /** One for each row. */
  readonly cells: readonly string[];
  readonly filled: readonly string[];
}

/** `rows` are the cells of the first rows beneath the header; `defaultCountry` is that of numbers that name none. */
export function guessColumns(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  defaultCountry = '',
): GuessedColumns {
  const sample = rows.slice(0, mostRows);
  const columns = headers.map((header, index): Column => {
    const cells = sample.map((row) => (row[index] ?? '').slice(0, longestCell).trim());
    return { index, header: plainHeader(header), cells, filled: cells.filter((cell) => cell !== '') };
  });
  const phone = guessPhone(columns, defaultCountry);
  const country = phone === undefined ? undefined : guessCountry(columns, phone, defaultCountry);
  const taken = new Set([phone?.column.index ?? 0, ...(country === undefined ? [] : [country.index])]);
  const consent = guessConsent(columns, taken);
  if (consent?.column != null) taken.add(consent.column);
  const email = best(columns, taken, emailScore);
  if (email !== undefined) taken.add(email.index);
  const name = best(columns, taken, nameScore);
  if (name !== undefined) taken.add(name.index);
  const custom = customColumns(headers, taken);
  const phoneColumn = phone?.column.index ?? 0;
  return {
    mapping: {
      phone_column: phoneColumn,
      // Numbers that name their country need no column for it, so any column will do.
      country_code_column: country?.index ?? phoneColumn,
      ...(name !== undefined && { name_column: name.index }),
      ...(email !== undefined && { email_column: email.index }),
      ...(custom.length > 0 && { custom_field_mapping: Object.fromEntries(custom) }),
      ...(consent !== undefined && { consent }),
    },
    confidence: {
      phone_column: phone === undefined ? 0 : rounded(phone.confidence),
      country_code_column: country === undefined ? countryConfidence(phone) : rounded(country.confidence),
      ...(name !== undefined && { name_column: rounded(name.score) }),
      ...(email !== undefined && { email_column: rounded(email.score) }),
    },
  };
}

const rounded = (score: number): number => Math.round(Math.min(1, score) * 100) / 100;

// Consent: a column of opt-outs rather than one of opt-ins, because an overlooked opt-out does harm.

function guessConsent(columns: readonly Column[], taken: ReadonlySet<number>): ConsentMapping | undefined {
  const found = columns.flatMap(({ index, header, filled }) => {
    const heading = taken.has(index) ? undefined : consentHeading(header);
    return heading !== undefined && looksLikeConsent(filled, heading.meaning)
      ? [{ column: index, ...heading }]
      : [];
  });
  return found.find(({ meaning }) => meaning === 'opt_out') ?? found[0];
}

// Phone and country.

interface GuessedPhone {
  readonly column: Column;
  readonly numbers: readonly (PhoneNumber | undefined)[];
  readonly confidence: number;
}

function guessPhone(columns: readonly Column[], defaultCountry: string): GuessedPhone | undefined {
  const candidates = columns
    .map((column) => ({ column, header: phoneHeaderScore(column.header) }))
    .filter(({ column, header }) => header !== undefined && !isOtherNumber(column, header))
    .map(({ column, header = 0 }) => ({ column, header, rough: header + 2 * roughShare(column) }))
    .filter(({ rough }) => rough > 0)
    .toSorted((one, other) => other.rough - one.rough)
    .slice(0, mostPhoneColumns);
  const countries = countryCandidates(columns);
  const scored = candidates.map(({ column, header }) => {
    const numbers = readNumbers(column, undefined, defaultCountry);
    const others = countries.filter(({ index }) => index !== column.index);
    const reads = [numbers, ...others.map((one) => readNumbers(column, one, defaultCountry))];
    const most = reads.reduce((first, second) => (count(second) > count(first) ? second : first));
    const reach = column.cells.length === 0 ? 0 : count(most) / column.cells.length;
    const share = column.filled.length === 0 ? 0 : count(most) / column.filled.length;
    const confidence = (header > 0 ? 0.5 : 0) + share / 2;
    return { column, numbers, confidence, score: header + 2 * reach + 0.5 * mobileShare(most) };
  });
  const [found] = scored.toSorted((one, other) => other.score - one.score);
  return found !== undefined && found.score > 0 ? found : undefined;
}

/** Undefined for a header that names something else. */
function phoneHeaderScore(header: string): number | undefined {
  if (words.never.test(header)) return undefined;
  const [isMobile, isPhone] = [words.mobile.test(header), words.phone.test(header)];
  if (!isMobile && !isPhone) return words.otherId.test(header) ? undefined : 0;
  if (words.lower.test(header)) return 0.5;
  return isMobile ? 1 : 0.8;
}

/** The share of the rows that have at least seven digits and hardly a letter in this column. */
const roughShare = ({ cells }: Column): number =>
  cells.length === 0 ? 0 : cells.filter(isLikeNumber).length / cells.length;

const isLikeNumber = (cell: string): boolean => {
  const digits = cell.match(/\p{Nd}/gu)?.length ?? 0;
  return digits >= 7 && (cell.match(/\p{L}/gu)?.length ?? 0) <= digits;
};

const readNumbers = (
  column: Column,
  country: Column | undefined,
  defaultCountry: string,
): readonly (PhoneNumber | undefined)[] =>
  column.cells.map((cell, row) => {
    const reading = readNumber(cell, country?.cells[row], defaultCountry);
    return isPhoneNumber(reading) ? reading : undefined;
  });

const count = (numbers: readonly (PhoneNumber | undefined)[]): number =>
  numbers.reduce((sum, number) => (number === undefined ? sum : sum + 1), 0);

/** The types of so many numbers are looked up. */
const mostTyped = 20;

function mobileShare(numbers: readonly (PhoneNumber | undefined)[]): number {
  const valid = numbers.filter((number) => number !== undefined).slice(0, mostTyped);
  const mobile = valid.filter(({ digits }) => {
    const type = parsePhoneNumberFromString(`+${digits}`)?.getType();
    return type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE';
  });
  return valid.length === 0 ? 0 : mobile.length / valid.length;
}

const countryCandidates = (columns: readonly Column[]): readonly Column[] =>
  columns
    .filter(({ header }) => !words.notCountry.test(header) || words.country.test(header))
    .map((column) => ({ column, score: (words.country.test(column.header) ? 1 : 0) + codeShare(column) }))
    .filter(({ score }) => score >= 0.4)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, mostCountryColumns)
    .map(({ column }) => column);

/** The share of the cells that name a country. */
const codeShare = ({ filled }: Column): number =>
  filled.length === 0
    ? 0
    : filled.filter((cell) => cell.length < 64 && callingCodeFor(cell) !== undefined).length / filled.length;

/** A column that adds fewer rows is no country column, whatever its cells look like. */
const leastAdded = 0.05;

function guessCountry(
  columns: readonly Column[],
  { column, numbers }: GuessedPhone,
  defaultCountry: string,
): { readonly index: number; readonly confidence: number } | undefined {
  const alone = count(numbers);
  const [found] = countryCandidates(columns)
    .filter(({ index }) => index !== column.index)
    .map((candidate) => {
      const isNamed = words.country.test(candidate.header);
      const added = count(readNumbers(column, candidate, defaultCountry)) - alone;
      return { candidate, isNamed, added };
    })
    // A named column that changes nothing serves the rows to come.
    .filter(({ isNamed, added }) => added > leastAdded * column.cells.length || (isNamed && added >= 0))
    .toSorted((one, other) => other.added - one.added || Number(other.isNamed) - Number(one.isNamed));
  if (found === undefined) return undefined;
  const confidence = (found.isNamed ? 0.5 : 0) + codeShare(found.candidate) / 2;
  return { index: found.candidate.index, confidence };
}

/** 1 without a country column if half of the numbers name their country. */
function countryConfidence(phone: GuessedPhone | undefined): number {
  if (phone === undefined || phone.column.filled.length === 0) return 0;
  const named = phone.column.cells.filter(
    (cell, row) => /^\s*'?\+/.test(cell) && phone.numbers[row] !== undefined,
  );
  return 2 * named.length >= phone.column.filled.length ? 1 : 0;
}

// Numbers that are no phone numbers.

/** Fewer cells might all pass a check by chance. */
const leastChecked = 5;

/** True for a column of identity, article or running numbers, or of dates. A header that names phones is believed. */
function isOtherNumber({ filled }: Column, header: number | undefined): boolean {
  if (header !== 0 || filled.length < leastChecked || filled.some((cell) => cell.includes('+'))) return false;
  const most = 0.9 * filled.length;
  const digits = filled.map((cell) => cell.replaceAll(/\D/g, ''));
  if (
    filled.filter((cell) => /^(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4})(?:\D|$)/.test(cell)).length >=
    most
  )
    return true;
  if (checks.some((check) => digits.filter((one) => check(one)).length >= most)) return true;
  const steps = digits.slice(1).filter((one, at) => BigInt(one || 0) - BigInt(digits[at] || 0) === 1n);
  return steps.length >= 0.9 * (digits.length - 1);
}

const digitsOf = (text: string): readonly number[] => Array.from(text, Number);

/** The check digit of Brazil and Argentina: weighted digits modulo 11. */
function passesModulo11(digits: readonly number[], weights: readonly number[]): boolean {
  const sum = weights.reduce((total, weight, at) => total + weight * (digits[at] ?? 0), 0);
  const check = (11 - (sum % 11)) % 11;
  return digits[weights.length] === (check === 10 ? 0 : check);
}

/** Digits of which every second one counts double, or three times, from the right. */
function passesModulo10(text: string, factor: 2 | 3): boolean {
  const sum = digitsOf(text)
    .toReversed()
    .reduce((total, digit, at) => {
      const value = at % 2 === 1 ? digit * factor : digit;
      return total + (factor === 2 && value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

const descending = (from: number, to: number): readonly number[] =>
  Array.from({ length: from - to + 1 }, (_, at) => from - at);

const verhoeffPermutation = '1576283094';
const verhoeffProduct = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
];

function passesVerhoeff(text: string): boolean {
  let check = 0;
  for (const [at, digit] of digitsOf(text).toReversed().entries()) {
    let moved = digit;
    for (let times = 0; times < at % 8; times += 1) moved = Number(verhoeffPermutation[moved]);
    check = Number(verhoeffProduct[check]?.[moved]);
  }
  return check === 0;
}

const checks: readonly ((digits: string) => boolean)[] = [
  // CPF and CNPJ of Brazil.
  (text) =>
    text.length === 11 &&
    passesModulo11(digitsOf(text), descending(10, 2)) &&
    passesModulo11(digitsOf(text), descending(11, 2)),
  (text) =>
    text.length === 14 &&
    passesModulo11(digitsOf(text), [...descending(5, 2), ...descending(9, 2)]) &&
    passesModulo11(digitsOf(text), [...descending(6, 2), ...descending(9, 2)]),
  // CUIT of Argentina.
  (text) =>
    text.length === 11 &&
    /^(?:2[03-7]|3[034])/.test(text) &&
    passesModulo11(digitsOf(text), [...descending(5, 2), ...descending(7, 2)]),
  // Cards, IMEI and customer numbers; EAN-13; Aadhaar of India.
  (text) => text.length >= 8 && passesModulo10(text, 2),
  (text) => text.length === 13 && passesModulo10(text, 3),
  (text) => text.length === 12 && passesVerhoeff(text),
];

// Name, e-mail and the other columns.

function best(columns: readonly Column[], taken: ReadonlySet<number>, scoreOf: (column: Column) => number) {
  const [found] = columns
    .filter(({ index }) => !taken.has(index))
    .map((column) => ({ index: column.index, score: scoreOf(column) }))
    .filter(({ score }) => score >= 0.4)
    .toSorted((one, other) => other.score - one.score);
  return found;
}

const shareOf = ({ filled }: Column, isOne: (cell: string) => boolean): number =>
  filled.length === 0 ? 0 : filled.filter(isOne).length / filled.length;

/** A name looks like any other text, so only its header identifies it. */
function nameScore(column: Column): number {
  const { header } = column;
  const named = nameHeaderScore(header);
  const share = shareOf(column, (cell) => /\p{L}{2}|[\u3040-\u9fff]/u.test(cell) && !/[\d@]/.test(cell));
  return named === 0 || share === 0 ? 0 : named / 2 + share / 2;
}

/** Above 1: of several columns of names, the most whole is taken. */
function nameHeaderScore(header: string): number {
  if (words.fullName.test(header)) return 1.1;
  if (words.notName.test(header)) return 0;
  if (words.firstName.test(header)) return 1.05;
  return words.person.test(header) ? 1 : 0;
}

function emailScore(column: Column): number {
  const share = shareOf(column, looksLikeEmail);
  if (share === 0 && column.filled.length > 0) return 0;
  return (words.email.test(column.header.replaceAll(' ', '')) ? 0.5 : 0) + share / 2;
}

/** Searches by index: a regular expression with three unbounded parts takes cubic time on a long cell. */
function looksLikeEmail(cell: string): boolean {
  const at = cell.indexOf('@', 1);
  return at !== -1 && cell.lastIndexOf('.', cell.length - 2) > at + 1 && !/\s/.test(cell);
}

/** The columns that are left, by their headers; of two with one header the second is called `City 2`. */
function customColumns(
  headers: readonly string[],
  taken: ReadonlySet<number>,
): readonly (readonly [name: string, column: number])[] {
  const names = new Set<string>();
  let named = 0;
  return headers
    .map((header, column) => [header.trim(), column] as const)
    .filter(([header, column]) => isColumnName(header) && !taken.has(column))
    .slice(0, mostCustomColumns)
    .flatMap(([header, column]) => {
      let name = header;
      for (let at = 2; names.has(name); at += 1) name = `${header} ${at}`;
      named += name.length;
      if (named > mostNamed || !isColumnName(name)) return [];
      names.add(name);
      return [[name, column] as const];
    });
}
