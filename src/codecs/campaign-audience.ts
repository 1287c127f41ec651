/** Codecs for a campaign's audience input (Spec 4.1): in requests, and for the small parts stored with the campaign. */
import * as t from 'io-ts';
import { consentMeanings } from '../domain/audience/consent-column.ts';
import { isColumnName, maxColumnName, mostCustomColumns } from '../domain/audience/csv.ts';
import { consentCategories, maxEvidenceText } from '../domain/contacts/consent.ts';
import { planOfCountry } from '../domain/numbering-plans.ts';
import { recordOf, shortListOf } from './collections.ts';
import { fieldName } from './field-name.ts';
import { describe, named } from './json-schema.ts';
import { Integer, integerOf, IsoDateTime, textOf } from './scalars.ts';
import { FilterMatch, SegmentCondition } from './segment.ts';
import { needed, nullish, oneOf, optional, readAs, refined, struct } from './struct.ts';

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

/** ISO 3166 alpha-2, in any case; null counts as absent. */
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
      'Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies.',
  },
);

const Cells = shortListOf(textOf({ min: 1, max: 100 }), 100);
const column = (what: string) => describe(Column, { description: `Column of ${what}, counted from 0.` });

const ConsentObject = named(
  'ConsentMapping',
  optional({
    column: column('who opted out or opted in'),
    meaning: describe(oneOf(consentMeanings, 'ConsentMeaning'), {
      description:
        'What `yes` in the column means: `opt_out` or `opt_in`; default: what its heading says. In a column of opt-ins `no` is an opt-out.',
    }),
    opted_out: describe(Cells, { description: 'Further cells that mean an opt-out.' }),
    opted_in: describe(Cells, { description: 'Further cells that mean an opt-in.' }),
    category: describe(oneOf(consentCategories, 'ConsentCategory'), {
      description: 'What the decisions are about; default: `ALL` for opt-outs, `MARKETING` for opt-ins.',
    }),
    others: describe(oneOf(consentMeanings, 'ConsentMeaning'), {
      description: 'What holds for rows about which the column says nothing; default nothing.',
    }),
    text: describe(textOf({ max: maxEvidenceText }), {
      description: 'What the people saw or wrote, for rows without `text_column`.',
    }),
    url: describe(textOf({ max: 2048 }), { description: 'Address of the page or form.' }),
    language: describe(textOf({ max: 35 }), { description: 'Language of the text, such as `en`.' }),
    at: describe(IsoDateTime, {
      description: 'Time of the decisions, for rows without `at_column`; default the time of the import.',
    }),
    text_column: column('what the person saw or wrote'),
    url_column: column('the address of the page or form'),
    language_column: column('the language of the text'),
    at_column: column('the time of the decision'),
  }),
);

/** The number of a column is short for an object with this column. */
const ConsentMapping = describe(
  readAs(ConsentObject, (input, context) =>
    ConsentObject.validate(typeof input === 'number' ? { column: input } : input, context),
  ),
  {},
  t.union([Column, ConsentObject]),
);

export const csvMappingFields = {
  name_column: nullish(Column),
  email_column: nullish(Column),
  custom_field_mapping: nullish(CustomColumns),
  default_country: DefaultCountry,
  consent: describe(nullish(ConsentMapping), {
    description:
      'What the file says about consent: the number of a column, or an object; null for nothing. Opt-outs always count; an opt-in never overrides an opt-out.',
  }),
};
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
    csvMappingFields,
  ),
);

const TagSource = t.union([Column, textOf({ min: 1, max: 255 })]);

/** The mapping of an import of contacts. */
export const ImportMapping = named(
  'ContactImportMapping',
  struct(
    { phone_column: describe(Column, { description: 'Column of the phone number, counted from 0.' }) },
    {
      country_code_column: describe(nullish(Column), {
        description: 'Column of calling codes or countries; null or absent for numbers that begin with `+`.',
      }),
      ...csvMappingFields,
      last_name_column: describe(nullish(Column), {
        description: 'Column of the last name, null for none; `name_column` is then the first name.',
      }),
      tags: describe(nullish(t.union([TagSource, shortListOf(TagSource, 20)])), {
        description:
          'A number is a column of names of tags, several in a cell between commas; a text is the name or id of a tag that every row gets. New names become tags. Null for none.',
      }),
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
