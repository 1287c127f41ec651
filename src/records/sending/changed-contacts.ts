/** Contacts whose fields may have changed after a campaign's preparation has read them. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { customFieldsNamed } from '../contacts/custom-fields.ts';

const ContactFields = t.type({
  firstName: t.string,
  lastName: t.string,
  email: t.string,
  /** National number; '' for a person without a number. */
  phoneNumber: t.string,
  countryCode: t.string,
  /** The custom fields that the message names; null when it names none, or the contact has none of them. */
  customFields: t.union([t.record(t.string, t.string), t.null]),
});
export type ContactFields = t.TypeOf<typeof ContactFields>;

/** By position. */
export const ChangedContacts = t.record(t.string, ContactFields);
export type ChangedContacts = Readonly<Partial<Record<string, ContactFields>>>;

/**
 * Present fields of `contact` if it may have changed after `locked.contacts_read_at`, else NULL. `updated_at` is the start of
 * the transaction that wrote it: one minute earlier includes changes that were committed late, and the preparation's own
 * writes, which carry exactly that time to the millisecond, are left out.
 */
export const changedFields = (customFields: readonly string[] = []) => sql.fragment`CASE
  WHEN contact.updated_at > locked.contacts_read_at - interval '1 minute'
    AND contact.updated_at NOT BETWEEN locked.contacts_read_at AND locked.contacts_read_at + interval '1 millisecond'
  THEN jsonb_build_object('firstName', contact.first_name, 'lastName', contact.last_name, 'email', contact.email,
    'phoneNumber', COALESCE(substr(contact.phone_number, length(contact.country_code) + 1), ''), 'countryCode', contact.country_code,
    'customFields', ${customFieldsNamed(customFields)})
  END`;
