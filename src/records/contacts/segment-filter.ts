/** Segment conditions as SQL over the table `contact`: values and custom field names are bound parameters, never text. */
import { sql } from 'slonik';
import { formsOfAll, prefixForms } from '../../domain/number-rules.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import {
  type Comparison,
  type FilterMatch,
  isProblem,
  type Predicate,
  readCondition,
  type SegmentCondition,
  type TextField,
  type TextSubject,
  type TimeField,
} from '../../domain/contacts/segment-filter.ts';

export type Fragment = ReturnType<typeof sql.fragment>;

/**
 * For a WHERE clause: true for the contacts of the alias `contact` that match, else false or NULL. No conditions: every contact.
 * With `byIndex` an equal name or address is looked up by its index, which takes two parameters a condition instead of one.
 */
export function compileSegmentFilter(
  match: FilterMatch,
  conditions: readonly SegmentCondition[],
  { byIndex = false } = {},
): Fragment {
  if (conditions.length === 0) return sql.fragment`TRUE`;
  const compiled = conditions.map((condition) => compileCondition(condition, byIndex));
  return sql.fragment`(${sql.join(compiled, match === 'all' ? sql.fragment` AND ` : sql.fragment` OR `)})`;
}

// Conditions were checked before they were stored: one that cannot be read is a defect, not bad input.
function compileCondition(condition: SegmentCondition, byIndex: boolean): Fragment {
  const predicate = readCondition(condition);
  if (isProblem(predicate)) throw new Error(`A stored condition is not valid: ${predicate.message}`);
  const test = compilePredicate(predicate, byIndex);
  // IS TRUE would keep Postgres from using an index.
  return predicate.negated ? sql.fragment`(${test}) IS NOT TRUE` : sql.fragment`(${test})`;
}

function compilePredicate(predicate: Predicate, byIndex: boolean): Fragment {
  switch (predicate.test) {
    case 'text_in':
      return textIn(predicate.subject, predicate.values, byIndex);
    case 'text_contains':
      return sql.fragment`strpos(lower(${textColumn(predicate.subject)}), lower(${plain(predicate.subject, predicate.value)})) > 0`;
    case 'text_starts_with':
      return textStartsWith(predicate.subject, plain(predicate.subject, predicate.value));
    case 'text_present':
      return sql.fragment`${textColumn(predicate.subject)} <> ''`;
    case 'text_compare':
      return textCompare(predicate.subject, predicate.comparison, predicate.value);
    case 'time_within':
      return sql.fragment`${timeColumns[predicate.field]} >= ${instant(predicate.from)}
        AND ${timeColumns[predicate.field]} < ${instant(predicate.until)}`;
    case 'time_from':
      return sql.fragment`${timeColumns[predicate.field]} >= ${instant(predicate.from)}`;
    case 'time_before':
      return sql.fragment`${timeColumns[predicate.field]} < ${instant(predicate.until)}`;
    case 'time_present':
      return sql.fragment`${timeColumns[predicate.field]} IS NOT NULL`;
    case 'subscribed':
      return sql.fragment`contact.subscribed`;
    case 'consent_in':
      return sql.fragment`contact.consent = ANY(${sql.array([...predicate.values], 'text')})`;
    case 'always':
      return sql.fragment`TRUE`;
    case 'tag_any':
      return sql.fragment`EXISTS (SELECT FROM contact_tag WHERE contact_tag.contact_id = contact.id
        AND contact_tag.tag_id = ANY(${sql.array(predicate.tagIds, 'uuid')}))`;
    case 'tag_present':
      return sql.fragment`EXISTS (SELECT FROM contact_tag WHERE contact_tag.contact_id = contact.id)`;
    default:
      return predicate satisfies never;
  }
}

const textColumns: Readonly<Record<TextField, Fragment>> = {
  firstName: sql.fragment`contact.first_name`,
  lastName: sql.fragment`contact.last_name`,
  chatName: sql.fragment`contact.chat_name`,
  email: sql.fragment`contact.email`,
  phoneNumber: sql.fragment`coalesce(contact.phone_number, '')`,
  countryCode: sql.fragment`contact.country_code`,
  source: sql.fragment`contact.source`,
};

const timeColumns: Readonly<Record<TimeField, Fragment>> = {
  createdAt: sql.fragment`contact.created_at`,
  updatedAt: sql.fragment`contact.updated_at`,
  dob: sql.fragment`contact.dob`,
};

const nationalNumber = sql.fragment`substr(contact.phone_number, length(contact.country_code) + 1)`;

