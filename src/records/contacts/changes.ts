/** Changes of contacts through the API: one statement writes the contact, its tags and the event. */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import type { Consent } from '../../domain/contacts/consent.ts';
import type { Contact } from '../../domain/contacts/contact.ts';
import { NotFound } from '../../domain/error.ts';
import { formsOf } from '../../domain/number-rules.ts';
import type { Connection, Transaction } from '../database/database.ts';
import { asConflict } from '../database/failure.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { insertWrittenEvents, type NewEventRow } from '../webhooks/events.ts';
import { stopAllAt, stopMarketingAt } from './consents.ts';
import { ContactFields, contactsByNumber, contactSelection } from './contacts.ts';

// Contacts as they are read to be changed: locked, with the time for the change.

export interface StoredContact {
  readonly workspaceId: number;
  readonly contact: Contact;
  /** Time of the reading on Postgres' clock. */
  readonly readAt: Date;
}

const Stored = t.type({
  ...ContactFields.props,
  workspaceId: t.number,
  readAt: timestamp,
});

const storedSelection = sql.fragment`${contactSelection}, contact.workspace_id AS "workspaceId", statement_timestamp() AS "readAt"`;

const toStored = ({ workspaceId, readAt, ...contact }: t.TypeOf<typeof Stored>): StoredContact => ({
  workspaceId,
  contact,
  readAt,
});

/** Locks the contact until the transaction ends. Throws NotFound, also for a deleted one. */
export async function lockContact(
  connection: Transaction,
  workspaceId: number,
  contactId: string,
): Promise<StoredContact> {
  const found = await connection.maybeOne(sql.type(row(Stored))`
    SELECT ${storedSelection} FROM contact
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId} AND deleted_at IS NULL
    FOR NO KEY UPDATE`);
  if (found === null) throw new NotFound('Contact');
  return toStored(found);
}

/** The contacts with the number in any form. */
const ofNumber = (workspaceId: number, phoneNumber: string) =>
  contactsByNumber(
    sql.fragment`(SELECT ${workspaceId}::int)`,
    sql.fragment`${sql.array(formsOf(phoneNumber), 'text')}`,
  );

/** Locks the deleted contact with the number, in any form; undefined if there is none. */
export async function lockDeletedContact(
  connection: Transaction,
  workspaceId: number,
  phoneNumber: string,
): Promise<StoredContact | undefined> {
  const found = await connection.maybeOne(sql.type(row(Stored))`
    SELECT ${storedSelection} FROM contact
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND deleted_at IS NOT NULL AND id = (
      SELECT contact.id FROM ${ofNumber(workspaceId, phoneNumber)} WHERE deleted_at IS NOT NULL
      ORDER BY phone_number = ${phoneNumber} DESC LIMIT 1)
    FOR NO KEY UPDATE`);
  return found === null ? undefined : toStored(found);
}

const NumberUse = t.type({
  use: nullable(t.keyof({ present: null, deleted: null })),
  id: t.string,
  at: timestamp,
});
type NumberUse = t.TypeOf<typeof NumberUse>;

/** Whether a contact of the workspace has the number, in any form, and an id and a time for a new contact with it. */
export function findNumberUse(connection: Connection, workspaceId: number, phoneNumber: string) {
  return connection.one(sql.type(row(NumberUse))`
    SELECT uuidv7() AS id, statement_timestamp() AS at, (
      SELECT CASE WHEN deleted_at IS NULL THEN 'present' ELSE 'deleted' END
      FROM ${ofNumber(workspaceId, phoneNumber)} ORDER BY deleted_at IS NULL DESC LIMIT 1) AS use`);
}

/** Whether another contact than this one has the number in another form; the same form is refused when it is written. */
export function isFormOfAnother(
  connection: Connection,
  workspaceId: number,
  { id, phoneNumber }: Pick<Contact, 'id'> & { readonly phoneNumber: string },
): Promise<boolean> {
  return connection.oneFirst(sql.type(row(t.type({ taken: t.boolean })))`
    SELECT EXISTS (SELECT FROM ${ofNumber(workspaceId, phoneNumber)} WHERE contact.id <> ${id}) AS taken`);
}

/** The columns of a contact under their domain names, with its tags and event. */
const given = sql.fragment`AS given (
  id uuid, workspace_id int, "phoneNumber" text, "countryCode" text, country text, "firstName" text,
  "lastName" text, "chatName" text, email text, source text, consent text, "customFields" jsonb, dob timestamptz,
  "createdAt" timestamptz, "updatedAt" timestamptz, tag_ids uuid[], event_key text, event_body text,
  occurred_at timestamptz)`;

/** Writes the tags and the events of `changed`. Tags are locked first: a tag that is deleted meanwhile is left out. */
const attached = (tagIds: readonly string[]) => sql.fragment`
  written AS (
    SELECT given.id, given.workspace_id, tag_ids, event_key, event_body, occurred_at, 1 AS place
    FROM given JOIN changed USING (id)
  ), kept AS (
    SELECT workspace_id, id FROM tag WHERE id = ANY(${sql.array(tagIds, 'uuid')}) ORDER BY id FOR KEY SHARE
  ), tagged AS (
    INSERT INTO contact_tag (workspace_id, contact_id, tag_id)
    SELECT written.workspace_id, written.id, kept.id
    FROM written JOIN kept ON kept.workspace_id = written.workspace_id AND kept.id = ANY(written.tag_ids)
    ON CONFLICT DO NOTHING
  ), emitted AS (${insertWrittenEvents})`;

