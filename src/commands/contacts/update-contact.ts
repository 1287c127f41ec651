import type { Dependencies } from '../../dependencies.ts';
import {
  editContact,
  isSameContact,
  nationalNumber,
  readContactNumber,
  type Contact,
  type ContactInput,
} from '../../domain/contacts/contact.ts';
import { Invalid, NotFound } from '../../domain/error.ts';
import type { PhoneNumber } from '../../domain/phone-number.ts';
import { changeContacts, type ContactChange } from '../../records/contacts/changes.ts';
import { lockContact, type StoredContact } from '../../records/contacts/stored-contacts.ts';
import { contactChange } from './contact-change.ts';
import { findTagProblems } from './find-tag-problems.ts';

/**
 * Edits a contact (Spec 4.6): absent fields stay, `tagsId` and `customFields` replace the whole list. An edit that changes
 * something is told once as `contact.updated`; one that changes nothing writes nothing. Throws NotFound, Invalid for an
 * unknown tag, Conflict when another contact has the number.
 */
export async function updateContact(
  { contactRegister, database, now }: Pick<Dependencies, 'contactRegister' | 'database' | 'now'>,
  workspaceId: number,
  { contactId, ...input }: ContactInput & { readonly contactId: string },
): Promise<Contact> {
  const [stored, problems] = await Promise.all([
    contactRegister.read({ workspaceId, contactId }),
    findTagProblems(database, workspaceId, input.tagsId ?? []),
  ]);
  if (stored === undefined) throw new NotFound('Contact');
  if (problems.length > 0) throw Invalid.of(problems);
  const change = edit(stored, input, now());
  if (change === undefined) return stored.contact;
  if (await contactRegister.write(change)) return change.after;
  // Somebody else is changing it: wait for him, and edit what he leaves.
  return database.transaction(async (connection) => {
    const locked = await lockContact(connection, workspaceId, contactId);
    const later = edit(locked, input, now());
    if (later === undefined) return locked.contact;
    await changeContacts(connection, [later]);
    return later.after;
  });
}

/** Undefined when it changes nothing. */
function edit(stored: StoredContact, input: ContactInput, occurredAt: Date): ContactChange | undefined {
  const { contact } = stored;
  const edited = editContact(contact, input, changedNumber(contact, input));
  return isSameContact(contact, edited) ? undefined : contactChange(stored, edited, occurredAt);
}

/** Undefined when the edit names no number, or the very one that the contact shows. */
function changedNumber(present: Contact, input: ContactInput): PhoneNumber | undefined {
  const shown = nationalNumber(present);
  const { phoneNumber = shown, countryCode } = input;
  const sameCode = countryCode === undefined || countryCode.replace('+', '') === present.countryCode;
  if (sameCode && phoneNumber === shown) return undefined;
  const number = readContactNumber(
    { phoneNumber, ...(countryCode !== undefined && { countryCode }) },
    present.countryCode,
  );
  if ('message' in number) throw Invalid.of([number]);
  return number;
}
