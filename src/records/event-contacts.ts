/** Contacts as their events carry them (Spec 2.5). */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from './database.ts';
import { nullable, row, timestamp } from './row.ts';

const EventContactFields = t.type({
  id: t.string,
  firstName: t.string,
  lastName: t.string,
  chatName: t.string,
  email: t.string,
  phoneNumber: t.string,
  countryCode: t.string,
  source: t.string,
  subscribed: t.boolean,
  customFields: t.record(t.string, t.string),
  tagsId: t.array(t.string),
  dob: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type EventContactFields = t.TypeOf<typeof EventContactFields>;
const EventContactRow = row(EventContactFields);

export async function listEventContacts(
  connection: Connection,
  contactIds: readonly string[],
): Promise<readonly EventContactFields[]> {
  if (contactIds.length === 0) return [];
  return connection.any(sql.type(EventContactRow)`
    SELECT id, first_name AS "firstName", last_name AS "lastName", chat_name AS "chatName", email,
      substr(COALESCE(phone_number, ''), length(country_code) + 1) AS "phoneNumber", country_code AS "countryCode",
      source, subscribed, custom_fields AS "customFields",
      ARRAY(SELECT tag_id::text FROM contact_tag WHERE contact_id = contact.id ORDER BY tag_id) AS "tagsId",
      dob, created_at AS "createdAt", updated_at AS "updatedAt"
    FROM contact WHERE id = ANY(${sql.array(contactIds, 'uuid')})`);
}
