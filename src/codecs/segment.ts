/** Segments on the wire. */
import * as t from 'io-ts';
import { named } from './json-schema.ts';
import { listOf } from './collections.ts';
import { IsoDateTime, textOf, Uuid } from './scalars.ts';
import { FilterMatch, SegmentCondition } from './segment-filter.ts';
import { notBlank, optional, refined, struct } from './struct.ts';

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
