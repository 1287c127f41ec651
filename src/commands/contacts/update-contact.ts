import type { Dependencies } from '../../dependencies.ts';
import {
  editContact,
  isSameContact,
  nationalNumber,
  readContactNumber,
  type Contact,
  type ContactInput,
} from '../../domain/contacts/contact.ts';
import { Invalid } from '../../domain/error.ts';
import type { PhoneNumber } from '../../domain/phone-number.ts';
import { changeContact, type ContactChange } from '../../records/contacts/changes.ts';
import { lockContact, type StoredContact } from '../../records/contacts/stored-contacts.ts';
import { contactChange } from './contact-change.ts';
import { findTagProblems } from './find-tag-problems.ts';

/**
 * Edits a contact (Spec 4.6): absent fields stay, `tagsId` and `customFields` replace the whole list. An edit that changes
 * something emits one `contact.updated`; one that changes nothing writes nothing. Throws NotFound, Invalid for an
 * unknown tag, Conflict when another contact has the number.
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
    const change = edit(stored, input, now());
    if (change === undefined) return stored.contact;
    await changeContact(connection, change);
    return change.after;
  });
}

/** Returns undefined when the edit changes nothing. */
function edit(stored: StoredContact, input: ContactInput, occurredAt: Date): ContactChange | undefined {
  const { contact } = stored;
  const edited = editContact(contact, input, changedNumber(contact, input));
  return isSameContact(contact, edited) ? undefined : contactChange(stored, edited, occurredAt);
}

/** Returns undefined when the edit has no number, or the one that the contact has already. */
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
