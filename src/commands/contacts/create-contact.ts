import type { Dependencies } from '../../dependencies.ts';
import {
  customFieldsProblem,
  editContact,
  newContact,
  readContactNumber,
  type Contact,
  type ContactInput,
} from '../../domain/contacts/contact.ts';
import { Conflict, Invalid } from '../../domain/error.ts';
import { changeContact, insertContact } from '../../records/contacts/changes.ts';
import { findNumberUse, lockDeletedContact } from '../../records/contacts/stored-contacts.ts';
import { findOptedOut } from './opted-out-numbers.ts';
import { contactChange, contactEvent } from './contact-change.ts';
import { findTagProblems } from './find-tag-problems.ts';

/** Whether the contact is new, or a deleted one was restored. */
export interface CreatedContact {
  readonly contact: Contact;
  readonly restored: boolean;
}

const numberIsTaken = () => new Conflict('A contact with this phone number exists: change it by PUT');

/**
 * Registers a contact. If a deleted contact has the number, restores it with the given fields. Throws Conflict when a
 * present contact has the number.
 */
export async function createContact(
  { database, now, secrets }: Pick<Dependencies, 'database' | 'now' | 'secrets'>,
  workspaceId: number,
  { source, ...input }: ContactInput & { readonly phoneNumber: string; readonly source: string },
): Promise<CreatedContact> {
  const number = readContactNumber(input);
  if ('message' in number) throw Invalid.of([number]);

  const [{ use, id, at }, problems] = await Promise.all([
    findNumberUse(database, workspaceId, number.digits),
    findTagProblems(database, workspaceId, input.tagsId ?? []),
  ]);
  if (problems.length > 0) throw Invalid.of(problems);
  if (use === 'present') throw numberIsTaken();
  if (use === 'deleted') {
    return database.transaction(async (connection) => {
      const deleted = await lockDeletedContact(connection, workspaceId, number.digits);
      if (deleted === undefined) throw numberIsTaken();
      const change = contactChange(deleted, editContact(deleted.contact, input), now());
      await changeContact(connection, change);
      return { contact: change.after, restored: true };
    });
  }
  const optedOut = await findOptedOut({ secrets }, database, workspaceId, [number.digits]);
  const subscribed = input.subscribed ?? optedOut.size === 0;
  const contact = editContact(newContact(number, { id, source, createdAt: at }), { ...input, subscribed });
  const problem = customFieldsProblem(contact);
  if (problem !== undefined) throw Invalid.of([problem]);
  const event = contactEvent({ workspaceId, eventKey: 'contact.created', contact, occurredAt: now() });
  // Another request has registered the number meanwhile.
  if (!(await insertContact(database, workspaceId, { contact, event }))) throw numberIsTaken();
  return { contact, restored: false };
}
