/** The columns of an import of contacts, and saving the form of a contact, without a browser. */
import { expect, it } from 'vitest';
import { changedFields } from '../../../dashboard/src/parts/forms/changed-fields.ts';
import { withColumn, withConsent } from '../../../dashboard/src/screens/contacts/import-mapping.ts';

const headers = ['phone', 'name', 'city', 'Opt-out'];
const guessed = {
  phone_column: 0,
  country_code_column: 0,
  name_column: 1,
  custom_field_mapping: { city: 2 },
  consent: { column: 3, meaning: 'opt_out' as const },
};

it('makes a column a custom field when it loses its meaning, and none when it gets one', () => {
  expect(withConsent(guessed, null, headers)).toEqual({
    phone_column: 0,
    country_code_column: 0,
    name_column: 1,
    custom_field_mapping: { city: 2, 'Opt-out': 3 },
  });
  expect(withColumn(guessed, 'last_name_column', '2', headers)).toMatchObject({ last_name_column: 2 });
  expect(withColumn(guessed, 'last_name_column', '2', headers).custom_field_mapping).toBeUndefined();
  expect(withConsent(withConsent(guessed, null, headers), '3', headers)).toEqual(guessed);
});

it('moves the country with the phone column where both are one', () => {
  expect(withColumn(guessed, 'phone_column', '2', headers)).toMatchObject({
    phone_column: 2,
    country_code_column: 2,
    custom_field_mapping: { phone: 0 },
  });
  expect(withColumn(guessed, 'phone_column', null, headers)).toEqual(guessed);
});

it('sends only the changed fields of a form, so that an opt-out that came meanwhile stays', () => {
  const before = { firstName: 'Ada', subscribed: true, tagsId: ['a'] };
  expect(changedFields(before, { firstName: 'Ida', subscribed: true, tagsId: ['a'] })).toEqual({
    firstName: 'Ida',
  });
});
