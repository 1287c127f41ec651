/**
 * Writes the contacts that an audience creates or changes, and their events, in batches large enough that the cost per
 * statement does not matter.
 */
import type { ChangedContact, NewAudienceContact } from '../../domain/audience/audience-contact.ts';
import { presentContact, type Contact } from '../../domain/contacts/contact.ts';
import { serialiseEvent, type NewEvent } from '../../domain/webhooks/new-event.ts';
import { createBoundedQueue } from '../../concurrency/bounded-queue.ts';
import { createCopyRows } from '../database/copy-rows.ts';
import type { LoadConnection } from '../database/load-connection.ts';

export interface ContactChanges {
  readonly created: readonly NewAudienceContact[];
  readonly changed: readonly ChangedContact[];
}

export interface ContactWriter {
  /** Resolves when more may be written; earlier rows may still wait in the batch. */
  readonly write: (changes: ContactChanges) => Promise<void>;
  readonly flush: () => Promise<void>;
}

export interface ContactWriterOptions {
  readonly workspaceId: number;
  readonly source: 'csv_import' | 'quick_contacts';
  readonly subscribedKeys: ReadonlySet<string>;
  /** Postgres' time at the beginning of the transaction: created_at and updated_at of what it writes. */
  readonly startedAt: Date;
}

type WritingConnection = Pick<LoadConnection, 'rows' | 'copyRows'>;

const batchBytes = 1024 * 1024;
const batchesUnderWay = 4;

const contactColumns = [
  'id',
  'workspace_id',
  'phone_number',
  'country_code',
  'country',
  'first_name',
  'last_name',
  'email',
  'source',
  'subscribed',
  'custom_fields',
];
const eventColumns = ['workspace_id', 'key', 'body', 'occurred_at'];

const copyOf = (table: string, columns: readonly string[]): string =>
  `COPY ${table} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`;
const copyContacts = copyOf('contact', contactColumns);
const copyEvents = copyOf('event', eventColumns);

/** Uses a connection whose transaction the caller begins and ends. */
export function createContactWriter(
  connection: WritingConnection,
  options: ContactWriterOptions,
): ContactWriter {
  const contacts = createCopyRows(contactColumns.length);
  const events = createCopyRows(eventColumns.length);
  const queue = createBoundedQueue(batchesUnderWay);
  const { workspaceId, source, subscribedKeys } = options;
  const emitsCreated = subscribedKeys.has('contact.created');

  const emit = (event: NewEvent): void => {
    events.beginRow();
    events.int4(workspaceId);
    events.text(event.eventKey);
    events.text(serialiseEvent(workspaceId, event));
    events.timestamptz(event.occurredAt);
  };
  const create = (contact: NewAudienceContact): void => {
    contacts.beginRow();
    contacts.uuid(contact.id);
    contacts.int4(workspaceId);
    contacts.text(contact.phone.digits);
    contacts.text(contact.phone.countryCode);
    contacts.text(contact.phone.country);
    contacts.text(contact.firstName);
    contacts.text(contact.lastName);
    contacts.text(contact.email);
    contacts.text(source);
    contacts.bool(contact.subscribed);
    contacts.jsonb(hasFields(contact.customFields) ? JSON.stringify(contact.customFields) : '{}');
    if (emitsCreated) emit(createdEvent(contact, options));
  };
  const send = async (): Promise<void> => {
    if (contacts.size() > 0) await queue.add(connection.copyRows(copyContacts, contacts.take()));
    if (events.size() > 0) await queue.add(connection.copyRows(copyEvents, events.take()));
  };

  return {
    async flush() {
      await send();
      await queue.settle();
    },
    async write({ created, changed }) {
      for (const contact of created) create(contact);
      if (changed.length > 0) {
        for (const event of await updateContacts(connection, options, changed)) emit(event);
      }
      if (contacts.size() + events.size() >= batchBytes) await send();
    },
  };
}

function hasFields(fields: Readonly<Record<string, string>>): boolean {
  for (const _ in fields) return true;
  return false;
}

function createdEvent(
  { phone, customFields, ...contact }: NewAudienceContact,
  { source, startedAt }: ContactWriterOptions,
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

// Fills only empty fields, as the contact may have changed since it was looked up. The additional condition on an array of ids
// makes Postgres look contacts up by key, whatever the statistics are.
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
    JOIN contact ON contact.workspace_id = $1 AND contact.id = ANY($2::uuid[]) AND contact.id = changed.id
      AND contact.erased_at IS NULL
    ORDER BY contact.id
    FOR NO KEY UPDATE OF contact
  ) AS given (id, first_name, last_name, email, custom_fields)
  WHERE contact.workspace_id = $1 AND contact.id = ANY($2::uuid[]) AND contact.id = given.id`;

const updatedColumns = `
  jsonb_build_object('id', contact.id, 'phoneNumber', contact.phone_number, 'countryCode', contact.country_code,
    'country', contact.country, 'firstName', contact.first_name, 'lastName', contact.last_name,
    'chatName', contact.chat_name, 'email', contact.email, 'source', contact.source,
    'subscribed', contact.subscribed, 'customFields', contact.custom_fields,
    'tagsId', ARRAY(SELECT tag_id FROM contact_tag WHERE contact_tag.contact_id = contact.id ORDER BY tag_id)),
  contact.dob, contact.created_at, contact.updated_at`;

/** Updates the contacts; returns their events if the workspace subscribes to `contact.updated`, else none. */
async function updateContacts(
  connection: WritingConnection,
  { workspaceId, subscribedKeys }: ContactWriterOptions,
  changed: readonly ChangedContact[],
): Promise<readonly NewEvent[]> {
  const isSubscribed = subscribedKeys.has('contact.updated');
  const statement = isSubscribed ? `${updateStatement} RETURNING ${updatedColumns}` : updateStatement;
  const updated = await connection.rows<UpdatedRow>(statement, [
    workspaceId,
    changed.map(({ id }) => id),
    changed.map(({ firstName }) => firstName),
    changed.map(({ lastName }) => lastName),
    changed.map(({ email }) => email),
    changed.map(({ newFields }) => JSON.stringify(newFields)),
  ]);
  return isSubscribed ? updated.map(updatedEvent) : [];
}

function updatedEvent([contact, dob, createdAt, updatedAt]: UpdatedRow): NewEvent {
  const updated = presentContact({ ...contact, dob, createdAt, updatedAt });
  return { eventKey: 'contact.updated', occurredAt: updatedAt, data: { contact: updated } };
}
