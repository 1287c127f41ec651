/** Remembers the numbers and provider ids of people who opted out and have no contact, so that later contacts have their consent. */
import { createHmac, randomBytes } from 'node:crypto';
import { inSlices } from '../../concurrency/slices.ts';
import type { Dependencies } from '../../dependencies.ts';
import { type Consent, type ConsentDecision, strictest } from '../../domain/contacts/consent.ts';
import { formsOf } from '../../domain/number-rules.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  changeOptedOutNumbers,
  findErasureKey,
  findOptedOutNumbers,
  insertErasureKey,
} from '../../records/contacts/erasure.ts';

/** Digits are a number, which may have several forms; anything else is a user id. */
const formsOfName = (name: string): readonly string[] => (/^\d+$/.test(name) ? formsOf(name) : [name]);

/** Hashes that are computed in one go: they take some milliseconds. */
const hashedAtOnce = 1_000;

function hashOfNumber(key: string, digits: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(digits).digest();
}

/**
 * Returns the consent of those of the numbers that belong to people who opted out and had no contact. Look up the contacts of these numbers before
 * calling it: an erasure clears the contact's number and stores its hash in one transaction.
 */
export async function findOptedOut(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  workspaceId: number,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, Consent>> {
  const encrypted = await findErasureKey(connection, workspaceId);
  if (encrypted === undefined) return new Map();
  const key = secrets.decrypt(encrypted, `erasure ${workspaceId}`);
  const hashed: { readonly digits: string; readonly hashes: readonly Buffer[] }[] = [];
  await inSlices(numbers, hashedAtOnce, (slice) => {
    for (const digits of slice)
      hashed.push({ digits, hashes: formsOfName(digits).map((form) => hashOfNumber(key, form)) });
  });
  const known = await findOptedOutNumbers(
    connection,
    workspaceId,
    hashed.flatMap(({ hashes }) => hashes),
  );
  const found = new Map(known.map(({ hash, consent }) => [hash.toString('base64'), consent]));
  return new Map(
    hashed.flatMap(({ digits, hashes }) => {
      const kept = hashes.flatMap((hash) => found.get(hash.toString('base64')) ?? []);
      return kept.length === 0 ? [] : [[digits, strictest(kept)]];
    }),
  );
}

interface KeptChoice {
  readonly workspaceId: number;
  readonly names: readonly string[];
  readonly decision: ConsentDecision;
}

/**
 * Stores the choice of a person without a contact by number and provider ids: records an opt-out, or deletes it on an opt-in. Under
 * every form of the number: 1.0.0 looks for the one that it reads, and has stored the one that it read.
 */
export async function keepChoice(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  { workspaceId, names, decision }: KeptChoice,
): Promise<void> {
  const forms = [...new Set(names.flatMap(formsOfName))];
  const hashes = await hashNames({ secrets }, connection, workspaceId, forms);
  await changeOptedOutNumbers(connection, workspaceId, { hashes, ...decision });
}

/** Hashes numbers and ids under the workspace's key, which is made if there is none yet. */
export async function hashNames(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  workspaceId: number,
  names: readonly string[],
): Promise<readonly Buffer[]> {
  const row = `erasure ${workspaceId}` as const;
  await insertErasureKey(connection, workspaceId, secrets.encrypt(randomBytes(32).toString('base64'), row));
  return hashKnownNames({ secrets }, connection, workspaceId, names);
}

/** The hashes of numbers and ids under the workspace's key; empty if it has none yet, so that nothing was kept. */
export async function hashKnownNames(
  { secrets }: Pick<Dependencies, 'secrets'>,
  connection: Connection,
  workspaceId: number,
  names: readonly string[],
): Promise<readonly Buffer[]> {
  const encrypted = await findErasureKey(connection, workspaceId);
  if (encrypted === undefined) return [];
  const key = secrets.decrypt(encrypted, `erasure ${workspaceId}`);
  return names.map((name) => hashOfNumber(key, name));
}
