/**
 * The contacts of an audience that is given by phone numbers: looked up in bulk, the unknown inserted, the soft-deleted
 * restored, empty fields filled, with the events of all that. One transaction, beside the one of the recipients, so that
 * both are written at once; committed just before it.
 */
import type { AudienceContact } from '../domain/audience.ts';
import {
  changedContact,
  newContact,
  type ChangedContact,
  type KnownContact,
  type NewAudienceContact,
  type Reachable,
} from '../domain/audience-contact.ts';
import { presentContact, type Contact } from '../domain/contact.ts';
import { serialiseEvent, type NewEvent } from '../domain/event.ts';
import { copyValue, openLoadConnection, type LoadConnection } from './load-connection.ts';
import { createUuidV7Generator } from './uuid-v7.ts';

export type KnownContacts = ReadonlyMap<string, KnownContact>;

export interface ContactLoad {
  readonly find: (candidates: readonly Reachable[]) => Promise<KnownContacts>;
  /** The contact of every candidate, by phone digits, with what the input told of it; `written` settles later. */
  readonly register: (
    candidates: readonly Reachable[],
    known: KnownContacts,
  ) => { readonly contacts: ReadonlyMap<string, AudienceContact>; readonly written: Promise<void> };
  readonly commit: () => Promise<void>;
  readonly destroy: () => void;
}

export interface ContactLoadOptions {
  readonly workspaceId: number;
  readonly source: 'csv_import' | 'quick_contacts';
  readonly subscribedKeys: ReadonlySet<string>;
}

