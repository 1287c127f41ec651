/** Creates and edits contacts, with their events. */
import type { Dependencies } from '../../dependencies.ts';
import {
  type Contact,
  type ContactInput,
  customFieldsProblem,
  editContact,
  isSameContact,
  nationalNumber,
  newContact,
  presentContact,
  readContactNumber,
} from '../../domain/contacts/contact.ts';
import { strictest } from '../../domain/contacts/consent.ts';
import { Conflict, type FieldProblem, Invalid } from '../../domain/error.ts';
import type { PhoneNumber } from '../../domain/phone-number.ts';
import { isUuid } from '../../domain/uuid.ts';
import { serialiseEvent } from '../../domain/webhooks/new-event.ts';
import {
  changeContact,
  type ContactChange,
  findNumberUse,
  insertContact,
  isFormOfAnother,
  lockContact,
  lockDeletedContact,
  numberIsAnothers,
  type StoredContact,
} from '../../records/contacts/changes.ts';
import { findTags } from '../../records/contacts/tags.ts';
import type { Connection } from '../../records/database/database.ts';
import { getWorkspaceCountry } from '../../records/workspaces/workspaces.ts';
import type { NewEventRow } from '../../records/webhooks/events.ts';
import { learnFieldsOf } from './contact-fields.ts';
import { findOptedOut } from './opted-out-numbers.ts';

interface ContactEvent {
  readonly workspaceId: number;
  readonly eventKey: 'contact.created' | 'contact.updated';
  readonly contact: Contact;
  readonly occurredAt: Date;
}

function contactEvent({ workspaceId, eventKey, contact, occurredAt }: ContactEvent): NewEventRow {
  const data = { contact: presentContact(contact) };
  return { key: eventKey, body: serialiseEvent(workspaceId, { eventKey, data, occurredAt }), occurredAt };
}

/**
 * The edited contact, whose `updatedAt` is the time when it was read, and its event `contact.updated`. Throws Invalid if its
 * custom fields are now too large.
 */
function contactChange(before: StoredContact, edited: Contact, occurredAt: Date): ContactChange {
  const { workspaceId, contact, readAt } = before;
  const problem = customFieldsProblem(edited, contact);
  if (problem !== undefined) throw Invalid.of([problem]);
  // If the transaction waited for the contact, it may have begun before the contact's last change.
  const updatedAt = new Date(Math.max(readAt.getTime(), contact.updatedAt.getTime() + 1));
  const after = { ...edited, updatedAt };
  const event = contactEvent({ workspaceId, eventKey: 'contact.updated', contact: after, occurredAt });
  return { before, after, event };
}

/** Reports every id that is not a tag of the workspace. */
async function findTagProblems(
  connection: Connection,
  workspaceId: number,
  tagIds: readonly string[],
): Promise<readonly FieldProblem[]> {
  const found = await findTags(connection, workspaceId, tagIds.filter(isUuid));
  return tagIds.flatMap((id, index) => {
    const field = `tagsId.${index}`;
    return found.has(id) ? [] : [{ field, message: `${field} is not a tag of GET /api/tags` }];
  });
}

/** Whether the contact is new, or a deleted one was restored. */
export interface CreatedContact {
  readonly contact: Contact;
  readonly restored: boolean;
}

const numberIsTaken = () => new Conflict('A contact with this phone number exists: change it by PUT');

/**
 * Creates a contact. If a deleted contact has the number, restores it with the given fields. Throws Conflict if an existing
 * contact has the number.
 */
