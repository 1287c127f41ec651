import type { Dependencies } from '../dependencies.ts';
import {
  editContact,
  isSameContact,
  nationalNumber,
  readContactNumber,
  type Contact,
  type ContactInput,
} from '../domain/contact.ts';
import { Invalid } from '../domain/error.ts';
import type { PhoneNumber } from '../domain/phone-number.ts';
import { lockContact, replaceContactTags, updateContact as writeContact } from '../records/contacts.ts';
import { emitContactEvent } from './emit-contact-events.ts';
import { requireTags } from './require-tags.ts';

/**
 * Edits a contact (Spec 4.6): absent fields stay, `tagsId` and `customFields` replace the whole list. An edit that changes
 * something is told once as `contact.updated`; one that changes nothing writes nothing. Throws NotFound, Invalid for an
 * unknown tag, Conflict when another contact has the number.
 */
export async function updateContact(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  workspaceId: number,
  { contactId, ...input }: ContactInput & { readonly contactId: string },
): Promise<Contact> {
  return database.transaction(async (connection) => {
    const present = await lockContact(connection, workspaceId, contactId);
    if (input.tagsId !== undefined) await requireTags(connection, workspaceId, input.tagsId);
    const edited = editContact(present, input, changedNumber(present, input));
    if (isSameContact(present, edited)) return present;
    if (input.tagsId !== undefined) {
      await replaceContactTags(connection, workspaceId, { contactId, tagIds: edited.tagsId });
    }
    const contact = { ...edited, updatedAt: await writeContact(connection, edited) };
    await emitContactEvent(connection, workspaceId, {
      eventKey: 'contact.updated',
      contact,
      occurredAt: now(),
    });
    return contact;
  });
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
