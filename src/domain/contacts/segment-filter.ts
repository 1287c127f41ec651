/**
 * Filters over contacts: segments and the `contact_filters` of a campaign. This file parses the caller's conditions into
 * predicates; `src/records/contacts/segment-filter.ts` turns predicates into SQL. Imports neither io-ts nor Node.
 */
import { type Consent, consents } from './consent.ts';
import type { FieldProblem } from '../error.ts';
import { isUuid } from '../uuid.ts';

// Meaning of a segment's condition, whatever its spelling.

export const filterOperators = [
  'eq',
  'neq',
  'contains',
  'not_contains',
  'starts_with',
  'in',
  'not_in',
  'gt',
  'gte',
  'lt',
  'lte',
  'exists',
  'not_exists',
] as const;
type FilterOperator = (typeof filterOperators)[number];

export const textFields = [
  'firstName',
  'lastName',
  'chatName',
  'email',
  'phoneNumber',
  'countryCode',
  'source',
] as const;
export type TextField = (typeof textFields)[number];

export const timeFields = ['createdAt', 'updatedAt', 'dob'] as const;
export type TimeField = (typeof timeFields)[number];

export const comparisons = ['gt', 'gte', 'lt', 'lte'] as const;
export type Comparison = (typeof comparisons)[number];

export type TextSubject =
  | { readonly kind: 'field'; readonly name: TextField }
  | { readonly kind: 'custom'; readonly fieldId: string };

/** A parsed condition. `negated` inverts the result, so that a contact without the field matches. */
export type Predicate = { readonly negated: boolean } & (
  | { readonly test: 'text_in'; readonly subject: TextSubject; readonly values: readonly string[] }
  | { readonly test: 'text_contains'; readonly subject: TextSubject; readonly value: string }
  | { readonly test: 'text_starts_with'; readonly subject: TextSubject; readonly value: string }
  | { readonly test: 'text_present'; readonly subject: TextSubject }
  | {
      readonly test: 'text_compare';
      readonly subject: TextSubject;
      readonly comparison: Comparison;
      /** A number is only compared with field values that are numbers; text is compared by code points. */
      readonly value: string | number;
    }
  | { readonly test: 'time_within'; readonly field: TimeField; readonly from: Date; readonly until: Date }
  | { readonly test: 'time_from'; readonly field: TimeField; readonly from: Date }
  | { readonly test: 'time_before'; readonly field: TimeField; readonly until: Date }
  | { readonly test: 'time_present'; readonly field: TimeField }
  | { readonly test: 'subscribed' }
  | { readonly test: 'consent_in'; readonly values: readonly Consent[] }
  | { readonly test: 'always' }
  | { readonly test: 'tag_any'; readonly tagIds: readonly string[] }
  | { readonly test: 'tag_present' }
);

/** A problem of a condition: the affected part and a message. */
type ConditionProblem = {
  readonly part: 'field' | 'operator' | 'value';
  readonly message: string;
};

// Reads the operator and the value of a condition, field by field.

/** Returns undefined if the field does not support the operator. */
type FieldReader = (operator: FilterOperator, value: unknown) => Predicate | ConditionProblem | undefined;

const customPrefix = 'custom.';

/** Returns undefined for a field that contacts do not have. */
function fieldReader(field: string): FieldReader | undefined {
  const textField = textFields.find((name) => name === field);
  if (textField !== undefined) return textReader({ kind: 'field', name: textField });
  const timeField = timeFields.find((name) => name === field);
  if (timeField !== undefined) return timeReader(timeField);
  if (field === 'subscribed') return readSubscribed;
  if (field === 'consent') return readConsent;
  if (field === 'tag') return readTag;
  if (!field.startsWith(customPrefix) || field === customPrefix) return undefined;
  return textReader({ kind: 'custom', fieldId: field.slice(customPrefix.length) });
}

const longestList = 1000;
const longestText = 1000;

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length <= longestText ? value : undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'boolean' ? String(value) : undefined;
}

function asTexts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > longestList) return undefined;
  const texts = value.map(asText);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

const notText: ConditionProblem = {
  part: 'value',
  message: `value must be a string, a number or a boolean of at most ${longestText} characters`,
};
const notList: ConditionProblem = {
  part: 'value',
  message: `value must be an array of 1 to ${longestList} strings, numbers or booleans`,
};

function textReader(subject: TextSubject): FieldReader {
  return (operator, value) => {
    if (operator === 'exists' || operator === 'not_exists') {
      return { test: 'text_present', subject, negated: operator === 'not_exists' };
    }
    if (operator === 'in' || operator === 'not_in') {
      const values = asTexts(value);
      return values === undefined
        ? notList
        : { test: 'text_in', subject, values, negated: operator === 'not_in' };
    }
    const text = asText(value);
    if (text === undefined) return notText;
    if (operator === 'eq' || operator === 'neq') {
      return { test: 'text_in', subject, values: [text], negated: operator === 'neq' };
    }
    if (operator === 'starts_with') return { test: 'text_starts_with', subject, value: text, negated: false };
    if (operator === 'contains' || operator === 'not_contains') {
      return { test: 'text_contains', subject, value: text, negated: operator === 'not_contains' };
    }
    return { test: 'text_compare', subject, comparison: operator, value: numberOr(text), negated: false };
  };
}

