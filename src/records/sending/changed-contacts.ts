/** Contacts whose fields may have changed after a campaign's preparation has read them. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { customFieldsNamed, MessageFields, messageFields } from '../contacts/message-fields.ts';

/** Present fields of changed contacts, by the position of their recipient. */
export const ChangedContacts = t.record(t.string, MessageFields);
export type ChangedContacts = Readonly<Partial<Record<string, MessageFields>>>;

/**
 * Current fields of `contact` if it may have changed after `locked.contacts_read_at`, else NULL. `updated_at` is the start of
 * the transaction that wrote it: one minute earlier includes changes that were committed late. The preparation's own contacts
 * are read again, too. A time of reading in the future means that the clock was set back: every contact may have changed then.
 */
export const changedFields = (customFields: readonly string[] = []) => sql.fragment`CASE
  WHEN locked.contacts_read_at > now() OR contact.updated_at > locked.contacts_read_at - interval '1 minute'
  THEN ${messageFields(customFieldsNamed(customFields))} END`;
