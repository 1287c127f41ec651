import * as t from 'io-ts';
import { named } from './json-schema.ts';
import { filterMatches } from '../domain/contacts/segment-filter.ts';
import { oneOf, struct } from './struct.ts';

/** One condition of a filter; what its field takes is checked by `conditionProblems` (`src/domain/contacts/segment-filter.ts`). */
export const SegmentCondition = named(
  'SegmentCondition',
  struct({ field: t.string, operator: t.string }, { value: t.unknown }),
);
export type SegmentCondition = t.TypeOf<typeof SegmentCondition>;

export const FilterMatch = oneOf(filterMatches, 'FilterMatch');
