import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { describe, expect, it } from 'vitest';
import { describe as describeCodec, toJsonSchema } from '../../src/codecs/json-schema.ts';
import { report } from '../../src/codecs/report.ts';
import {
  CountryCode,
  cursorOf,
  HexColour,
  idOf,
  integerOf,
  IsoDateTime,
  limitUpTo,
  Page,
  repeated,
  textOf,
  Uuid,
} from '../../src/codecs/scalars.ts';
import { nullish, oneOf, struct } from '../../src/codecs/struct.ts';

function decode<A>(codec: t.Type<A, unknown>, value: unknown): A | undefined {
  const decoded = codec.decode(value);
  return isRight(decoded) ? decoded.right : undefined;
}

function problemsOf(codec: t.Mixed, value: unknown): readonly string[] {
  const decoded = codec.decode(value);
  return isRight(decoded) ? [] : report(decoded.left).map(({ field, message }) => `${field}: ${message}`);
}

it('names an element of a list by its place in the list', () => {
  const list = struct({ name: t.string }, { ids: t.array(Uuid), names: t.array(textOf({ min: 1, max: 9 })) });
  expect(problemsOf(list, { name: 'a', ids: [1], names: ['b', ''] })).toEqual([
    'ids.0: ids.0 must be a UUID',
    'names.1: names.1 must not be empty',
  ]);
});

it('names a field by its whole path, whatever unions and objects with optional fields stand on the way', () => {
  const nested = struct({ outer: struct({}, { inner: struct({ ids: t.array(nullish(Uuid)) }) }) });
  expect(problemsOf(nested, { outer: { inner: { ids: ['x'] } } })).toEqual([
    'outer.inner.ids.0: outer.inner.ids.0 must be a UUID',
  ]);
});

describe('IsoDateTime', () => {
  it.each([
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00Z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00:00.123456Z', '2026-03-01T10:00:00.123Z'],
    ['2026-03-01T10:00:00+05:30', '2026-03-01T04:30:00.000Z'],
    ['2026-03-01T10:00:00-0800', '2026-03-01T18:00:00.000Z'],
    ['2024-02-29T23:59:59.999z', '2024-02-29T23:59:59.999Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59+14:00', '9999-12-31T09:59:59.000Z'],
  ])('takes %s', (text, expected) => {
    expect(decode(IsoDateTime, text)?.toISOString()).toBe(expected);
  });

  it.each([
    '2026-03-01T10:00:00',
    '2026-03-01',
    '2026-02-30T10:00:00Z',
    '2025-02-29T10:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-01T10:00:00Z',
    '2026-03-00T10:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T10:60:00Z',
    '2026-03-01T10:00:60Z',
    '2026-03-01T10:00:00+25:00',
    '2026-03-01 10:00:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-12:00',
    'tomorrow',
    '',
    1_700_000_000,
  ])('refuses %s', (text) => {
    expect(problemsOf(struct({ at: IsoDateTime }), { at: text })).toEqual([
      'at: at must be an ISO 8601 date-time with a time zone, such as 2026-12-24T18:00:00Z',
    ]);
  });

  it('is written with Z and milliseconds, also inside a union', () => {
    const codec = struct({ at: nullish(IsoDateTime) });
    expect(codec.encode({ at: new Date(0) })).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(codec.encode({ at: null })).toEqual({ at: null });
  });
});

it.each([
  [Uuid, '0A000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000001'],
  [Uuid, '0a00000000004000800000000000001', undefined],
  [HexColour, '#00FFaa', '#00FFaa'],
  [HexColour, '#fff', undefined],
  [CountryCode, '+49', '+49'],
  [CountryCode, '49', undefined],
  [CountryCode, '+0', undefined],
  [Page, '1', 1],
  [Page, '0', undefined],
  [Page, '1.0', undefined],
  [Page, ' 1', undefined],
  [limitUpTo(100), '100', 100],
  [limitUpTo(100), '101', undefined],
  [integerOf({ min: 0 }), 0, 0],
  [integerOf({ min: 0 }), -1, undefined],
  [integerOf(), 1.5, undefined],
  [integerOf(), 2 ** 53, undefined],
  [textOf({ max: 3 }), '😀😀😀', '😀😀😀'],
  [textOf({ max: 3 }), 'abcd', undefined],
  [textOf({ min: 1, max: 3 }), '', undefined],
  [textOf({ min: 2, max: 3 }), '😀', undefined],
] as const)('%o decodes %o to %o', (codec, input, expected) => {
  expect(decode(codec as t.Type<unknown>, input)).toBe(expected);
});

it('reports that a missing field is required, and what a wrong one must be', () => {
  const codec = struct(
    { id: Uuid, count: integerOf({ min: 1, max: 5 }) },
    { name: textOf({ min: 1, max: 5 }) },
  );
  expect(problemsOf(codec, { name: '' })).toEqual([
    'id: id is required',
    'count: count is required',
    'name: name must not be empty',
  ]);
  expect(problemsOf(codec, { id: 1, count: 9, name: 'too long' })).toEqual([
    'id: id must be a UUID',
    'count: count must be an integer from 1 to 5',
    'name: name must be at most 5 characters long',
  ]);
});

it('names the resource that was not found for an id in a path', () => {
  expect(problemsOf(struct({ id: idOf('Tag') }), { id: '7' })).toEqual(['id: Tag not found']);
});

describe('a repeated query parameter', () => {
  const codec = repeated(oneOf(['SENT', 'READ']));
  it.each([
    ['SENT', ['SENT']],
    [
      ['SENT', 'READ'],
      ['SENT', 'READ'],
    ],
    ['LOST', undefined],
    [['SENT', 'LOST'], undefined],
  ])('%o decodes to %o', (input, expected) => {
    expect(decode(codec, input)).toEqual(expected);
  });
});

describe('a cursor', () => {
  const codec = cursorOf(struct({ at: IsoDateTime, id: Uuid }));
  const position = { at: new Date(1_000), id: '0a000000-0000-4000-8000-000000000001' };

  it('comes back as it was', () => {
    const text = codec.encode(position);
    expect(text).toMatch(/^[\w-]+$/);
    expect(decode(codec, text)).toEqual(position);
  });

  it.each(['', 'x', '!', 'e30', 'bnVsbA', 'x'.repeat(2_000)])('refuses %s', (text) => {
    expect(decode(codec, text)).toBeUndefined();
  });
});

it('describes a codec without touching the shared one', () => {
  const described = describeCodec(t.string, { maxLength: 3 });
  expect(toJsonSchema(described)).toEqual({ type: 'string', maxLength: 3 });
  expect(toJsonSchema(t.string)).toEqual({ type: 'string' });
  expect(decode(described, 'abc')).toBe('abc');
});

it('throws for a codec without a schema', () => {
  const silent = new t.Type('silent', t.string.is, t.string.validate, t.identity);
  expect(() => toJsonSchema(struct({ field: silent }))).toThrow('silent');
});
