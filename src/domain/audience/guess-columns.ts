/** Guesses the columns of a CSV (phone, country, name, e-mail) from its header and its first rows. */
import { callingCodeFor, normalisePhoneNumber } from '../phone-number.ts';
import { isColumnName, mostCustomColumns, type CsvMapping } from './csv.ts';

export interface GuessedColumns {
  readonly mapping: CsvMapping;
  /** 0 to 1, by the name of the mapping's field. Contains only fields for which a column was found. */
  readonly confidence: Readonly<Record<string, number>>;
}

type Kind = 'phone' | 'country' | 'name' | 'email';

const headerWords: Readonly<Record<Kind, RegExp>> = {
  phone:
    /phone|mobile|mobil|cell|whats?app|telefon|tel\b|handy|nummer|number|msisdn|celular|telefono|téléphone|फ़ोन|phone_?number/i,
  country: /country|calling.?code|dial|prefix|vorwahl|land\b|ländercode|pa[ií]s|pays|iso/i,
  name: /^(full.?)?name$|first.?name|vorname|nombre|prénom|prenom|nome|customer|kunde|cliente|contact/i,
  email: /e-?mail|correo|courriel/i,
};

const shares: Readonly<Record<Kind, (cell: string) => boolean>> = {
  phone: (cell) => cell.replaceAll(/\D/g, '').length >= 7 && /^[^a-z@]+$/i.test(cell),
  country: (cell) => /^(\+|00)?\d{1,4}$|^[a-z]{2}$/i.test(cell) && callingCodeFor(cell) !== undefined,
  name: (cell) => /\p{L}{2}/u.test(cell) && !/[\d@]/.test(cell),
  email: looksLikeEmail,
};

/** Searches by index: a regular expression with three unbounded parts takes cubic time on a long cell. */
function looksLikeEmail(cell: string): boolean {
  const at = cell.indexOf('@', 1);
  return at !== -1 && cell.lastIndexOf('.', cell.length - 2) > at + 1 && !/\s/.test(cell);
}

/** Maximum length of all guessed custom column names together, in characters: more would make the response too long. */
const mostNamed = 4_096;

/** Maximum number of characters of a cell to examine: no e-mail address is longer. */
const longestCell = 320;

/** `rows` are the cells of the first rows beneath the header. */
export function guessColumns(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): GuessedColumns {
  const taken = new Set<number>();
  const confidence: Record<string, number> = {};
  const best = (kind: Kind, field: string): number | undefined => {
    const scored = headers
      .map((header, column) => ({ column, score: scoreOf(kind, header, column, rows) }))
      .filter(({ column, score }) => score >= 0.4 && !taken.has(column))
      .toSorted((one, other) => other.score - one.score);
    const [found] = scored;
    if (found === undefined) return undefined;
    taken.add(found.column);
    confidence[field] = Math.round(found.score * 100) / 100;
    return found.column;
  };
  const email = best('email', 'email_column');
  const phone = best('phone', 'phone_column') ?? 0;
  confidence['phone_column'] ??= 0;
  const country = best('country', 'country_code_column');
  taken.add(phone);
  const name = best('name', 'name_column');
  confidence['country_code_column'] ??= isInternational(rows, phone) ? 1 : 0;
  let named = 0;
  const custom = headers
    .map((header, column) => [header.trim(), column] as const)
    .filter(([header, column]) => isColumnName(header) && !taken.has(column))
    .slice(0, mostCustomColumns)
    .filter(([header]) => (named += header.length) <= mostNamed);
  return {
    mapping: {
      phone_column: phone,
      // Numbers that begin with a plus need no country, so any column will do.
      country_code_column: country ?? phone,
      ...(name !== undefined && { name_column: name }),
      ...(email !== undefined && { email_column: email }),
      ...(custom.length > 0 && { custom_field_mapping: Object.fromEntries(custom) }),
    },
    confidence,
  };
}

function scoreOf(kind: Kind, header: string, column: number, rows: readonly (readonly string[])[]): number {
  const cells = rows
    .map((row) => (row[column] ?? '').slice(0, longestCell).trim())
    .filter((cell) => cell !== '');
  const share = cells.length === 0 ? 0 : cells.filter(shares[kind]).length / cells.length;
  const isNamed = headerWords[kind].test(header.trim());
  // A name looks like any other text, so only its header identifies it.
  if (kind === 'name') return isNamed ? 0.5 + share / 2 : 0;
  return (isNamed ? 0.5 : 0) + share / 2;
}

function isInternational(rows: readonly (readonly string[])[], column: number): boolean {
  const cells = rows
    .map((row) => (row[column] ?? '').slice(0, longestCell))
    .filter((cell) => cell.trim() !== '');
  const whole = cells.filter((cell) => /^\s*'?\+/.test(cell) && normalisePhoneNumber(cell) !== undefined);
  return cells.length > 0 && whole.length >= cells.length / 2;
}