export interface ContactChange {
  readonly before: StoredContact;
  readonly after: Contact;
  readonly event: NewEventRow;
}

const hasSameTags = (one: Contact, other: Contact): boolean =>
  one.tagsId.length === other.tagsId.length && one.tagsId.every((tagId) => other.tagsId.includes(tagId));

/** The time of a decision after the change: now, if it becomes `stop`. */
const ifDecided = (stop: Consent, known: FragmentSqlToken, unchanged: FragmentSqlToken) => sql.fragment`
  CASE WHEN given.consent = contact.consent THEN ${unchanged}
    WHEN given.consent = ${stop} THEN date_trunc('second', given."updatedAt") ELSE ${known} END`;

export const numberIsAnothers = 'Another contact has this phone number: GET /api/contacts?search= finds it';

/** The contact must be locked. Throws Conflict if another contact has the number. */
export async function changeContact(
  connection: Transaction,
  { before, after, event }: ContactChange,
): Promise<void> {
  const tagIds = hasSameTags(before.contact, after) ? null : after.tagsId;
  const changed = { ...toRow(before.workspaceId, after, event), tag_ids: tagIds };
  await connection
    .query(sql.type(nothing)`
    WITH given AS (
      SELECT * FROM jsonb_to_record(${JSON.stringify(changed)}::jsonb) ${given}
    ), changed AS (
      UPDATE contact SET phone_number = given."phoneNumber", identity = CASE WHEN contact.phone_number IS DISTINCT FROM given."phoneNumber"
          THEN number_identity(given."phoneNumber") ELSE contact.identity END, country_code = given."countryCode",
        country = given.country, first_name = given."firstName", last_name = given."lastName",
        chat_name = given."chatName", email = given.email, subscribed = given.consent = 'all',
        -- An older START that arrives later does not subscribe again. Whole seconds, as the provider's times are.
        stop_all = CASE WHEN given.consent = contact.consent THEN contact.stop_all ELSE given.consent = 'none' END,
        stop_all_at = ${ifDecided('none', stopAllAt, sql.fragment`contact.stop_all_at`)},
        stop_marketing = CASE WHEN given.consent = contact.consent THEN contact.stop_marketing ELSE given.consent = 'no_marketing' END,
        stop_marketing_at = ${ifDecided('no_marketing', stopMarketingAt, sql.fragment`contact.stop_marketing_at`)},
        consent_at = CASE WHEN given.consent = contact.consent THEN contact.consent_at ELSE greatest(
          ${ifDecided('none', stopAllAt, sql.fragment`contact.stop_all_at`)},
          ${ifDecided('no_marketing', stopMarketingAt, sql.fragment`contact.stop_marketing_at`)}) END,
        custom_fields = given."customFields", dob = given.dob, updated_at = given."updatedAt", deleted_at = NULL
      FROM given
      WHERE contact.workspace_id = given.workspace_id AND contact.id = given.id
      RETURNING contact.id, contact.workspace_id, old.consent AS before, new.consent AS after
    ), decided AS (
      INSERT INTO contact_consent (workspace_id, contact_id, subscribed, source, at, category, consent)
      SELECT workspace_id, id, after = 'all', 'api', now(), CASE after WHEN 'no_marketing' THEN 'MARKETING' ELSE 'ALL' END, after
      FROM changed WHERE before <> after
    ), ${attached(tagIds ?? [])}
    DELETE FROM contact_tag USING written
    WHERE contact_tag.contact_id = written.id AND contact_tag.tag_id <> ALL (written.tag_ids)`)
    .catch(asConflict(numberIsAnothers));
}

const ContactId = row(t.type({ id: t.string }));

/** False, and nothing written, when the workspace has the number. */
export async function insertContact(
  connection: Connection,
  workspaceId: number,
  { contact, event }: { readonly contact: Contact; readonly event: NewEventRow },
): Promise<boolean> {
  const added = { ...toRow(workspaceId, contact, event), tag_ids: contact.tagsId };
  const written = await connection.anyFirst(sql.type(ContactId)`
    WITH given AS (
      SELECT * FROM jsonb_to_record(${JSON.stringify(added)}::jsonb) ${given}
    ), changed AS (
      INSERT INTO contact (id, workspace_id, phone_number, identity, country_code, country, first_name, last_name, chat_name, email,
        source, subscribed, stop_all, stop_all_at, stop_marketing, stop_marketing_at, consent_at, custom_fields, dob, created_at,
        updated_at)
      SELECT id, workspace_id, "phoneNumber", number_identity("phoneNumber"), "countryCode", country, "firstName", "lastName", "chatName", email,
        source, consent = 'all', consent = 'none', CASE WHEN consent = 'none' THEN date_trunc('second', "updatedAt") END,
        consent = 'no_marketing', CASE WHEN consent = 'no_marketing' THEN date_trunc('second', "updatedAt") END,
        CASE WHEN consent <> 'all' THEN date_trunc('second', "updatedAt") END, "customFields", dob, "createdAt", "updatedAt"
      FROM given
      -- Two indexes: the number itself, and the identity of a number with several forms.
      ON CONFLICT DO NOTHING
      RETURNING id
    ), ${attached(contact.tagsId)}
    SELECT id FROM changed`);
  return written.length > 0;
}

function toRow(workspaceId: number, contact: Contact, { key, body, occurredAt }: NewEventRow) {
  return { ...contact, workspace_id: workspaceId, event_key: key, event_body: body, occurred_at: occurredAt };
}
