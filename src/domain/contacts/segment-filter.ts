/**
 * Filters over contacts: segments and the `contact_filters` of a campaign. This file parses the caller's conditions into
 * predicates; `src/records/contacts/segment-filter.ts` turns predicates into SQL.
 */
import type { FieldProblem } from '../error.ts';
import { isUuid } from '../uuid.ts';
import { readCountry } from '../country-cell.ts';
import { planOfCountry } from '../numbering-plans.ts';
import { consents } from './consent.ts';
import {
  type FieldType,
  type FieldTypes,
  plainNumber,
  readBooleanText,
  suggestNumber,
} from './field-type.ts';
import {
  campaignStates,
  comparisons,
  type CustomSubject,
  type EngagementField,
  engagementFields,
  type Predicate,
  textFields,
  type TextSubject,
  timeFields,
  type TimeSubject,
} from './predicate.ts';

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
  'before',
  'after',
  'within_days',
  'not_within_days',
  'exists',
  'not_exists',
] as const;
type FilterOperator = (typeof filterOperators)[number];

/** A problem of a condition: the affected part and a message. */
type ConditionProblem = {
  readonly part: 'field' | 'operator' | 'value';
  readonly message: string;
};

// Reads the operator and the value of a condition, field by field.

/** Returns undefined if the field does not support the operator. */
type FieldReader = (operator: FilterOperator, value: unknown) => Predicate | ConditionProblem | undefined;

const customPrefix = 'custom.';
const campaignPrefix = 'campaign.';

const fixedFields: ReadonlyMap<string, string> = new Map(
  [
    ...textFields,
    ...timeFields,
    ...engagementFields,
    'subscribed',
    'consent',
    'tag',
    'country',
    'segment',
  ].map((name) => [name.toLowerCase(), name]),
);

/** The name of a field as this file spells it; the caller may use other letters' cases. Ids of custom fields stay as they are. */
function spelledField(field: string): string {
  for (const prefix of [customPrefix, campaignPrefix]) {
    const [begin, rest] = [field.slice(0, prefix.length), field.slice(prefix.length)];
    if (begin.toLowerCase() === prefix)
      return `${prefix}${prefix === customPrefix ? rest : rest.toLowerCase()}`;
  }
  return fixedFields.get(field.toLowerCase()) ?? field;
}

/** Returns undefined for a field that contacts do not have. */
function fieldReader(field: string, types: FieldTypes): FieldReader | undefined {
  const textField = textFields.find((name) => name === field);
  if (textField !== undefined) return textReader({ kind: 'field', name: textField });
  const timeField = timeFields.find((name) => name === field);
  if (timeField !== undefined) return timeReader({ kind: 'field', name: timeField });
  const engagementField = engagementFields.find((name) => name === field);
  if (engagementField !== undefined) return engagementReader(engagementField);
  if (field === 'subscribed') return readSubscribed;
  if (field === 'consent') return readConsent;
  if (field === 'tag') return readTag;
  if (field === 'country') return readCountryCode;
  if (field === 'segment') return readSegment;
  const campaignId = campaignOf(field);
  if (campaignId !== undefined) return campaignReader(campaignId);
  const fieldId = customFieldOf(field);
  return fieldId === undefined ? undefined : customReader({ kind: 'custom', fieldId }, types.get(fieldId));
}

function campaignOf(field: string): string | undefined {
  const id = field.startsWith(campaignPrefix) ? field.slice(campaignPrefix.length) : '';
  return isUuid(id) ? id : undefined;
}

const customFieldOf = (field: string): string | undefined =>
  field.startsWith(customPrefix) && field !== customPrefix ? field.slice(customPrefix.length) : undefined;

/** A field whose type is not known is read as text, or as a date by an operator of dates. */
function customReader(subject: CustomSubject, type: FieldType | undefined): FieldReader {
  switch (type) {
    case 'text':
      return textReader(subject, { numbers: false });
    case 'number':
      return numberReader(subject);
    case 'date':
      return timeReader(subject);
    case 'boolean':
      return booleanReader(subject);
    default:
      return (operator, value) =>
        ofDates.includes(operator)
          ? timeReader(subject)(operator, value)
          : textReader(subject)(operator, value);
  }
}

const ofDates: readonly FilterOperator[] = ['before', 'after', 'within_days', 'not_within_days'];

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

/** `numbers`: a value that is a number is compared as one. */
function textReader(subject: TextSubject, { numbers } = { numbers: true }): FieldReader {
  return (operator, value) => {
    if (ofDates.includes(operator)) return undefined;
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
    const comparison = comparisons.find((candidate) => candidate === operator);
    if (comparison === undefined) return undefined;
    const compared = numbers ? numberOr(text) : text;
    return { test: 'text_compare', subject, comparison, value: compared, negated: false };
  };
}

