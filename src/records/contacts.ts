/** Contacts one by one. Lists are in `contact-list.ts`, imports in `audience-contacts.ts`. */
import { sql, UniqueIntegrityConstraintViolationError } from 'slonik';
import * as t from 'io-ts';
import type { Contact } from '../domain/contact.ts';
import { Conflict, NotFound } from '../domain/error.ts';
import type { Connection } from './database.ts';
import { nothing, nullable, row, timestamp } from './row.ts';

const ContactFields = t.type({
  id: t.string,
  phoneNumber: nullable(t.string),
  countryCode: t.string,
  country: t.string,
  firstName: t.string,
  lastName: t.string,
  chatName: t.string,
  email: t.string,
  source: t.string,
  subscribed: t.boolean,
  customFields: t.record(t.string, t.string),
  tagsId: t.array(t.string),
  dob: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const ContactRow = row(ContactFields);

/** The columns of `ContactRow`, of the table `contact`. */
export const contactSelection = sql.fragment`
  contact.id, contact.phone_number AS "phoneNumber", contact.country_code AS "countryCode", contact.country,
  contact.first_name AS "firstName", contact.last_name AS "lastName", contact.chat_name AS "chatName", contact.email,
  contact.source, contact.subscribed, contact.custom_fields AS "customFields",
  ARRAY(SELECT tag_id::text FROM contact_tag WHERE contact_id = contact.id ORDER BY tag_id) AS "tagsId",
  contact.dob, contact.created_at AS "createdAt", contact.updated_at AS "updatedAt"`;

/** Throws NotFound, for a deleted contact and one of another workspace too. */
export async function getContact(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<Contact> {
  const found = await connection.maybeOne(sql.type(ContactRow)`
    SELECT ${contactSelection} FROM contact
    WHERE workspace_id = ${workspaceId} AND id = ${contactId} AND deleted_at IS NULL`);
  if (found === null) throw new NotFound('Contact');
  return found;
}

/** As `getContact`, and nobody else changes the contact until the transaction ends. */
export async function lockContact(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<Contact> {
  const found = await connection.maybeOne(sql.type(ContactRow)`
    SELECT ${contactSelection} FROM contact
    WHERE workspace_id = ${workspaceId} AND id = ${contactId} AND deleted_at IS NULL
    FOR NO KEY UPDATE`);
  if (found === null) throw new NotFound('Contact');
  return found;
}

/** Contacts by id, deleted ones included, whoever owns them; in no order. */
export async function listContactsById(
  connection: Connection,
  contactIds: readonly string[],
): Promise<readonly Contact[]> {
  if (contactIds.length === 0) return [];
  return connection.any(sql.type(ContactRow)`
    SELECT ${contactSelection} FROM contact WHERE id = ANY(${sql.array(contactIds, 'uuid')})`);
}

const ContactId = row(t.type({ id: t.string }));

export interface NewContact {
  readonly phoneNumber: string;
  readonly countryCode: string;
  readonly country: string;
  readonly source: string;
}

/** A contact with nothing but its number; undefined when the workspace has the number, in a deleted contact or not. */
export async function insertContact(
  connection: Connection,
  workspaceId: number,
  { phoneNumber, countryCode, country, source }: NewContact,
): Promise<string | undefined> {
  const id = await connection.maybeOneFirst(sql.type(ContactId)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
    VALUES (${workspaceId}, ${phoneNumber}, ${countryCode}, ${country}, ${source})
    ON CONFLICT (workspace_id, phone_number) DO NOTHING
    RETURNING id`);
  return id ?? undefined;
}

/** Brings the deleted contact of this number back; undefined when there is none. */
export async function restoreContact(
  connection: Connection,
  workspaceId: number,
  phoneNumber: string,
): Promise<string | undefined> {
  const id = await connection.maybeOneFirst(sql.type(ContactId)`
    UPDATE contact SET deleted_at = NULL, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND phone_number = ${phoneNumber} AND deleted_at IS NOT NULL
    RETURNING id`);
  return id ?? undefined;
}

const UpdatedAt = row(t.type({ updatedAt: timestamp }));

/** Writes every field but the tags; the new `updatedAt`. Throws Conflict when another contact has the number. */
export async function updateContact(connection: Connection, contact: Contact): Promise<Date> {
  try {
    return await connection.oneFirst(sql.type(UpdatedAt)`
      UPDATE contact SET phone_number = ${contact.phoneNumber}, country_code = ${contact.countryCode},
        country = ${contact.country}, first_name = ${contact.firstName}, last_name = ${contact.lastName},
        chat_name = ${contact.chatName}, email = ${contact.email}, subscribed = ${contact.subscribed},
        custom_fields = ${sql.jsonb(contact.customFields)}, dob = ${contact.dob?.toISOString() ?? null}::timestamptz,
        updated_at = now()
      WHERE id = ${contact.id}
      RETURNING updated_at AS "updatedAt"`);
  } catch (error) {
    if (error instanceof UniqueIntegrityConstraintViolationError) {
      throw new Conflict('Another contact has this phone number');
    }
    throw error;
  }
}

/** The contact has exactly these tags afterwards. */
export async function replaceContactTags(
  connection: Connection,
  workspaceId: number,
  { contactId, tagIds }: { readonly contactId: string; readonly tagIds: readonly string[] },
): Promise<void> {
  const list = sql.array(tagIds, 'uuid');
  await connection.query(sql.type(nothing)`
    WITH removed AS (
      DELETE FROM contact_tag WHERE contact_id = ${contactId} AND tag_id <> ALL(${list})
    )
    INSERT INTO contact_tag (workspace_id, contact_id, tag_id)
    SELECT ${workspaceId}, ${contactId}, tag_id FROM unnest(${list}) AS tag_id
    ON CONFLICT DO NOTHING`);
}

/** Soft: the row stays, is in no list, and is restored when the person turns up again. Throws NotFound. */
export async function deleteContact(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<void> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE contact SET deleted_at = now(), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${contactId} AND deleted_at IS NULL`);
  if (rowCount === 0) throw new NotFound('Contact');
}
