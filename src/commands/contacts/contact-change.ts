import { customFieldsProblem, presentContact, type Contact } from '../../domain/contacts/contact.ts';
import { Invalid } from '../../domain/error.ts';
import { serialiseEvent } from '../../domain/webhooks/new-event.ts';
import type { ContactChange } from '../../records/contacts/changes.ts';
import type { NewEventRow } from '../../records/webhooks/events.ts';
import type { StoredContact } from '../../records/contacts/stored-contacts.ts';

interface ContactEvent {
  readonly workspaceId: number;
  readonly eventKey: 'contact.created' | 'contact.updated';
  readonly contact: Contact;
  readonly occurredAt: Date;
}

export function contactEvent({ workspaceId, eventKey, contact, occurredAt }: ContactEvent): NewEventRow {
  const data = { contact: presentContact(contact) };
  return { key: eventKey, body: serialiseEvent(workspaceId, { eventKey, data, occurredAt }), occurredAt };
}

/**
 * The edited contact, with the time of its reading as `updatedAt`, and its event `contact.updated`. Throws Invalid if its custom
 * fields became too large.
 */
export function contactChange(before: StoredContact, edited: Contact, occurredAt: Date): ContactChange {
  const { workspaceId, contact, readAt } = before;
  const problem = customFieldsProblem(edited, contact);
  if (problem !== undefined) throw Invalid.of([problem]);
  // A transaction that waited for the contact may have begun before its last change.
  const updatedAt = new Date(Math.max(readAt.getTime(), contact.updatedAt.getTime() + 1));
  const after = { ...edited, updatedAt };
  const event = contactEvent({ workspaceId, eventKey: 'contact.updated', contact: after, occurredAt });
  return { before, after, event };
}
