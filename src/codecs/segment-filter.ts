import { either } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { describe, named } from './json-schema.ts';
import {
  filterMatches,
  filterOperators,
  textFields,
  tidyCondition,
  timeFields,
} from '../domain/contacts/segment-filter.ts';
import { oneOf, readAs, struct } from './struct.ts';

const fields = [...textFields, ...timeFields, 'subscribed', 'tag'].join('|');
const Written = struct(
  {
    field: describe(t.string, { pattern: `^(${fields})$|^custom[.][\\s\\S]` }),
    operator: named('FilterOperator', describe(t.string, { enum: filterOperators })),
  },
  { value: t.unknown },
);

/**
 * One condition of a filter; a value that its operator ignores is dropped. Whether the field takes the operator and the value is
 * checked by `conditionProblems` (`src/domain/contacts/segment-filter.ts`).
 */
export const SegmentCondition = named(
  'SegmentCondition',
  readAs(Written, (input, context) => either.map(Written.validate(input, context), tidyCondition)),
);
export type SegmentCondition = t.TypeOf<typeof SegmentCondition>;

export const FilterMatch = oneOf(filterMatches, 'FilterMatch');
