import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { lockPerson, setSubscribed, type Person } from '../../records/callbacks/sender-contacts.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';

/** A person opted out of marketing messages or in again: by contact id, or as the provider names people. */
export type SubscriptionChange = {
  readonly workspaceId: number;
  readonly subscribed: boolean;
  /** The provider's time of the decision; null where it gives none, which counts as now. */
  readonly at: Date | null;
} & ({ readonly contactId: string } | { readonly person: Person });

/** Emits `contact.updated` for each contact whose subscription changes. */
export async function changeSubscriptions(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  changes: readonly SubscriptionChange[],
): Promise<void> {
  for (const change of changes) {
    const { workspaceId, subscribed } = change;
    // A time ahead of our clock must not outlast the decisions that follow.
    const at = change.at === null || change.at > now() ? now() : change.at;
    const contactIds =
      'contactId' in change
        ? [change.contactId]
        : (await lockPerson(connection, workspaceId, change.person)).map(({ id }) => id);
    const changed = await setSubscribed(connection, workspaceId, { contactIds, subscribed, at });
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.updated',
      contactIds: changed,
      occurredAt: now(),
    });
  }
}
