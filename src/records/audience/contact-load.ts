/**
 * Loads the contacts of an audience that is given by phone numbers: looks them up in bulk, inserts unknown ones, restores
 * soft-deleted ones, fills empty fields and writes the events of these changes.
 *
 * Contacts are committed in batches of about 1 MB, each with its events in one short transaction, so that no other transaction
 * waits long for one of them. What is committed stays, whatever becomes of the campaign; a preparation that begins again finds
 * these contacts and changes nothing.
 */
import { sql } from 'slonik';
import type { AudienceContact } from '../../domain/audience/candidate.ts';
import {
  changedContact,
  contactsOfNumbers,
  newContact,
  type ChangedContact,
  type FieldExtent,
  type KnownContact,
  type NewAudienceContact,
  type Reachable,
} from '../../domain/audience/audience-contact.ts';
import type { Consent } from '../../domain/contacts/consent.ts';
import { presentContact, type Contact } from '../../domain/contacts/contact.ts';
import { formsOf, formsOfAll } from '../../domain/number-rules.ts';
import { serialiseEvent, type NewEvent } from '../../domain/webhooks/new-event.ts';
import { stopsOf } from '../contacts/consents.ts';
import { type CopyRows, createCopyRows } from '../database/copy-rows.ts';
import type { Connection } from '../database/database.ts';
import { openLoadConnection, type LoadConnection } from '../database/load-connection.ts';
import { nothing } from '../database/row.ts';
import { createUuidV7Generator, formatUuid } from '../database/uuid-v7.ts';

export interface FoundContacts {
  /** By the digits of the candidates' numbers; the contact itself may have another form of its number. */
  readonly known: ReadonlyMap<string, KnownContact>;
  /** The consent of erased people who had opted out, by number: a new contact with such a number has it. */
  readonly optedOut: ReadonlyMap<string, Consent>;
}

export interface ContactLoad {
  /** Postgres' time before the first look-up: later changes of the contacts are not part of what this load returns. */
  readonly startedAt: Date;
  readonly find: (candidates: readonly Reachable[]) => Promise<FoundContacts>;
  /**
   * Returns each candidate's contact, in order, with the fields of the input. `written` resolves when the writer accepts
   * more; earlier contacts may still wait for their batch.
   */
  readonly register: (
    candidates: readonly Reachable[],
    found: FoundContacts,
  ) => { readonly contacts: readonly AudienceContact[]; readonly written: Promise<void> };
  /** Resolves when every registered contact is committed. */
  readonly flush: () => Promise<void>;
  readonly destroy: () => void;
}

export interface ContactLoadOptions {
  readonly workspaceId: number;
  readonly source: 'csv_import' | 'quick_contacts';
  readonly subscribedKeys: ReadonlySet<string>;
  /** The custom fields that the input may give. */
  readonly givenFields: readonly string[];
  /** The custom fields that the messages name. */
  readonly namedFields: readonly string[];
  /** If another transaction locks a contact for longer, the load ends with a write collision. */
  readonly lockTimeoutMs: number;
  readonly findOptedOut: (numbers: readonly string[]) => Promise<FoundContacts['optedOut']>;
}

const applicationName = 'prepare-contacts';
const newContactsLock = 'new contacts ';

/** Waits until no import is writing new contacts of the workspace; none begins to until the transaction ends. */
export async function awaitNewContacts(transaction: Connection, workspaceId: number): Promise<void> {
  await transaction.query(sql.type(nothing)`
    SELECT pg_advisory_xact_lock_shared(hashtextextended(${newContactsLock} || ${workspaceId}::int4::text, 0))`);
}

