import { randomBytes } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import { NotFound } from '../../domain/error.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  stopSendingTo,
  clearContact,
  erasePersonTraces,
  exportPerson,
  findErasureKey,
  findKnownPerson,
  insertErasureKey,
  namesOf,
  noteOptedOutNumber,
  type PersonData,
  type KnownPerson,
} from '../../records/contacts/erasure.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { hashOfNumber } from './opted-out-numbers.ts';

type Eraser = Pick<Dependencies, 'database' | 'logger' | 'secrets'>;

/**
 * Erases a person: clears the contact, recipients and messages at once and hides the rest, which a worker clears
 * (`run-erasures.ts`). Counters, ledger, ids and keyed hashes of an unsubscribed person's number and provider ids stay. An
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
    const subscribed = await clearContact(transaction, workspaceId, contactId);
    // Another request has erased the person meanwhile.
    if (subscribed === undefined) throw new NotFound('Contact');
    await keepOptOut({ secrets }, transaction, { workspaceId, person: { ...person, subscribed } });
    await insertAuditEntry(transaction, { workspaceId, action: 'contact.erase', objectId: contactId });
  });
  logger.info({ workspaceId, contactId }, 'erasure of a person requested');
}

async function keepOptOut(
  { secrets }: Pick<Eraser, 'secrets'>,
  transaction: Connection,
  { workspaceId, person }: { readonly workspaceId: number; readonly person: KnownPerson },
): Promise<void> {
  const row = `erasure ${workspaceId}` as const;
  await insertErasureKey(transaction, workspaceId, secrets.encrypt(randomBytes(32).toString('base64'), row));
  const encrypted = await findErasureKey(transaction, workspaceId);
  if (encrypted === undefined) return;
  const key = secrets.decrypt(encrypted, row);
  for (const name of namesOf(person)) {
    const hash = hashOfNumber(key, name);
    await noteOptedOutNumber(transaction, workspaceId, { hash, optedOut: !person.subscribed });
  }
}

/** Returns all stored data of a person as JSON. Throws NotFound. */
export async function exportContact(
  { database, logger }: Pick<Eraser, 'database' | 'logger'>,
  { workspaceId, contactId }: { readonly workspaceId: number; readonly contactId: string },
): Promise<PersonData> {
  const person = await findKnownPerson(database, workspaceId, contactId);
  if (person === undefined) throw new NotFound('Contact');
  const held = await exportPerson(database, { workspaceId, person });
  await insertAuditEntry(database, { workspaceId, action: 'contact.export', objectId: contactId });
  logger.info({ workspaceId, contactId }, 'person exported');
  return held;
}
