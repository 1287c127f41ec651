import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formsOf, numberRules } from '../../../src/domain/number-rules.ts';
import { row } from '../../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('the schema knows the same forms and identities as the domain', async () => {
  const random = fc.sample(fc.stringMatching(/^[1-9]\d{4,14}$/), 500);
  const codes = [...new Set(numberRules.map(({ callingCode }) => callingCode)), '383', '970'];
  const nearby = codes.flatMap((code) =>
    fc.sample(fc.stringMatching(/^\d{6,11}$/), 100).map((rest) => code + rest),
  );
  const former = numberRules.flatMap(({ callingCode, former: pattern }) =>
    fc.sample(fc.stringMatching(pattern), 20).map((national) => callingCode + national),
  );
  const numbers = [...random, ...nearby, ...former].flatMap((digits) => [digits, ...formsOf(digits)]);
  const found = await database.pool.any(sql.type(
    row(t.type({ number: t.string, forms: t.array(t.string), identity: t.union([t.string, t.null]) })),
  )`SELECT number, number_forms(number) AS forms, number_identity(number) AS identity
    FROM unnest(${sql.array(numbers, 'text')}) AS number`);
  expect(found).toHaveLength(numbers.length);
  for (const { number, forms, identity } of found) {
    const expected = formsOf(number);
    expect([number, ...forms.toSorted()]).toEqual([number, ...expected.toSorted()]);
    expect(forms[0]).toBe(expected[0]);
    expect(identity).toBe(expected.length > 1 ? expected[0] : null);
  }
});