export async function openContactLoad(
  databaseUrl: string,
  options: ContactLoadOptions,
): Promise<ContactLoad> {
  const connection = await openLoadConnection(databaseUrl, 'prepare-contacts');
  try {
    await connection.rows('BEGIN');
    const [[startedAt, isEmpty] = [new Date(0), false]] = await connection.rows<[Date, boolean]>(
      'SELECT now(), NOT EXISTS (SELECT FROM contact WHERE workspace_id = $1)',
      [options.workspaceId],
    );
    return contactLoad(connection, { ...options, startedAt, isEmpty });
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

type KnownRow = readonly [
  phone: string,
  id: string,
  firstName: string,
  lastName: string,
  email: string,
  subscribed: boolean,
  deleted: boolean,
  customFields: Readonly<Record<string, unknown>>,
];

interface LoadContext extends ContactLoadOptions {
  /** Postgres' time at the beginning of the transaction: created_at and updated_at of what it writes. */
  readonly startedAt: Date;
  /** The workspace had no contact then: nobody needs to be looked up, and a collision would tell of a newcomer. */
  readonly isEmpty: boolean;
}

// One look into the index per number: a join the planner may turn into a scan of all contacts, page after page.
const lookUpStatement = `
  SELECT known.* FROM unnest(string_to_array($2, ',')) AS given (phone_number)
  CROSS JOIN LATERAL (
    SELECT phone_number, id, first_name, last_name, email, subscribed, deleted_at IS NOT NULL, custom_fields
    FROM contact WHERE contact.workspace_id = $1 AND contact.phone_number = given.phone_number
    LIMIT 1
  ) AS known`;

function contactLoad(connection: LoadConnection, context: LoadContext): ContactLoad {
  const { workspaceId } = context;
  const newId = createUuidV7Generator(context.startedAt);

  return {
    destroy: connection.destroy,
    async find(candidates) {
      if (context.isEmpty) return new Map();
      const rows = await connection.rows<KnownRow>(lookUpStatement, [
        workspaceId,
        candidates.map(({ phone }) => phone.digits).join(','),
      ]);
      return new Map(rows.map((row) => [row[0], knownContact(row)]));
    },
    register(candidates, known) {
      const contacts = new Map<string, AudienceContact>();
      const created: NewAudienceContact[] = [];
      const changed: ChangedContact[] = [];
      for (const candidate of candidates) {
        const { digits } = candidate.phone;
        const present = known.get(digits);
        if (present === undefined) {
          const contact = newContact(candidate, newId());
          created.push(contact);
          contacts.set(digits, contact);
        } else {
          const contact = changedContact(candidate, present);
          if (contact !== undefined) changed.push(contact);
          contacts.set(digits, contact ?? present);
        }
      }
      const written = writeAll(connection, context, { created, changed });
      // Whoever awaits it learns of a failure; until then it must not count as unhandled.
      written.catch(() => undefined);
      return { contacts, written };
    },
    async commit() {
      await connection.rows('COMMIT');
      await connection.end();
    },
  };
}

function knownContact([
  ,
  id,
  firstName,
  lastName,
  email,
  subscribed,
  deleted,
  customFields,
]: KnownRow): KnownContact {
  return { id, firstName, lastName, email, subscribed, deleted, customFields };
}

interface ContactChanges {
  readonly created: readonly NewAudienceContact[];
  readonly changed: readonly ChangedContact[];
}

async function writeAll(
  connection: LoadConnection,
  context: LoadContext,
  { created, changed }: ContactChanges,
): Promise<void> {
  const creating = created.length === 0 ? undefined : copyContacts(connection, context, created);
  const telling = context.subscribedKeys.has('contact.created')
    ? copyEvents(
        connection,
        context,
        created.map((contact) => createdEvent(contact, context)),
      )
    : undefined;
  const changing = changed.length === 0 ? undefined : updateContacts(connection, context, changed);
  await Promise.all([creating, telling, changing]);
}

async function copyContacts(
  connection: LoadConnection,
  { workspaceId, source }: LoadContext,
  created: readonly NewAudienceContact[],
): Promise<void> {
  const statement =
    'COPY contact (id, workspace_id, phone_number, country_code, country, first_name, last_name, email, source, custom_fields) FROM STDIN';
  let rows = '';
  for (const { id, phone, firstName, lastName, email, customFields } of created) {
    const names = `${copyValue(firstName)}\t${copyValue(lastName)}\t${copyValue(email)}`;
    const fields = hasFields(customFields) ? copyValue(JSON.stringify(customFields)) : '{}';
    rows += `${id}\t${workspaceId}\t${phone.digits}\t${phone.countryCode}\t${phone.country}\t${names}\t${source}\t${fields}\n`;
  }
  await connection.copyRows(statement, rows);
}

function hasFields(fields: Readonly<Record<string, string>>): boolean {
  for (const _ in fields) return true;
  return false;
}

async function copyEvents(
  connection: LoadConnection,
  { workspaceId }: LoadContext,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const statement = 'COPY event (workspace_id, key, body, occurred_at) FROM STDIN';
  let rows = '';
  for (const event of events) {
    const body = copyValue(serialiseEvent(workspaceId, event));
    rows += `${workspaceId}\t${event.eventKey}\t${body}\t${event.occurredAt.toISOString()}\n`;
  }
  await connection.copyRows(statement, rows);
}

function createdEvent(
  { phone, customFields, ...contact }: NewAudienceContact,
  { source, startedAt }: LoadContext,
): NewEvent {
  const created = {
    ...contact,
    phoneNumber: phone.digits,
    countryCode: phone.countryCode,
    country: phone.country,
    chatName: '',
    source,
    customFields,
    tagsId: [],
    dob: null,
    createdAt: startedAt,
    updatedAt: startedAt,
  };
  return { eventKey: 'contact.created', occurredAt: startedAt, data: { contact: presentContact(created) } };
}

type UpdatedRow = readonly [
  contact: Omit<Contact, 'dob' | 'createdAt' | 'updatedAt'>,
  dob: Date | null,
  createdAt: Date,
  updatedAt: Date,
];

// Filled only where still empty: somebody may have changed the contact since it was looked up.
const updateStatement = `
  UPDATE contact SET
    first_name = CASE WHEN contact.first_name || contact.last_name = '' THEN given.first_name ELSE contact.first_name END,
    last_name = CASE WHEN contact.first_name || contact.last_name = '' THEN given.last_name ELSE contact.last_name END,
    email = CASE WHEN contact.email = '' THEN given.email ELSE contact.email END,
    custom_fields = given.custom_fields || contact.custom_fields, deleted_at = NULL, updated_at = now()
  FROM (
    SELECT contact.id, changed.first_name, changed.last_name, changed.email, changed.custom_fields
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
      AS changed (id, first_name, last_name, email, custom_fields)
    JOIN contact ON contact.workspace_id = $1 AND contact.id = changed.id
    ORDER BY contact.id
    FOR NO KEY UPDATE OF contact
  ) AS given (id, first_name, last_name, email, custom_fields)
  WHERE contact.workspace_id = $1 AND contact.id = given.id`;

const updatedColumns = `
  jsonb_build_object('id', contact.id, 'phoneNumber', contact.phone_number, 'countryCode', contact.country_code,
    'country', contact.country, 'firstName', contact.first_name, 'lastName', contact.last_name,
    'chatName', contact.chat_name, 'email', contact.email, 'source', contact.source,
    'subscribed', contact.subscribed, 'customFields', contact.custom_fields,
    'tagsId', ARRAY(SELECT tag_id FROM contact_tag WHERE contact_tag.contact_id = contact.id ORDER BY tag_id)),
  contact.dob, contact.created_at, contact.updated_at`;

async function updateContacts(
  connection: LoadConnection,
  context: LoadContext,
  changed: readonly ChangedContact[],
): Promise<void> {
  const isTold = context.subscribedKeys.has('contact.updated');
  const statement = isTold ? `${updateStatement} RETURNING ${updatedColumns}` : updateStatement;
  const updated = await connection.rows<UpdatedRow>(statement, [
    context.workspaceId,
    changed.map(({ id }) => id),
    changed.map(({ firstName }) => firstName),
    changed.map(({ lastName }) => lastName),
    changed.map(({ email }) => email),
    changed.map(({ newFields }) => JSON.stringify(newFields)),
  ]);
  if (isTold) await copyEvents(connection, context, updated.map(updatedEvent));
}

function updatedEvent([contact, dob, createdAt, updatedAt]: UpdatedRow): NewEvent {
  const updated = presentContact({ ...contact, dob, createdAt, updatedAt });
  return { eventKey: 'contact.updated', occurredAt: updatedAt, data: { contact: updated } };
}
