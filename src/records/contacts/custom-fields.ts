import { sql } from 'slonik';

/** The named custom fields of `contact` as jsonb. NULL without names: a contact may hold a megabyte of other fields. */
export const customFieldsNamed = (names: readonly string[]) =>
  names.length === 0
    ? sql.fragment`NULL::jsonb`
    : sql.fragment`(SELECT jsonb_object_agg(key, value) FROM jsonb_each(contact.custom_fields)
        WHERE key = ANY (${sql.array(names, 'text')}))`;
