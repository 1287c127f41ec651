/**
 * The statements that changing a contact takes. What requests side by side read and write travels together: one round trip
 * and one commit serve all that came while the ones before were under way, and a lone request waits for nobody.
 */
import { changeContacts, takesLocks, type ContactChange } from '../../records/contacts/changes.ts';
import { isDatabaseUnavailable } from '../../records/database/failure.ts';
import type { Connection } from '../../records/database/database.ts';
import { findContacts, type StoredContact } from '../../records/contacts/stored-contacts.ts';
import { groupCalls } from '../../concurrency/group-calls.ts';

export interface ContactPlace {
  readonly workspaceId: number;
  readonly contactId: string;
}

export interface ContactRegister {
  /** As it stands when asked, or later. Undefined for a deleted contact and one of another workspace too. */
  readonly read: (place: ContactPlace) => Promise<StoredContact | undefined>;
  /**
   * False, and nothing written, when the contact is not the one that was read any more, or is being changed by somebody
   * else. Throws Conflict when another contact has the number.
   */
  readonly write: (change: ContactChange) => Promise<boolean>;
}

const grouping = { maxSize: 100, lanes: 1 };

export function createContactRegister(database: Connection): ContactRegister {
  const readTogether = groupCalls(async (contactIds: readonly string[]) => {
    const found = await findContacts(database, [...new Set(contactIds)]);
    return contactIds.map((id) => found.get(id));
  }, grouping);

  const writeTogether = groupCalls(async (changes: readonly ContactChange[]) => {
    const firstOf = new Map<string, ContactChange>();
    for (const change of changes) {
      if (!firstOf.has(change.after.id)) firstOf.set(change.after.id, change);
    }
    const written = await changeContacts(database, [...firstOf.values()]).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) throw error;
      // One of them cannot be written: each finds out for itself.
      return new Set<string>();
    });
    return changes.map((change) => written.has(change.after.id) && firstOf.get(change.after.id) === change);
  }, grouping);

  return {
    async read({ workspaceId, contactId }) {
      const stored = await readTogether(contactId);
      return stored?.workspaceId === workspaceId ? stored : undefined;
    },
    async write(change) {
      // Nobody waits for the locks of another's change.
      if (!takesLocks(change)) return writeTogether(change);
      return (await changeContacts(database, [change])).has(change.after.id);
    },
  };
}
