/** Numbers of erased people who had unsubscribed; a new contact with such a number is created unsubscribed. */
import { createHmac } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { findErasureKey, listOptedOutNumbers } from '../../records/contacts/erasure.ts';

export type OptedOut = (digits: string) => boolean;

const noNumber: OptedOut = () => false;

export function hashOfNumber(key: string, digits: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(digits).digest();
}

/** Reads all numbers of the workspace; an import calls it once. */
export async function readOptedOut(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  workspaceId: number,
): Promise<OptedOut> {
  const encrypted = await findErasureKey(connection, workspaceId);
  if (encrypted === undefined) return noNumber;
  const hashes = await listOptedOutNumbers(connection, workspaceId);
  if (hashes.length === 0) return noNumber;
  const key = secrets.decrypt(encrypted, `erasure ${workspaceId}`);
  const known = new Set(hashes.map((hash) => hash.toString('base64')));
  return (digits) => known.has(hashOfNumber(key, digits).toString('base64'));
}
