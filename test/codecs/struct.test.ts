import * as fc from 'fast-check';
import { isLeft } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { expect, it } from 'vitest';
import { report } from '../../src/codecs/report.ts';
import { IsoDateTime, Page, textOf, Uuid } from '../../src/codecs/scalars.ts';
import { nullish, struct } from '../../src/codecs/struct.ts';

/** A codec that decodes an absent field to a default. */
const orSeven = new t.Type<number>(
  'number, else 7',
  t.number.is,
  (input, context) => (input === undefined ? t.success(7) : t.number.validate(input, context)),
  t.identity,
);
const required = { name: t.string };
const optional = {
  id: Uuid,
  at: IsoDateTime,
  page: Page,
  note: nullish(textOf({ max: 3 })),
  size: orSeven,
  inner: struct({}, { deep: t.boolean }),
};

const mine = struct(required, optional);
const theirs = t.exact(t.intersection([t.type(required), t.partial(optional)]));

const outcomeOf = (codec: t.Mixed, input: unknown) => {
  const decoded = codec.decode(input);
  return isLeft(decoded) ? { problems: report(decoded.left) } : { value: decoded.right as unknown };
};

const mostly = (right: fc.Arbitrary<unknown>, wrong: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: wrong });

const given = fc.record(
  {
    name: mostly(fc.string(), fc.constantFrom(undefined, 1)),
    id: mostly(fc.uuid(), fc.constantFrom('text', null)),
    at: mostly(fc.constantFrom('2026-11-21T09:00:00Z', undefined), fc.string()),
    page: mostly(fc.constant('2'), fc.constant('0')),
    note: mostly(fc.constantFrom('abc', null), fc.constant('abcd')),
    size: mostly(fc.constantFrom(3, undefined), fc.constant('large')),
    inner: mostly(fc.constantFrom({ deep: true, more: 1 }, {}), fc.constantFrom({ deep: 1 }, 1)),
    unknown: fc.integer(),
  },
  { requiredKeys: ['name'] },
);

it('decodes the same values and reports the same problems as the codecs of io-ts', () => {
  let [right, wrong] = [0, 0];
  fc.assert(
    fc.property(
      fc.oneof({ weight: 20, arbitrary: given }, { weight: 1, arbitrary: fc.anything() }),
      (input) => {
        const outcome = outcomeOf(mine, input);
        expect(outcome).toEqual(outcomeOf(theirs, input));
        if ('problems' in outcome) wrong += 1;
        else right += 1;
      },
    ),
    { numRuns: 2_000 },
  );
  expect(Math.min(right, wrong)).toBeGreaterThan(100);
});

it('encodes what the codecs of io-ts encode', () => {
  const value = { name: 'Ada', at: new Date(0), size: 3, more: 1 };
  expect(mine.encode(value)).toEqual(theirs.encode(value));
  expect(mine.encode(value)).toEqual({ name: 'Ada', at: '1970-01-01T00:00:00.000Z', size: 3 });
});

it('does not call the codec of an absent optional field', () => {
  let asked = 0;
  const counting = new t.Type<string>(
    'counting',
    t.string.is,
    (input, context) => {
      asked += 1;
      return t.string.validate(input, context);
    },
    t.identity,
  );
  const codec = struct({}, { field: counting });
  asked = 0;
  expect(outcomeOf(codec, {})).toEqual({ value: {} });
  expect(asked).toBe(0);
  expect(outcomeOf(codec, { field: 'text' })).toEqual({ value: { field: 'text' } });
  expect(asked).toBe(1);
});
