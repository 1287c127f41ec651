/** The fields of `contact` that a message may name. */
import { sql } from 'slonik';
import * as t from 'io-ts';

export const MessageFields = t.type({
  firstName: t.string,
  lastName: t.string,
  email: t.string,
  /** National number; '' for a person without a number. */
  phoneNumber: t.string,
  countryCode: t.string,
  /** Null if none were read. */
  customFields: t.union([t.record(t.string, t.string), t.null]),
});
export type MessageFields = t.TypeOf<typeof MessageFields>;

type Fragment = ReturnType<typeof sql.fragment>;

export const messageFields = (customFields: Fragment): Fragment => sql.fragment`
  jsonb_build_object('firstName', contact.first_name, 'lastName', contact.last_name, 'email', contact.email,
    'phoneNumber', COALESCE(substr(contact.phone_number, length(contact.country_code) + 1), ''),
    'countryCode', contact.country_code, 'customFields', ${customFields})`;

/** The named custom fields as jsonb. NULL without names, because a contact may have a megabyte of other fields. */
export const customFieldsNamed = (names: readonly string[]): Fragment =>
  names.length === 0
    ? sql.fragment`NULL::jsonb`
    : sql.fragment`(SELECT jsonb_object_agg(name, contact.custom_fields -> name)
        FROM unnest(${sql.array(names, 'text')}) AS name WHERE contact.custom_fields ? name)`;
