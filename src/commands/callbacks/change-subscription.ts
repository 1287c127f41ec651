import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { lockPerson, setSubscribed, type Person } from '../../records/callbacks/contacts.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';

/** Somebody stopped or allowed marketing messages: by contact id, or as the provider names them. */
export type SubscriptionChange = { readonly workspaceId: number; readonly subscribed: boolean } & (
  | { readonly contactId: string }
  | { readonly person: Person }
);

/** In the order given; `contact.updated` for everybody whose subscription is another afterwards. */
export async function changeSubscriptions(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  changes: readonly SubscriptionChange[],
): Promise<void> {
  for (const change of changes) {
    const { workspaceId, subscribed } = change;
    const contactIds =
      'contactId' in change
        ? [change.contactId]
        : (await lockPerson(connection, workspaceId, change.person)).map(({ id }) => id);
    const changed = await setSubscribed(connection, workspaceId, { contactIds, subscribed });
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.updated',
      contactIds: changed,
      occurredAt: now(),
    });
  }
}
