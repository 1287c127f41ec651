/** Types of custom fields. Their values are stored as text; a type says how conditions compare them. */

export const fieldTypes = ['text', 'number', 'date', 'boolean'] as const;
export type FieldType = (typeof fieldTypes)[number];

/** By the id of the custom field. */
export type FieldTypes = ReadonlyMap<string, FieldType>;

const trueTexts = ['true', 'yes', 'ja', 'y', 'j', '1', 'wahr', 'oui', 'si', 'sí', 'sim'];
const falseTexts = ['false', 'no', 'nein', 'n', '0', 'falsch', 'non', 'não'];

/** Lower-case texts that a field of the type boolean reads as true or as false. */
export const booleanTexts = (wanted: boolean): readonly string[] => (wanted ? trueTexts : falseTexts);

export function readBooleanText(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (trueTexts.includes(word)) return true;
  return falseTexts.includes(word) ? false : undefined;
}

/** The number in digits with a decimal point, such as `-12.5`; undefined for any other text. */
export function plainNumber(text: string): number | undefined {
  return /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads numbers with thousands separators or a decimal comma, as `custom_number` (sql/0061) does; undefined if the text is no
 * number or could be two.
 */
function readNumberText(given: string): number | undefined {
  const text = given.trim();
  const plain = plainNumber(text);
  if (plain !== undefined) return plain;
  if (/^[+-]?\d{1,3}(\.\d{3})+,\d{1,15}$/.test(text))
    return Number(text.replaceAll('.', '').replace(',', '.'));
  if (/^[+-]?\d{1,3}(,\d{3})+\.\d{1,15}$/.test(text)) return Number(text.replaceAll(',', ''));
  if (/^[+-]?\d{1,3}([.]\d{3}){2,4}$|^[+-]?\d{1,3}(,\d{3}){2,4}$/.test(text))
    return Number(text.replaceAll(/[.,]/g, ''));
  const hasDecimalComma = /^[+-]?\d{1,15},\d{1,15}$/.test(text) && !/,\d{3}$/.test(text);
  return hasDecimalComma ? Number(text.replace(',', '.')) : undefined;
}

/** What was probably meant by a text that is no plain number. */
export function suggestNumber(text: string): number | undefined {
  const bare = text.replaceAll(/[\s'’€$£%_]/g, '');
  return readNumberText(bare) ?? (/^\d{1,3},\d{3}$/.test(bare) ? Number(bare.replace(',', '')) : undefined);
}

const isoDate = /^(\d{4})-(\d\d)-(\d\d)([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/;
const dottedDate = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;

/** True for ISO 8601 dates and times, and for days such as 31.12.2026. */
function isDateText(text: string): boolean {
  const iso = isoDate.exec(text);
  if (iso !== null) return dayExists(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const dotted = dottedDate.exec(text);
  return dotted !== null && dayExists(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
}

function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Digits that begin with a zero or a plus sign are a code or a phone number. */
const isNumberText = (text: string): boolean =>
  readNumberText(text) !== undefined && !/^(\+|-?0\d)/.test(text);

/** Undefined if none of the values says anything. */
export function guessFieldType(values: Iterable<string>): FieldType | undefined {
  let isEmpty = true;
  const may = { number: true, date: true, boolean: true };
  for (const value of values) {
    const text = value.trim();
    if (text === '') continue;
    isEmpty = false;
    may.number &&= isNumberText(text);
    may.date &&= isDateText(text);
    may.boolean &&= readBooleanText(text) !== undefined;
    if (!may.number && !may.date && !may.boolean) return 'text';
  }
  if (isEmpty) return undefined;
  // A column of 0 and 1 is one of numbers: both types find what is asked for, but only numbers can be compared.
  if (may.number) return 'number';
  return may.date ? 'date' : 'boolean';
}