function numberOr(text: string): string | number {
  return /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

function numberReader(subject: CustomSubject): FieldReader {
  const readText = textReader(subject);
  return (operator, value) => {
    const isList = operator === 'in' || operator === 'not_in';
    const isSingle = operator === 'eq' || operator === 'neq';
    const comparison = comparisons.find((candidate) => candidate === operator);
    if (!isList && !isSingle && comparison === undefined) return readText(operator, value);
    const given = isList ? asTexts(value) : asTexts([value]);
    if (given === undefined) return isList ? notList : notNumber(value);
    const wrong = given.find((one) => plainNumber(one) === undefined);
    if (wrong !== undefined) return notNumber(wrong);
    const values = given.map(Number);
    if (comparison === undefined)
      return { test: 'number_in', subject, values, negated: operator === 'neq' || operator === 'not_in' };
    return { test: 'text_compare', subject, comparison, value: values[0] ?? 0, negated: false };
  };
}

function notNumber(value: unknown): ConditionProblem {
  const text = typeof value === 'string' ? value : '';
  const meant = suggestNumber(text);
  const given = text === '' ? 'value' : `"${shorten(text)}"`;
  const hint = meant === undefined ? 'write it such as 5000 or 12.5' : `did you mean ${meant}?`;
  return { part: 'value', message: `${given} is not a number, which this field is: ${hint}` };
}

function booleanReader(subject: CustomSubject): FieldReader {
  return (operator, value) => {
    if (operator === 'exists' || operator === 'not_exists') {
      return { test: 'text_present', subject, negated: operator === 'not_exists' };
    }
    if (operator !== 'eq' && operator !== 'neq') return undefined;
    const text = asText(value);
    if (text === 'true' || text === 'false')
      return { test: 'boolean', subject, wanted: text === 'true', negated: operator === 'neq' };
    const meant = readBooleanText(text ?? '');
    const hint = meant === undefined ? 'write true or false' : `did you mean ${String(meant)}?`;
    return { part: 'value', message: `value must be true or false, which this field is: ${hint}` };
  };
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

/** In days: a hundred years. */
const longestTime = 36_500;

function asDays(value: unknown): number | undefined {
  const days = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value;
  if (typeof days !== 'number' || !Number.isInteger(days)) return undefined;
  return days >= 1 && days <= longestTime ? days : undefined;
}

const notDays: ConditionProblem = {
  part: 'value',
  message: `value must be a whole number of days from 1 to ${longestTime}`,
};

function timeReader(subject: TimeSubject): FieldReader {
  return (operator, value) => {
    if (operator === 'exists' || operator === 'not_exists') {
      return { test: 'time_present', subject, negated: operator === 'not_exists' };
    }
    if (operator === 'within_days' || operator === 'not_within_days') {
      const days = asDays(value);
      return days === undefined
        ? notDays
        : { test: 'time_recent', subject, days, negated: operator === 'not_within_days' };
    }
    const isComparison = comparisons.some((candidate) => candidate === operator);
    if (!['eq', 'neq', 'before', 'after'].includes(operator) && !isComparison) return undefined;
    const span = asSpan(value);
    if (span === undefined) return notTime;
    const { from, until } = span;
    if (operator === 'gte') return { test: 'time_from', subject, from, negated: false };
    if (operator === 'gt' || operator === 'after')
      return { test: 'time_from', subject, from: until, negated: false };
    if (operator === 'lt' || operator === 'before')
      return { test: 'time_before', subject, until: from, negated: false };
    if (operator === 'lte') return { test: 'time_before', subject, until, negated: false };
    return { test: 'time_within', subject, from, until, negated: operator === 'neq' };
  };
}

function engagementReader(field: EngagementField): FieldReader {
  return (operator, value) => {
    if (operator === 'exists' || operator === 'not_exists') {
      return { test: 'engaged', field, since: undefined, negated: operator === 'not_exists' };
    }
    if (operator === 'within_days' || operator === 'not_within_days') {
      const days = asDays(value);
      return days === undefined
        ? notDays
        : { test: 'engaged', field, since: { days }, negated: operator === 'not_within_days' };
    }
    if (operator !== 'before' && operator !== 'after') return undefined;
    const span = asSpan(value);
    if (span === undefined) return notTime;
    return operator === 'after'
      ? { test: 'engaged', field, since: { from: span.until }, negated: false }
      : { test: 'engaged_before', field, until: span.from, negated: false };
  };
}

function campaignReader(campaignId: string): FieldReader {
  return (operator, value) => {
    if (operator !== 'in' && operator !== 'not_in') return undefined;
    const given = asTexts(value);
    const states = campaignStates.filter((state) => given?.includes(state));
    if (given === undefined || states.length < new Set(given).size)
      return { part: 'value', message: `value must be a list of ${campaignStates.join(', ')}` };
    return { test: 'campaign_in', campaignId, states, negated: operator === 'not_in' };
  };
}

const readSegment: FieldReader = (operator, value) => {
  if (operator !== 'in' && operator !== 'not_in') return undefined;
  const given = asTexts(value);
  if (given === undefined || !given.every(isUuid))
    return { part: 'value', message: 'value must be an array of segment ids of GET /api/segments' };
  const segmentIds = [...new Set(given.map((id) => id.toLowerCase()))];
  return { test: 'segment_any', segmentIds, negated: operator === 'not_in' };
};

const readCountryCode: FieldReader = (operator, value) => {
  if (operator === 'exists' || operator === 'not_exists') {
    return { test: 'country_in', values: [''], negated: operator === 'exists' };
  }
  const isList = operator === 'in' || operator === 'not_in';
  if (!isList && operator !== 'eq' && operator !== 'neq') return undefined;
  const given = isList ? asTexts(value) : asTexts([value]);
  if (given === undefined) return isList ? notList : notText;
  const values = given.map((text) => text.trim().toUpperCase());
  const at = values.findIndex((code) => planOfCountry(code) === undefined);
  if (at === -1) return { test: 'country_in', values, negated: operator === 'neq' || operator === 'not_in' };
  const meant = countryIn(given[at] ?? '');
  const hint = meant === undefined ? 'such as DE' : `did you mean ${meant}?`;
  return {
    part: 'value',
    message: `"${shorten(given[at] ?? '')}" is not a country by ISO 3166 alpha-2: ${hint}`,
  };
};

/** The alpha-2 code of a country that is written in any way. */
function countryIn(text: string): string | undefined {
  const reading = readCountry(text);
  return reading.kind === 'country' ? reading.plan?.country : undefined;
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

/** Returns the condition to store: its field and ids as this file spells them, and without a value that its operator ignores. */
export function tidyCondition(condition: SegmentCondition): SegmentCondition {
  const { operator } = condition;
  const field = spelledField(condition.field);
  if (takesNoValue(operator)) return { field, operator };
  return field === 'segment'
    ? { ...condition, field, value: lowerCased(condition.value) }
    : { ...condition, field };
}

const lowerCased = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(lowerCased);
  return typeof value === 'string' ? value.toLowerCase() : value;
};

/** What conditions refer to by name or id. */
export interface References {
  readonly customFields: readonly string[];
  readonly campaignIds: readonly string[];
  readonly segmentIds: readonly string[];
}

export function referencesOf(conditions: readonly SegmentCondition[]): References {
  const unique = (ids: readonly (string | undefined)[]) => [...new Set(ids.filter((id) => id !== undefined))];
  const fields = conditions.map(({ field }) => field);
  const segments = conditions.flatMap((condition) => {
    if (condition.field !== 'segment') return [];
    const reading = readCondition(condition);
    return !isProblem(reading) && reading.test === 'segment_any' ? reading.segmentIds : [];
  });
  return {
    customFields: unique(fields.map(customFieldOf)),
    campaignIds: unique(fields.map(campaignOf)),
    segmentIds: unique(segments),
  };
}

/** Returns the condition with the custom field that is meant: one whose id differs in the case of its letters, if there is one such. */
export function withKnownField(condition: SegmentCondition, known: ReadonlySet<string>): SegmentCondition {
  const fieldId = customFieldOf(condition.field);
  if (fieldId === undefined || known.has(fieldId)) return condition;
  const alike = [...known].filter((id) => id.toLowerCase() === fieldId.toLowerCase());
  return alike.length === 1 ? { ...condition, field: `${customPrefix}${alike[0] ?? ''}` } : condition;
}

const takesNoValue = (operator: string): boolean => operator === 'exists' || operator === 'not_exists';

type Reading = Predicate | ConditionProblem;

export const isProblem = (reading: Reading): reading is ConditionProblem => 'message' in reading;

/** `eq` and `neq` with null ask whether the field is empty. */
const nullOperators: Readonly<Record<string, FilterOperator>> = { eq: 'not_exists', neq: 'exists' };

const noTypes: FieldTypes = new Map();

/** `types`: those of custom fields by id; a field that is not among them may hold anything. */
export function readCondition(condition: SegmentCondition, types: FieldTypes = noTypes): Reading {
  const { field } = condition;
  const written = filterOperators.find((candidate) => candidate === condition.operator);
  const operator =
    condition.value === null && written !== undefined ? (nullOperators[written] ?? written) : written;
  const readField = fieldReader(field, types);
  if (readField === undefined) {
    const message = field.startsWith(campaignPrefix)
      ? `"${shorten(field)}" must be campaign. and the id of a campaign`
      : `"${shorten(field)}" is not a contact field: see POST /api/segments`;
    return { part: 'field', message };
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
  types: FieldTypes = noTypes,
): readonly FieldProblem[] {
  return conditions.flatMap((condition, index) => {
    const reading = readCondition(condition, types);
    if (!isProblem(reading)) return [];
    const field = `${path}.${index}.${reading.part}`;
    return [{ field, message: `${path}.${index}: ${reading.message}` }];
  });
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
