import { presentContact } from '../../domain/contacts/contact.ts';
import { listContactsById } from '../../records/contacts/contacts.ts';
import type { Connection } from '../../records/database/database.ts';
import { emitEvents } from '../../records/webhooks/events.ts';

interface ContactOccasion {
  readonly eventKey: 'contact.created' | 'contact.updated';
  readonly occurredAt: Date;
}

/** Emits `contact.created` or `contact.updated` for contacts as they are now, in the order given. */
export async function emitContactEvents(
  connection: Connection,
  workspaceId: number,
  { eventKey, occurredAt, contactIds }: ContactOccasion & { readonly contactIds: readonly string[] },
): Promise<void> {
  if (contactIds.length === 0) return;
  const found = await listContactsById(connection, workspaceId, contactIds);
  const contacts = new Map(found.map((contact) => [contact.id, contact]));
  const events = contactIds.flatMap((id) => {
    const contact = contacts.get(id);
    return contact === undefined
      ? []
      : [{ eventKey, occurredAt, data: { contact: presentContact(contact) } }];
  });
  await emitEvents(connection, workspaceId, events);
}
