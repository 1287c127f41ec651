/** Records a decision of a contact with its evidence, and applies it. */
import type { Dependencies } from '../../dependencies.ts';
import type { ConsentDecision } from '../../domain/contacts/consent.ts';
import {
  type ConsentEntry,
  type ConsentSource,
  decideConsent,
  type Evidence,
  listConsents,
} from '../../records/contacts/consents.ts';
import { getContact } from '../../records/contacts/contacts.ts';
import { emitContactEvents } from './emit-contact-events.ts';

export interface GivenConsent {
  readonly workspaceId: number;
  readonly contactId: string;
  readonly decision: ConsentDecision;
  readonly source: ConsentSource;
  /** When the person decided; null is now. */
  readonly at: Date | null;
  readonly evidence: Evidence;
}

/**
 * A decision that is older than one about the same is recorded and changes nothing. Emits `contact.updated` if the consent changes. Throws
 * NotFound.
 */
export async function recordConsent(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  { workspaceId, contactId, at, ...given }: GivenConsent,
): Promise<ConsentEntry> {
  return database.transaction(async (transaction) => {
    await getContact(transaction, workspaceId, contactId);
    const decided = { ...given, contactIds: [contactId], at: at ?? now(), isAlwaysRecorded: true };
    const contactIds = await decideConsent(transaction, workspaceId, decided);
    const event = { eventKey: 'contact.updated', contactIds, occurredAt: now() } as const;
    await emitContactEvents(transaction, workspaceId, event);
    const page = { after: undefined, limit: 0 };
    const [entry] = await listConsents(transaction, { workspaceId, contactId }, page);
    if (entry === undefined) throw new Error('The entry of the register is missing');
    return entry;
  });
}