function textColumn(subject: TextSubject): Fragment {
  if (subject.kind === 'field') return textColumns[subject.name];
  return sql.fragment`coalesce(contact.custom_fields ->> ${subject.fieldId}, '')`;
}

const isField = (subject: TextSubject, name: TextField) => subject.kind === 'field' && subject.name === name;

// Numbers are stored as digits; callers may write `+49 30 1234`.
function plain(subject: TextSubject, value: string): string {
  const isDigits = isField(subject, 'phoneNumber') || isField(subject, 'countryCode');
  return isDigits ? value.replace(/[\s+().-]/g, '') : value;
}

function textIn(subject: TextSubject, values: readonly string[], byIndex: boolean): Fragment {
  // With or without the calling code: contacts are shown with the national number. Whole numbers may be written in any way.
  if (isField(subject, 'phoneNumber')) {
    const numbers = values.flatMap((value) => [
      plain(subject, value),
      ...formsOfAll([normalisePhoneNumber(value)?.digits ?? plain(subject, value)]),
    ]);
    const list = sql.array([...new Set(numbers)], 'text');
    return sql.fragment`contact.phone_number = ANY(${list}) OR ${nationalNumber} = ANY(${list})`;
  }
  const list = sql.array(
    values.map((value) => plain(subject, value)),
    'text',
  );
  const isFound =
    byIndex && isIndexed(subject) && !values.includes('')
      ? equalsAny(textColumn(subject), values)
      : undefined;
  if (isField(subject, 'email'))
    return (
      isFound ?? sql.fragment`lower(contact.email) IN (SELECT lower(given) FROM unnest(${list}) AS given)`
    );
  const isSame = sql.fragment`${textColumn(subject)} = ANY(${list})`;
  return isFound === undefined ? isSame : sql.fragment`${isFound} AND ${isSame}`;
}

const indexed: readonly TextField[] = ['firstName', 'lastName', 'chatName', 'email'];
const isIndexed = (subject: TextSubject) => indexed.some((name) => isField(subject, name));

function textStartsWith(subject: TextSubject, value: string): Fragment {
  if (isField(subject, 'phoneNumber')) {
    const others = sql.array(prefixForms(value), 'text');
    return sql.fragment`starts_with(contact.phone_number, ${value}) OR starts_with(${nationalNumber}, ${value})
      OR EXISTS (SELECT FROM unnest(${others}) AS other WHERE starts_with(contact.phone_number, other))`;
  }
  if (isIndexed(subject) && value !== '') return begins(textColumn(subject), value);
  return sql.fragment`starts_with(lower(${textColumn(subject)}), lower(${value}))`;
}

const comparisonSigns: Readonly<Record<Comparison, Fragment>> = {
  gt: sql.fragment`>`,
  gte: sql.fragment`>=`,
  lt: sql.fragment`<`,
  lte: sql.fragment`<=`,
};

function textCompare(subject: TextSubject, comparison: Comparison, value: string | number): Fragment {
  const sign = comparisonSigns[comparison];
  if (typeof value === 'string') {
    return sql.fragment`${textColumn(subject)} <> '' AND ${textColumn(subject)} COLLATE "C" ${sign} ${value}`;
  }
  return sql.fragment`CASE WHEN ${textColumn(subject)} ~ '^[+-]?[0-9]{1,15}([.][0-9]{1,15})?$'
    THEN (${textColumn(subject)})::numeric ${sign} ${value}::numeric END`;
}

// Passes a number instead of text, because Postgres does not accept the years 0 and 10000 as JavaScript writes them.
const instant = (date: Date): Fragment => sql.fragment`to_timestamp(${date.getTime() / 1000}::float8)`;

// Conditions on names and e-mail addresses that the partial indexes `contact_first_name` … `contact_email` answer.

// Postgres uses an index only when expressions and conditions repeat its definition.
export const keyOf = (column: Fragment): Fragment => sql.fragment`lower(${column}) COLLATE "C"`;

const escapeLike = (text: string) => text.replace(/[\\%_]/g, String.raw`\$&`);

/** The column begins with `word`, which is not empty, in any case of its letters. */
const begins = (column: Fragment, word: string): Fragment => sql.fragment`(
  ${column} <> '' AND ${keyOf(column)} LIKE lower(${escapeLike(word)}) || '%')`;

/** The column equals one of the texts, none of which is empty, in any case of their letters. */
const equalsAny = (column: Fragment, texts: readonly string[]): Fragment => sql.fragment`(
  ${column} <> '' AND ${keyOf(column)} = ANY(
    ARRAY(SELECT lower(given) COLLATE "C" FROM unnest(${sql.array([...texts], 'text')}) AS given)))`;
