import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { describe, expect, it } from 'vitest';
import { listOf, recordOf } from '../../src/codecs/collections.ts';
import { toJsonSchema } from '../../src/codecs/json-schema.ts';
import { report } from '../../src/codecs/report.ts';

function problemsOf(codec: t.Mixed, value: unknown): readonly string[] {
  const decoded = codec.decode(value);
  return isRight(decoded) ? [] : report(decoded.left).map(({ message }) => message);
}

describe.each([
  ['listOf', listOf(t.string), t.array(t.string), (values: readonly unknown[]) => values],
  [
    'recordOf',
    recordOf(t.string),
    t.record(t.string, t.string),
    (values: readonly unknown[]) => Object.fromEntries(values.map((value, at) => [`key${at}`, value])),
  ],
])('%s', (_, codec, plain, of) => {
  it('decodes the same values as the plain codec', () => {
    for (const value of [of([]), of(['a', 'b'])]) expect(codec.decode(value)).toEqual(plain.decode(value));
  });

  it('reports the same problems', () => {
    for (const value of [null, 'a', 7, of(['a', 1, 'b', null])]) {
      expect(problemsOf(codec, value)).toEqual(problemsOf(plain, value));
      expect(problemsOf(codec, value)).not.toEqual([]);
    }
  });

  it('reports a hundred wrong members and examines no more', () => {
    expect(problemsOf(codec, of(Array.from({ length: 5_000 }, () => 1)))).toHaveLength(100);
    expect(problemsOf(codec, of(Array.from({ length: 99 }, () => 1)))).toHaveLength(99);
  });

  it('has the same schema as the plain codec', () => {
    expect(toJsonSchema(codec)).toEqual(toJsonSchema(plain));
  });
});
