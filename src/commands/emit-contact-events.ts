import type { Connection } from '../records/database.ts';
import { listEventContacts } from '../records/event-contacts.ts';
import { emitEvents } from '../records/events.ts';

/** `contact.created` or `contact.updated` of contacts as they are now, in the order given. */
export async function emitContactEvents(
  connection: Connection,
  workspaceId: number,
  {
    eventKey,
    contactIds,
    occurredAt,
  }: {
    readonly eventKey: 'contact.created' | 'contact.updated';
    readonly contactIds: readonly string[];
    readonly occurredAt: Date;
  },
): Promise<void> {
  if (contactIds.length === 0) return;
  const contacts = new Map(
    (await listEventContacts(connection, contactIds)).map((contact) => [contact.id, contact]),
  );
  const events = contactIds.flatMap((id) => {
    const contact = contacts.get(id);
    if (contact === undefined) return [];
    const { customFields, dob, createdAt, updatedAt, ...fields } = contact;
    return [
      {
        eventKey,
        occurredAt,
        data: {
          contact: {
            ...fields,
            customFields: Object.entries(customFields).map(([fieldId, value]) => ({ fieldId, value })),
            dob: dob?.toISOString() ?? null,
            createdAt: createdAt.toISOString(),
            updatedAt: updatedAt.toISOString(),
          },
        },
      },
    ];
  });
  await emitEvents(connection, workspaceId, events);
}
