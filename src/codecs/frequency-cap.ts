/** The frequency cap of a workspace on the wire and in the database. */
import * as t from 'io-ts';
import { cappedCategories } from '../domain/campaigns/frequency-cap.ts';
import { shortListOf } from './collections.ts';
import { describe, named } from './json-schema.ts';
import { integerOf } from './scalars.ts';
import { nullish, oneOf, readAs, refined, struct } from './struct.ts';

const Categories = refined(
  shortListOf(oneOf(cappedCategories, 'CappedCategory'), cappedCategories.length),
  ({ length }) => length > 0,
  (field) => `${field} must name at least one category, such as "MARKETING"`,
  { minItems: 1 },
);

export const FrequencyCap = named(
  'FrequencyCap',
  struct({
    messages: describe(integerOf({ min: 1, max: 1_000, meaning: 'a whole number from 1 to 1,000' }), {
      description: 'Messages that a contact gets at most in `days`.',
    }),
    days: describe(integerOf({ min: 1, max: 365, meaning: 'a whole number from 1 to 365' }), {
      description: 'Days before the present, of 24 hours each.',
    }),
    categories: describe(Categories, {
      description:
        'Categories of templates: messages of these are counted, and only messages of these are left out.',
    }),
  }),
);

/** Null, or an object whose fields are all null, removes the cap. */
export const NewFrequencyCap = readAs(nullish(FrequencyCap), (input, context) => {
  const isEmpty =
    input === null ||
    (t.UnknownRecord.is(input) &&
      Object.keys(input).length > 0 &&
      Object.values(input).every((value) => value === null));
  return isEmpty ? t.success(null) : FrequencyCap.validate(input, context);
});
