import { inThisContext } from '../../concurrency/call-context.ts';
import type { Dependencies } from '../../dependencies.ts';
import { decisionFor } from '../../domain/contacts/consent.ts';
import { NotFound } from '../../domain/error.ts';
import { listIdsOfPerson } from '../../records/callbacks/sender-contacts.ts';
import { decideConsent } from '../../records/contacts/consents.ts';
import {
  stopSendingTo,
  clearContact,
  erasePersonTraces,
  exportPerson,
  findKnownPerson,
  keepHashOfConsents,
  namesOf,
} from '../../records/contacts/erasure.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { hashNames, keepChoice } from './opted-out-numbers.ts';

type Eraser = Pick<Dependencies, 'database' | 'logger' | 'secrets'>;

/**
 * Erases a person: clears the contact, recipients and messages at once, and hides the rest until a worker clears it
 * (`run-erasures.ts`). Counters, the ledger, ids, and keyed hashes of an unsubscribed person's number and provider ids stay. An
 * interrupted request can be repeated. Throws NotFound.
 */
export async function eraseContact(
  { database, logger, secrets }: Eraser,
  { workspaceId, contactId }: { readonly workspaceId: number; readonly contactId: string },
): Promise<void> {
  const person = await findKnownPerson(database, workspaceId, contactId);
  if (person === undefined) throw new NotFound('Contact');
  await database.transaction((transaction) => stopSendingTo(transaction, { workspaceId, person }));
  await database.transaction(async (transaction) => {
    await erasePersonTraces(transaction, { workspaceId, person });
    // The person may have opted out since the contact was read.
    const cleared = await clearContact(transaction, workspaceId, contactId);
    // Another request has erased the person in the meantime.
    if (cleared === undefined) throw new NotFound('Contact');
    const { consent, isDecided } = cleared;
    const { phoneNumber } = person;
    const numbers = { phoneNumber, waId: null, providerUserId: null };
    // Another contact may have the person's number in another form: claims looked at the consent of both.
    const others = phoneNumber === null ? [] : await listIdsOfPerson(transaction, workspaceId, numbers);
    const decision = decisionFor(consent);
    if (consent !== 'all')
      await decideConsent(transaction, workspaceId, {
        contactIds: others,
        decision,
        at: new Date(),
        source: 'api',
      });
    const names = namesOf(person);
    // Nobody's silence lifts an opt-out: it may be that of another contact of the person, erased before.
    if (consent !== 'all' || (isDecided && others.length === 0))
      await keepChoice({ secrets }, transaction, { workspaceId, names, decision });
    const [hash] = await hashNames({ secrets }, transaction, workspaceId, names);
    if (hash !== undefined) await keepHashOfConsents(transaction, { workspaceId, contactId, hash });
    await insertAuditEntry(transaction, { workspaceId, action: 'contact.erase', objectId: contactId });
  });
  logger.info({ workspaceId, contactId }, 'erasure of a person requested');
}

/** Returns all stored data of a person as the members of a JSON object, in parts. Throws NotFound. */
export async function exportContact(
  { database, logger }: Pick<Eraser, 'database' | 'logger'>,
  { workspaceId, contactId }: { readonly workspaceId: number; readonly contactId: string },
): Promise<AsyncIterable<string>> {
  const person = await findKnownPerson(database, workspaceId, contactId);
  if (person === undefined) throw new NotFound('Contact');
  await insertAuditEntry(database, { workspaceId, action: 'contact.export', objectId: contactId });
  logger.info({ workspaceId, contactId }, 'person exported');
  return inThisContext(exportPerson(database, { workspaceId, person }));
}
