import type { Dependencies } from '../dependencies.ts';
import {
  editContact,
  isSameContact,
  readContactNumber,
  type Contact,
  type ContactInput,
} from '../domain/contact.ts';
import { Conflict, Invalid } from '../domain/error.ts';
import {
  insertContact,
  lockContact,
  replaceContactTags,
  restoreContact,
  updateContact,
} from '../records/contacts.ts';
import type { Transaction } from '../records/database.ts';
import { requireTags } from './require-tags.ts';
import { emitContactEvent } from './emit-contact-events.ts';

/** How a contact came to be: new, or deleted before and restored. */
export interface CreatedContact {
  readonly contact: Contact;
  readonly restored: boolean;
}

/**
 * Registers a contact. A number that a deleted contact has restores that contact, with what is given anew; one that a
 * present contact has is refused: Conflict.
 */
export async function createContact(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  workspaceId: number,
  { source, ...input }: ContactInput & { readonly phoneNumber: string; readonly source: string },
): Promise<CreatedContact> {
  const number = readContactNumber(input);
  if ('message' in number) throw Invalid.of([number]);

  return database.transaction(async (connection) => {
    await requireTags(connection, workspaceId, input.tagsId ?? []);
    const place = { phoneNumber: number.digits, countryCode: number.countryCode, country: number.country };
    const inserted = await insertContact(connection, workspaceId, { ...place, source });
    const id = inserted ?? (await restoreContact(connection, workspaceId, number.digits));
    if (id === undefined) throw new Conflict('A contact with this phone number exists');
    const contact = await complete(connection, workspaceId, { id, input });
    await emitContactEvent(connection, workspaceId, {
      eventKey: inserted === undefined ? 'contact.updated' : 'contact.created',
      contact,
      occurredAt: now(),
    });
    return { contact, restored: inserted === undefined };
  });
}

async function complete(
  connection: Transaction,
  workspaceId: number,
  { id, input }: { readonly id: string; readonly input: ContactInput },
): Promise<Contact> {
  const present = await lockContact(connection, workspaceId, id);
  const edited = editContact(present, input);
  if (isSameContact(present, edited)) return present;
  if (input.tagsId !== undefined) {
    await replaceContactTags(connection, workspaceId, { contactId: id, tagIds: edited.tagsId });
  }
  return { ...edited, updatedAt: await updateContact(connection, edited) };
}
