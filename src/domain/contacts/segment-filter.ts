/**
 * Filters over contacts: segments and the `contact_filters` of a campaign. A condition that a caller wrote is read into a
 * `Predicate` here; `src/records/contacts/segment-filter.ts` alone makes SQL of predicates. Imports neither io-ts nor Node.
 */
import type { FieldProblem } from '../error.ts';
import { fieldReader } from './segment-field-readers.ts';
import {
  filterOperators,
  type ConditionProblem,
  type FilterOperator,
  type Predicate,
} from './segment-predicate.ts';

export const filterMatches = ['all', 'any'] as const;
export type FilterMatch = (typeof filterMatches)[number];

/** A condition of a request; `exists` and `not_exists` take no value. */
export interface SegmentCondition {
  readonly field: string;
  readonly operator: string;
  readonly value?: unknown;
}

/** The condition as it is stored, without a value that its operator ignores. */
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

/** Every problem of a list of conditions; `path` is where the list stands in the request. */
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
