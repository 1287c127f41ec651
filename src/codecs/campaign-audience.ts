/** Codecs for a campaign's audience input (Spec 4.1): in requests, and for the small parts stored with the campaign. */
import * as t from 'io-ts';
import { isColumnName, maxColumnName, mostCustomColumns } from '../domain/audience/csv.ts';
import { planOfCountry } from '../domain/numbering-plans.ts';
import { recordOf, shortListOf } from './collections.ts';
import { fieldName } from './field-name.ts';
import { describe, named } from './json-schema.ts';
import { Integer, integerOf } from './scalars.ts';
import { FilterMatch, SegmentCondition } from './segment.ts';
import { needed, nullish, optional, readAs, refined, struct } from './struct.ts';

const Column = integerOf({ min: 0, meaning: 'the number of a column, counted from 0' });

const CustomColumns = refined(
  refined(
    recordOf(Column),
    (columns) => Object.keys(columns).length <= mostCustomColumns,
    (field) => `${field} must name at most ${mostCustomColumns} columns`,
    { maxProperties: mostCustomColumns },
  ),
  (columns) => Object.keys(columns).every(isColumnName),
  (field) => `${field} must have names of 1 to ${maxColumnName} characters, other than __proto__`,
  {},
);

/** ISO 3166 alpha-2, in any case; null: none. */
export const DefaultCountry = describe(
  readAs(nullish(t.string), (input, context) => {
    if (input === null) return t.success(null);
    const country = typeof input === 'string' ? input.toUpperCase() : '';
    return planOfCountry(country) === undefined
      ? t.failure(input, context, `${fieldName(context)} must be a country by ISO 3166 alpha-2, such as DE`)
      : t.success(country);
  }),
  {
    description:
      'Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null: none.',
  },
);

export const CsvMapping = named(
  'CsvMapping',
  struct(
    {
      phone_column: describe(Column, { description: 'Column of the phone number, counted from 0.' }),
      country_code_column: describe(needed(Column, 'the column of phones again if they begin with +'), {
        description:
          'Column of calling codes or countries (`49`, `+49`, `0049`, `DE`), counted from 0. Numbers that begin with `+` ignore it; if all do, repeat `phone_column`.',
      }),
    },
    {
      name_column: nullish(Column),
      email_column: nullish(Column),
      custom_field_mapping: nullish(CustomColumns),
      default_country: DefaultCountry,
    },
  ),
);

export const UnverifiedNumbers = describe(t.record(t.string, Integer), {
  description:
    'Numbers in ranges that are not known to be in use, by country (ISO 3166 alpha-2); they are sent to.',
});

export const ContactFilters = named(
  'ContactFilters',
  struct(
    { conditions: shortListOf(SegmentCondition, 50) },
    {
      match: describe(nullish(FilterMatch), {
        description: '`all` (default, also for null): every condition must hold; `any`: one is enough.',
      }),
    },
  ),
);

/** The audience input that is stored with a campaign; fields of other kinds of audience are absent. */
export const AudienceInput = optional({
  segments: t.array(t.string),
  contact_filters: ContactFilters,
  csv_mapping: CsvMapping,
  csv_file_key: t.string,
  csv_file_url: t.string,
  failed_campaign_id: t.string,
  failed_reasons: t.array(t.string),
  default_country: DefaultCountry,
});
export type AudienceInput = t.TypeOf<typeof AudienceInput>;
