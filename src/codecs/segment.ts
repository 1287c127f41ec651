/** Segments on the wire. */
import { either } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { engagementFields, textFields, timeFields } from '../domain/contacts/predicate.ts';
import { filterMatches, filterOperators, tidyCondition } from '../domain/contacts/segment-filter.ts';
import { listOf } from './collections.ts';
import { describe, named } from './json-schema.ts';
import { IsoDateTime, textOf, Uuid } from './scalars.ts';
import { notBlank, oneOf, optional, readAs, refined, struct } from './struct.ts';

const fields = [
  ...textFields,
  ...timeFields,
  ...engagementFields,
  'subscribed',
  'consent',
  'tag',
  'country',
  'segment',
].join('|');
const Written = struct(
  {
    field: describe(t.string, { pattern: `^(${fields})$|^campaign[.][0-9a-f-]{36}$|^custom[.][\\s\\S]` }),
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

export const Segment = named(
  'Segment',
  struct({
    id: Uuid,
    name: t.string,
    match: FilterMatch,
    conditions: listOf(SegmentCondition),
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
  }),
);

const SegmentName = notBlank(textOf({ min: 1, max: 255 }));

const mostBytes = 64 * 1024;

const Conditions = refined(
  refined(
    listOf(SegmentCondition),
    (conditions) => conditions.length >= 1 && conditions.length <= 50,
    'conditions must hold 1 to 50 conditions',
    { minItems: 1, maxItems: 50 },
  ),
  (conditions) => Buffer.byteLength(JSON.stringify(conditions)) <= mostBytes,
  `conditions must not be larger than ${mostBytes} bytes`,
  {},
);

/** `match` is `all` by default. */
export const CreateSegment = struct({ name: SegmentName, conditions: Conditions }, { match: FilterMatch });

/** The body of a new segment, without its name. */
export const CountSegment = struct({ conditions: Conditions }, { match: FilterMatch });

export const UpdateSegment = optional({ name: SegmentName, match: FilterMatch, conditions: Conditions });
