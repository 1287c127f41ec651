import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { lockPerson, setSubscribed, type Person } from '../../records/callbacks/sender-contacts.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';

/** An opt-out or opt-in, by contact id or by the provider's ids of a person. */
export type SubscriptionChange = {
  readonly workspaceId: number;
  readonly subscribed: boolean;
  /** When the person decided, as the provider reports it; null counts as now. */
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
    // A time in the future would override later decisions.
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
