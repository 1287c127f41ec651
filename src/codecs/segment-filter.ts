import * as t from 'io-ts';
import { filterMatches } from '../domain/contacts/segment-filter.ts';
import { oneOf, struct } from './struct.ts';

/** One condition of a filter; what its field takes is checked by `conditionProblems` (`src/domain/contacts/segment-filter.ts`). */
export const SegmentCondition = struct({ field: t.string, operator: t.string }, { value: t.unknown });
export type SegmentCondition = t.TypeOf<typeof SegmentCondition>;

export const FilterMatch = oneOf(filterMatches);