export async function createContact(
  { database, now, secrets }: Pick<Dependencies, 'database' | 'now' | 'secrets'>,
  workspaceId: number,
  { source, ...input }: ContactInput & { readonly phoneNumber: string; readonly source: string },
): Promise<CreatedContact> {
  const defaultCountry = await readDefaultCountry(database, workspaceId, input);
  const number = readContactNumber(input, { defaultCountry });
  if ('message' in number) throw Invalid.of([number]);

  const [{ use, id, at }, problems] = await Promise.all([
    findNumberUse(database, workspaceId, number.digits),
    findTagProblems(database, workspaceId, input.tagsId ?? []),
  ]);
  if (problems.length > 0) throw Invalid.of(problems);
  if (use === 'present') throw numberIsTaken();
  await learnFieldsOf(database, workspaceId, fieldsOf(input));
  if (use === 'deleted') {
    return database.transaction(async (connection) => {
      const deleted = await lockDeletedContact(connection, workspaceId, number.digits);
      if (deleted === undefined) throw numberIsTaken();
      // The contact may have a former form of the number.
      const present = deleted.contact.phoneNumber === number.digits ? undefined : number;
      const change = contactChange(deleted, editContact(deleted.contact, input, present), now());
      await changeContact(connection, change);
      return { contact: change.after, restored: true };
    });
  }
  const optedOut = await findOptedOut({ secrets }, database, workspaceId, [number.digits]);
  const kept = {
    ...newContact(number, { id, source, createdAt: at }),
    consent: strictest(optedOut.values()),
  };
  const contact = editContact({ ...kept, subscribed: kept.consent === 'all' }, input);
  const problem = customFieldsProblem(contact);
  if (problem !== undefined) throw Invalid.of([problem]);
  const event = contactEvent({ workspaceId, eventKey: 'contact.created', contact, occurredAt: now() });
  // Another request has used the number in the meantime.
  if (!(await insertContact(database, workspaceId, { contact, event }))) throw numberIsTaken();
  return { contact, restored: false };
}

/**
 * Edits a contact (Spec 4.6): absent fields stay, `tagsId` and `customFields` replace the whole list. An edit that changes
 * something emits one `contact.updated`; one that changes nothing writes nothing. Throws NotFound, Invalid for an unknown tag,
 * or Conflict if another contact has the number.
 */
export async function updateContact(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  workspaceId: number,
  { contactId, ...input }: ContactInput & { readonly contactId: string },
): Promise<Contact> {
  return database.transaction(async (connection) => {
    const stored = await lockContact(connection, workspaceId, contactId);
    const problems = await findTagProblems(connection, workspaceId, input.tagsId ?? []);
    if (problems.length > 0) throw Invalid.of(problems);
    const number = await changedNumber(connection, stored, input);
    const change = edit(stored, input, { number, occurredAt: now() });
    if (change === undefined) return stored.contact;
    const { id, phoneNumber } = change.after;
    const isMoved = phoneNumber !== null && phoneNumber !== stored.contact.phoneNumber;
    if (isMoved && (await isFormOfAnother(connection, workspaceId, { id, phoneNumber })))
      throw new Conflict(numberIsAnothers);
    await learnFieldsOf(connection, workspaceId, fieldsOf(input));
    await changeContact(connection, change);
    return change.after;
  });
}

const fieldsOf = ({ customFields = [] }: ContactInput): Readonly<Record<string, string>> =>
  Object.fromEntries(customFields.map(({ fieldId, value }) => [fieldId, value]));

/** Returns undefined if the edit changes nothing. */
function edit(
  stored: StoredContact,
  input: ContactInput,
  { number, occurredAt }: { readonly number: PhoneNumber | undefined; readonly occurredAt: Date },
): ContactChange | undefined {
  const { contact } = stored;
  const edited = editContact(contact, input, number);
  return isSameContact(contact, edited) ? undefined : contactChange(stored, edited, occurredAt);
}

/** Returns undefined if the edit has no number, or the number that the contact already has. */
async function changedNumber(
  connection: Connection,
  { workspaceId, contact: present }: StoredContact,
  input: ContactInput,
): Promise<PhoneNumber | undefined> {
  const shown = nationalNumber(present);
  const { phoneNumber = shown, countryCode } = input;
  const sameCode = countryCode === undefined || countryCode.replace('+', '') === present.countryCode;
  if (sameCode && phoneNumber === shown) return undefined;
  const number = readContactNumber(
    { phoneNumber, ...(countryCode !== undefined && { countryCode }) },
    {
      fallbackCode: present.countryCode,
      defaultCountry: await readDefaultCountry(connection, workspaceId, { phoneNumber, ...input }),
    },
  );
  if ('message' in number) throw Invalid.of([number]);
  return number;
}

/** The workspace's country for numbers that name none; '' if this one names its own. */
async function readDefaultCountry(
  connection: Connection,
  workspaceId: number,
  { phoneNumber = '', countryCode }: Pick<ContactInput, 'phoneNumber' | 'countryCode'>,
): Promise<string> {
  if (countryCode !== undefined || phoneNumber.startsWith('+')) return '';
  return (await getWorkspaceCountry(connection, workspaceId)) ?? '';
}
