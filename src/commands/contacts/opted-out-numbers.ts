/** Remembers the numbers and provider ids of people who opted out and have no contact, to create later contacts unsubscribed. */
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
 * Returns which of the numbers belong to people who opted out and had no contact. Look up the contacts of these numbers before
 * calling it: an erasure clears the contact's number and stores its hash in one transaction.
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

/** Stores the choice of a person without a contact by number and provider ids: records an opt-out, or deletes it on an opt-in. */
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