export async function openContactLoad(
  databaseUrl: string,
  options: ContactLoadOptions,
): Promise<ContactLoad> {
  const connection = await openLoadConnection(databaseUrl, applicationName);
  try {
    const [[startedAt, isEmpty] = [new Date(0), false]] = await connection.rows<[Date, boolean]>(
      'SELECT now(), NOT EXISTS (SELECT FROM contact WHERE workspace_id = $1)',
      [options.workspaceId],
    );
    return contactLoad(connection, createContactWriter(databaseUrl, options), {
      ...options,
      startedAt,
      isEmpty,
    });
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
  consent: Consent,
  deleted: boolean,
  customFields: Readonly<Record<string, unknown>> | null,
  /** Null if the input gives no fields. */
  extent: readonly [count: number, bytes: number, ...positionsOfPresent: number[]] | null,
];

interface LoadContext extends ContactLoadOptions {
  readonly startedAt: Date;
  /** The workspace had no contacts at `startedAt`: look-ups are skipped; a conflict reveals a contact inserted since. */
  readonly isEmpty: boolean;
}

// One index lookup per number: the planner may turn a plain join into a scan of all contacts for every batch. Of the custom fields
// only what is needed is read: they may have 64 KiB. The text form of jsonb has a space after each colon and comma.
const lookUpStatement = `
  SELECT known.* FROM unnest(string_to_array($2, ',')) AS given (phone_number)
  CROSS JOIN LATERAL (
    SELECT phone_number, id, first_name, last_name, email, consent, deleted_at IS NOT NULL,
      (SELECT jsonb_object_agg(name, custom_fields -> name)
        FROM unnest($4::text[]) AS name WHERE custom_fields ? name),
      CASE WHEN cardinality($3::text[]) > 0 THEN
        (SELECT ARRAY[count(*)::int4, octet_length(custom_fields::text) - greatest(2 * count(*)::int4 - 1, 0)]
          FROM jsonb_object_keys(custom_fields)) ||
        ARRAY(SELECT at::int4 FROM unnest($3::text[]) WITH ORDINALITY AS field (name, at) WHERE custom_fields ? name)
      END
    FROM contact WHERE contact.workspace_id = $1 AND contact.phone_number = given.phone_number
    LIMIT 1
  ) AS known`;

function contactLoad(connection: LoadConnection, writer: ContactWriter, context: LoadContext): ContactLoad {
  const { workspaceId } = context;
  const newId = createUuidV7Generator(context.startedAt);
  const { givenFields, namedFields } = context;

  return {
    startedAt: context.startedAt,
    destroy() {
      connection.destroy();
      writer.destroy();
    },
    async find(candidates) {
      const numbers = candidates.map(({ phone }) => phone.digits);
      const rows = context.isEmpty
        ? []
        : await connection.rows<KnownRow>(lookUpStatement, [
            workspaceId,
            formsOfAll(numbers).join(','),
            givenFields,
            namedFields,
          ]);
      const known = new Map(rows.map((row) => [row[0], knownContact(row, givenFields)]));
      return { known: contactsOfNumbers(numbers, known), optedOut: await context.findOptedOut(numbers) };
    },
    register(candidates, { known, optedOut }) {
      const contacts: AudienceContact[] = [];
      const created: NewAudienceContact[] = [];
      const changed: ChangedContact[] = [];
      for (const candidate of candidates) {
        const present = known.size === 0 ? undefined : known.get(candidate.phone.digits);
        if (present === undefined) {
          const contact = newContact(candidate, {
            id: formatUuid(newId()),
            consent: optedOut.get(candidate.phone.digits) ?? 'all',
          });
          created.push(contact);
          contacts.push(contact);
        } else {
          const contact = changedContact(candidate, present);
          if (contact !== undefined) changed.push(contact);
          contacts.push(contact ?? present);
        }
      }
      const written = writer.write({ created, changed });
      // The caller that awaits `written` gets the failure; until then Node must not count it as unhandled.
      written.catch(() => undefined);
      return { contacts, written };
    },
    async flush() {
      await writer.flush();
      // Keeps the connection for the next load.
      await connection.commit();
    },
  };
}

function knownContact(
  [, id, firstName, lastName, email, consent, deleted, customFields, extent]: KnownRow,
  givenFields: readonly string[],
): KnownContact {
  const known = { id, firstName, lastName, email, consent, deleted, customFields: customFields ?? {} };
  return extent === null ? known : { ...known, extent: extentOf(extent, givenFields) };
}

function extentOf(
  [count, bytes, ...positions]: NonNullable<KnownRow[8]>,
  givenFields: readonly string[],
): FieldExtent {
  const present = new Set<string>();
  for (const position of positions) {
    const name = givenFields[position - 1];
    if (name !== undefined) present.add(name);
  }
  return { count, bytes, present };
}

interface ContactWriter {
  readonly write: (changes: ContactChanges) => Promise<void>;
  readonly flush: () => Promise<void>;
  readonly destroy: () => void;
}

interface ContactChanges {
  readonly created: readonly NewAudienceContact[];
  readonly changed: readonly ChangedContact[];
}

type WriterOptions = Omit<ContactLoadOptions, 'givenFields' | 'namedFields'>;

/** 1 MB of rows takes Postgres about a tenth of a second. */
const batchBytes = 1024 * 1024;
/** Bytes of a row besides its texts. */
const rowBytes = 100;

const contactColumns = [
  'id',
  'workspace_id',
  'phone_number',
  'identity',
  'country_code',
  'country',
  'first_name',
  'last_name',
  'email',
  'source',
  'subscribed',
  'stop_all',
  'stop_marketing',
  'custom_fields',
];
const eventColumns = ['workspace_id', 'key', 'body', 'occurred_at'];

const copyOf = (table: string, columns: readonly string[]): string =>
  `COPY ${table} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`;
export const copyContacts = copyOf('contact', contactColumns);
export const createContactRows = (): CopyRows => createCopyRows(contactColumns.length);
export const copyEvents = copyOf('event', eventColumns);
export const createEventRows = (): CopyRows => createCopyRows(eventColumns.length);

/** Commits one batch while the next is collected. */
function createContactWriter(databaseUrl: string, options: WriterOptions): ContactWriter {
  let batch: { created: NewAudienceContact[]; changed: ChangedContact[]; bytes: number };
  const clear = (): void => {
    batch = { created: [], changed: [], bytes: 0 };
  };
  clear();
  let committed: Promise<void> = Promise.resolve();
  let writing: LoadConnection | undefined;
  let isDestroyed = false;

  async function commit(changes: ContactChanges): Promise<void> {
    if (isDestroyed) throw new Error('The load was stopped');
    const connection = await openLoadConnection(databaseUrl, applicationName);
    writing = connection;
    try {
      if (isDestroyed) throw new Error('The load was stopped');
      await writeBatch(connection, options, changes);
      await connection.commit();
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      writing = undefined;
    }
  }
  /** Resolves when the batch before this one is committed. */
  async function send(): Promise<void> {
    const before = committed;
    const changes = batch;
    clear();
    committed = before.then(() => commit(changes));
    // The next `write` or `flush` gets the failure; until then Node must not count it as unhandled.
    committed.catch(() => undefined);
    await before;
  }

  return {
    async write({ created, changed }) {
      for (const contact of created) {
        batch.created.push(contact);
        batch.bytes += sizeOf(contact, contact.customFields);
        if (batch.bytes >= batchBytes) await send();
      }
      for (const contact of changed) {
        batch.changed.push(contact);
        batch.bytes += sizeOf(contact, contact.newFields);
        if (batch.bytes >= batchBytes) await send();
      }
    },
    async flush() {
      await send();
      await committed;
    },
    destroy() {
      isDestroyed = true;
      writing?.destroy();
    },
  };
}

/** Approximate bytes of a contact's row. */
function sizeOf(
  { firstName, lastName, email }: AudienceContact,
  fields: Readonly<Record<string, string>>,
): number {
  let size = rowBytes + firstName.length + lastName.length + email.length;
  for (const name in fields) size += name.length + (fields[name]?.length ?? 0) + 6;
  return size;
}

/**
 * Limits the waits for locks and, if the batch has new contacts, takes their lock: until the batch is committed, a choice of
 * somebody without a contact waits, and then finds the contact (`awaitNewContacts`). Returns the time of the transaction.
 */
export async function beginBatch(
  connection: LoadConnection,
  { workspaceId, lockTimeoutMs }: Pick<WriterOptions, 'workspaceId' | 'lockTimeoutMs'>,
  hasNew: boolean,
): Promise<Date> {
  const [[now] = [new Date()]] = await connection.rows<[Date]>(
    `WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '${lockTimeoutMs}', true))
     SELECT now(), CASE WHEN $1 THEN pg_advisory_xact_lock(hashtextextended('${newContactsLock}' || $2::int4::text, 0)) IS NULL END
     FROM patience`,
    [hasNew, workspaceId],
  );
  return now;
}

/** New contacts, unsubscribed if the person has opted out since the numbers were looked up; call it behind their lock. */
async function withLateOptOuts(
  { findOptedOut }: WriterOptions,
  created: readonly NewAudienceContact[],
): Promise<readonly NewAudienceContact[]> {
  const optedOut = await findOptedOut(created.map(({ phone }) => phone.digits));
  if (optedOut.size === 0) return created;
  return created.map((contact) => ({
    ...contact,
    consent: optedOut.get(contact.phone.digits) ?? contact.consent,
  }));
}

async function writeBatch(
  connection: LoadConnection,
  options: WriterOptions,
  { created, changed }: ContactChanges,
): Promise<void> {
  const { workspaceId, source, subscribedKeys } = options;
  if (created.length + changed.length === 0) return;
  const now = await beginBatch(connection, options, created.length > 0);
  const contacts = createContactRows();
  const events = createEventRows();
  const emit = (event: NewEvent): void => addEventRow(events, workspaceId, event);
  const copyFull = async (least: number): Promise<void> => {
    if (contacts.size() > least) await connection.copyRows(copyContacts, contacts.take());
    if (events.size() > least) await connection.copyRows(copyEvents, events.take());
  };
  const emitsCreated = subscribedKeys.has('contact.created');
  for (const contact of await withLateOptOuts(options, created.toSorted(byNumber))) {
    addContactRow(contacts, contact, { workspaceId, source });
    if (emitsCreated) emit(createdEvent(contact, source, now));
    if (events.size() >= batchBytes) await copyFull(batchBytes - 1);
  }
  await copyFull(0);
  const atOnce = subscribedKeys.has('contact.updated') ? returnedAtOnce : changedAtOnce;
  for (let from = 0; from < changed.length; from += atOnce) {
    const slice = changed.slice(from, from + atOnce);
    for (const event of await updateContacts(connection, { workspaceId, subscribedKeys }, slice)) emit(event);
    await copyFull(0);
  }
}

/** Adds a row of `copyContacts`. */
export function addContactRow(
  rows: CopyRows,
  contact: NewAudienceContact,
  { workspaceId, source }: { readonly workspaceId: number; readonly source: string },
): void {
  const { subscribed, stopAll, stopMarketing } = stopsOf(contact.consent);
  rows.beginRow();
  rows.uuid(contact.id);
  rows.int4(workspaceId);
  const forms = formsOf(contact.phone.digits);
  rows.text(contact.phone.digits);
  rows.text(forms.length > 1 ? (forms[0] ?? null) : null);
  rows.text(contact.phone.countryCode);
  rows.text(contact.phone.country);
  rows.text(contact.firstName);
  rows.text(contact.lastName);
  rows.text(contact.email);
  rows.text(source);
  rows.bool(subscribed);
  rows.bool(stopAll);
  rows.bool(stopMarketing);
  rows.jsonb(hasFields(contact.customFields) ? JSON.stringify(contact.customFields) : '{}');
}

/** Adds a row of `copyEvents`. */
export function addEventRow(rows: CopyRows, workspaceId: number, event: NewEvent): void {
  rows.beginRow();
  rows.int4(workspaceId);
  rows.text(event.eventKey);
  rows.text(serialiseEvent(workspaceId, event));
  rows.timestamptz(event.occurredAt);
}

const changedAtOnce = 1_000;
/** Contacts that an update returns for their events, each with up to 64 KiB of custom fields. */
const returnedAtOnce = 100;

/** Two imports of the same people insert them in the same order, so they cannot wait for one another in a circle. */
const byNumber = (one: NewAudienceContact, other: NewAudienceContact): number =>
  one.phone.digits < other.phone.digits ? -1 : 1;

function hasFields(fields: Readonly<Record<string, string>>): boolean {
  for (const _ in fields) return true;
  return false;
}

export function createdEvent(
  {
    phone,
    customFields,
    tagsId = [],
    ...contact
  }: NewAudienceContact & { readonly tagsId?: readonly string[] },
  source: string,
  now: Date,
): NewEvent {
  const created = {
    ...contact,
    phoneNumber: phone.digits,
    countryCode: phone.countryCode,
    country: phone.country,
    subscribed: contact.consent === 'all',
    chatName: '',
    username: '',
    source,
    customFields,
    tagsId,
    dob: null,
    createdAt: now,
    updatedAt: now,
  };
  return { eventKey: 'contact.created', occurredAt: now, data: { contact: presentContact(created) } };
}

export type UpdatedRow = readonly [
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

export const updatedColumns = `
  jsonb_build_object('id', contact.id, 'phoneNumber', contact.phone_number, 'countryCode', contact.country_code,
    'country', contact.country, 'firstName', contact.first_name, 'lastName', contact.last_name,
    'chatName', contact.chat_name, 'username', contact.username, 'email', contact.email, 'source', contact.source,
    'subscribed', contact.subscribed, 'consent', contact.consent, 'customFields', contact.custom_fields,
    'tagsId', ARRAY(SELECT tag_id FROM contact_tag WHERE contact_tag.contact_id = contact.id ORDER BY tag_id)),
  contact.dob, contact.created_at, contact.updated_at`;

/** Updates the contacts; returns their events if the workspace subscribes to `contact.updated`, else none. */
async function updateContacts(
  connection: LoadConnection,
  { workspaceId, subscribedKeys }: Pick<WriterOptions, 'workspaceId' | 'subscribedKeys'>,
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

export function updatedEvent([contact, dob, createdAt, updatedAt]: UpdatedRow): NewEvent {
  const updated = presentContact({ ...contact, dob, createdAt, updatedAt });
  return { eventKey: 'contact.updated', occurredAt: updatedAt, data: { contact: updated } };
}
