/** Numbers and provider ids of people without a contact who opted out; a new contact with one of them is created unsubscribed. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  findErasureKey,
  findOptedOutNumbers,
  insertErasureKey,
  noteOptedOutNumber,
} from '../../records/contacts/erasure.ts';

function hashOfNumber(key: string, digits: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(digits).digest();
}

/**
 * Returns which of the numbers belong to people who opted out and had no contact. To be called after the contacts of these numbers
 * were looked up: an erasure takes the number from the contact and keeps its hash in one transaction.
 */
export async function findOptedOut(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  workspaceId: number,
  numbers: readonly string[],
): Promise<ReadonlySet<string>> {
  const encrypted = await findErasureKey(connection, workspaceId);
  if (encrypted === undefined) return new Set();
  const key = secrets.decrypt(encrypted, `erasure ${workspaceId}`);
  const hashed = numbers.map((digits) => ({ digits, hash: hashOfNumber(key, digits) }));
  const kept = await findOptedOutNumbers(
    connection,
    workspaceId,
    hashed.map(({ hash }) => hash),
  );
  const found = new Set(kept.map((hash) => hash.toString('base64')));
  return new Set(hashed.flatMap(({ digits, hash }) => (found.has(hash.toString('base64')) ? [digits] : [])));
}

/** Keeps the choice of a person without a contact, by number and provider ids: an opt-out is recorded, an opt-in deletes it. */
export async function keepChoice(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  {
    workspaceId,
    names,
    subscribed,
  }: { readonly workspaceId: number; readonly names: readonly string[]; readonly subscribed: boolean },
): Promise<void> {
  const row = `erasure ${workspaceId}` as const;
  await insertErasureKey(connection, workspaceId, secrets.encrypt(randomBytes(32).toString('base64'), row));
  const encrypted = await findErasureKey(connection, workspaceId);
  if (encrypted === undefined) return;
  const key = secrets.decrypt(encrypted, row);
  for (const name of names) {
    const hash = hashOfNumber(key, name);
    await noteOptedOutNumber(connection, workspaceId, { hash, optedOut: !subscribed });
  }
}