function numberOr(text: string): string | number {
  return /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

const dayMs = 86_400_000;

const notTime: ConditionProblem = {
  part: 'value',
  message: 'value must be an ISO 8601 date, or a date-time with a time zone, such as 2026-12-24T18:00:00Z',
};

/** A day stands for its 24 hours in UTC, a date-time for its millisecond (the resolution in which times are shown). */
function asSpan(value: unknown): { readonly from: Date; readonly until: Date } | undefined {
  if (typeof value !== 'string') return undefined;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(value);
  if (!isDay && !isInstant) return undefined;
  const from = new Date(value);
  if (Number.isNaN(from.getTime()) || !dayExists(value.slice(0, 10))) return undefined;
  return { from, until: new Date(from.getTime() + (isDay ? dayMs : 1)) };
}

function dayExists(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

function timeReader(field: TimeField): FieldReader {
  return (operator, value) => {
    if (operator === 'exists' || operator === 'not_exists') {
      return { test: 'time_present', field, negated: operator === 'not_exists' };
    }
    const isComparison = comparisons.some((candidate) => candidate === operator);
    if (operator !== 'eq' && operator !== 'neq' && !isComparison) return undefined;
    const span = asSpan(value);
    if (span === undefined) return notTime;
    const { from, until } = span;
    if (operator === 'gte') return { test: 'time_from', field, from, negated: false };
    if (operator === 'gt') return { test: 'time_from', field, from: until, negated: false };
    if (operator === 'lt') return { test: 'time_before', field, until: from, negated: false };
    if (operator === 'lte') return { test: 'time_before', field, until, negated: false };
    return { test: 'time_within', field, from, until, negated: operator === 'neq' };
  };
}

const readSubscribed: FieldReader = (operator, value) => {
  if (operator === 'exists' || operator === 'not_exists') {
    return { test: 'always', negated: operator === 'not_exists' };
  }
  if (operator !== 'eq' && operator !== 'neq') return undefined;
  if (value !== true && value !== false && value !== 'true' && value !== 'false') {
    return { part: 'value', message: 'value must be true or false' };
  }
  const wanted = String(value) === 'true';
  return { test: 'subscribed', negated: wanted === (operator === 'neq') };
};

const readConsent: FieldReader = (operator, value) => {
  if (operator === 'exists' || operator === 'not_exists') {
    return { test: 'always', negated: operator === 'not_exists' };
  }
  const isList = operator === 'in' || operator === 'not_in';
  if (!isList && operator !== 'eq' && operator !== 'neq') return undefined;
  const given = isList ? asTexts(value) : asTexts([value]);
  const values = consents.filter((consent) => given?.includes(consent));
  if (given === undefined || values.length < new Set(given).size) {
    return {
      part: 'value',
      message: `value must be ${isList ? 'a list of' : 'one of'} ${consents.join(', ')}`,
    };
  }
  return { test: 'consent_in', values, negated: operator === 'neq' || operator === 'not_in' };
};

const readTag: FieldReader = (operator, value) => {
  if (operator === 'exists' || operator === 'not_exists') {
    return { test: 'tag_present', negated: operator === 'not_exists' };
  }
  const isList = operator === 'in' || operator === 'not_in';
  const isSingle = ['eq', 'neq', 'contains', 'not_contains'].includes(operator);
  if (!isList && !isSingle) return undefined;
  const tagIds = asTexts(isList ? value : [value]);
  if (tagIds === undefined || !tagIds.every(isUuid)) {
    return {
      part: 'value',
      message: `value must be ${isList ? 'an array of tag ids' : 'a tag id'} of GET /api/tags`,
    };
  }
  return { test: 'tag_any', tagIds, negated: ['neq', 'not_contains', 'not_in'].includes(operator) };
};

export const filterMatches = ['all', 'any'] as const;
export type FilterMatch = (typeof filterMatches)[number];

/** A condition of a request; `exists` and `not_exists` take no value. */
export interface SegmentCondition {
  readonly field: string;
  readonly operator: string;
  readonly value?: unknown;
}

/** Returns the condition to store, without a value that its operator ignores. */
export function tidyCondition(condition: SegmentCondition): SegmentCondition {
  const { field, operator } = condition;
  return takesNoValue(operator) ? { field, operator } : condition;
}

const takesNoValue = (operator: string): boolean => operator === 'exists' || operator === 'not_exists';

type Reading = Predicate | ConditionProblem;

export const isProblem = (reading: Reading): reading is ConditionProblem => 'message' in reading;

/** `eq` and `neq` with null ask whether the field is empty. */
const nullOperators: Readonly<Record<string, FilterOperator>> = { eq: 'not_exists', neq: 'exists' };

export function readCondition(condition: SegmentCondition): Reading {
  const { field } = condition;
  const written = filterOperators.find((candidate) => candidate === condition.operator);
  const operator =
    condition.value === null && written !== undefined ? (nullOperators[written] ?? written) : written;
  const readField = fieldReader(field);
  if (readField === undefined) {
    return { part: 'field', message: `"${shorten(field)}" is not a contact field: see POST /api/segments` };
  }
  if (operator === undefined) {
    return { part: 'operator', message: `operator must be one of ${filterOperators.join(', ')}` };
  }
  if (!takesNoValue(operator)) {
    if (condition.value === undefined || condition.value === null) {
      return { part: 'value', message: `value is required for the operator ${operator}` };
    }
  }
  const reading = readField(operator, condition.value);
  if (reading !== undefined) return reading;
  const taken = filterOperators.filter((one) => readField(one, undefined) !== undefined);
  return {
    part: 'operator',
    message: `the field ${shorten(field)} takes ${taken.join(', ')}, not ${operator}`,
  };
}

/** Returns every problem of a list of conditions; `path` is the path of the list in the request. */
export function conditionProblems(
  conditions: readonly SegmentCondition[],
  path: string,
): readonly FieldProblem[] {
  return conditions.flatMap((condition, index) => {
    const reading = readCondition(condition);
    if (!isProblem(reading)) return [];
    const field = `${path}.${index}.${reading.part}`;
    return [{ field, message: `${path}.${index}: ${reading.message}` }];
  });
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
