/** The row of a contact. Changes are in `changes.ts`, lists in `list.ts`, imports in `audience/contact-load.ts`. */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { consents } from '../../domain/contacts/consent.ts';
import type { Contact } from '../../domain/contacts/contact.ts';
import { notFound, NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

interface PersonColumns {
  readonly phoneNumber: FragmentSqlToken;
  readonly workspaceId: FragmentSqlToken;
  readonly contactId: FragmentSqlToken;
}

/**
 * A condition on messages and recipients of an erased person: ids of the provider, which contain the number, are not stored any
 * more. Only a row without a number can be one; the others need no lookup. No EXISTS, for which Postgres may read all contacts.
 */
export const isErased = ({ phoneNumber, workspaceId, contactId }: PersonColumns): FragmentSqlToken =>
  sql.fragment`CASE WHEN ${phoneNumber} IS NULL THEN (SELECT erased_at FROM contact
    WHERE contact.workspace_id = ${workspaceId} AND contact.id = ${contactId}) IS NOT NULL ELSE false END`;

// The fields of `contact` that a message may name.

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

export const ContactFields = t.type({
  id: t.string,
  phoneNumber: nullable(t.string),
  countryCode: t.string,
  country: t.string,
  firstName: t.string,
  lastName: t.string,
  chatName: t.string,
  username: t.string,
  email: t.string,
  source: t.string,
  subscribed: t.boolean,
  consent: oneOf(consents),
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
  contact.first_name AS "firstName", contact.last_name AS "lastName", contact.chat_name AS "chatName", contact.username, contact.email,
  contact.source, contact.subscribed, contact.consent, contact.custom_fields AS "customFields",
  ARRAY(SELECT tag_id::text FROM contact_tag WHERE contact_id = contact.id ORDER BY tag_id) AS "tagsId",
  contact.dob, contact.created_at AS "createdAt", contact.updated_at AS "updatedAt"`;

/**
 * The contacts with these ids as a table `contact`, each looked up by the primary key. Without that, while the statistics do not
 * know the workspace, Postgres may choose another index that begins with the workspace.
 */
export const contactsById = (workspaceId: number, ids: ReturnType<typeof sql.array>) => sql.fragment`
  unnest(${ids}) AS wanted (id) CROSS JOIN LATERAL (
    SELECT * FROM contact WHERE workspace_id = (SELECT ${workspaceId}::int) AND contact.id = wanted.id OFFSET 0
  ) AS contact`;

/** The contacts with one of these numbers as a table `contact`, each number looked up by its index for the same reason. */
export const contactsByNumber = (workspaceId: FragmentSqlToken, numbers: FragmentSqlToken) => sql.fragment`
  unnest(${numbers}) AS form (number) CROSS JOIN LATERAL (
    SELECT * FROM contact WHERE contact.workspace_id = ${workspaceId} AND contact.phone_number = form.number OFFSET 0
  ) AS contact`;

/** Returns contacts by id, deleted ones included, in any order. */
export async function listContactsById(
  connection: Connection,
  workspaceId: number,
  contactIds: readonly string[],
): Promise<readonly Contact[]> {
  if (contactIds.length === 0) return [];
  return connection.any(sql.type(ContactRow)`
    SELECT ${contactSelection} FROM ${contactsById(workspaceId, sql.array(contactIds, 'uuid'))}`);
}

/** Throws NotFound, also for a deleted contact. */
export async function getContact(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<Contact> {
  const found = await connection.maybeOne(sql.type(ContactRow)`
    SELECT ${contactSelection} FROM contact
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId} AND deleted_at IS NULL`);
  return found ?? notFound('Contact');
}

/** Marks the contact as deleted: the row stays, is in no list, and is restored when its number is added again. Throws NotFound. */
export async function deleteContact(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<void> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE contact SET deleted_at = now(), updated_at = now()
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId} AND deleted_at IS NULL`);
  if (rowCount === 0) throw new NotFound('Contact');
}
