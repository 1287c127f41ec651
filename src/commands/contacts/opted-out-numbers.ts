/** Numbers and provider ids of erased people who had unsubscribed; a new contact with one of them is created unsubscribed. */
import { createHmac } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { findErasureKey, findOptedOutNumbers } from '../../records/contacts/erasure.ts';

export function hashOfNumber(key: string, digits: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(digits).digest();
}

/**
 * Returns which of the numbers belonged to erased people who had unsubscribed. To be called after the contacts of these numbers
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
