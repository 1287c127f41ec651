import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { lockPerson, setSubscribed, type Person } from '../../records/callbacks/sender-contacts.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';
import { keepChoice } from '../contacts/opted-out-numbers.ts';
import { namesOfPerson } from './recognise-sender.ts';

/** An opt-out or opt-in. */
interface Choice {
  readonly workspaceId: number;
  readonly subscribed: boolean;
  /** When the person decided, as the provider reports it; null counts as now. */
  readonly at: Date | null;
}

export interface SubscriptionChange extends Choice {
  readonly contactId: string;
}

/** Names the person by the provider's ids. */
export interface PersonChoice extends Choice {
  readonly person: Person;
}

/** Emits `contact.updated` for each contact whose subscription changes. */
export async function changeSubscriptions(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  changes: readonly SubscriptionChange[],
): Promise<void> {
  for (const change of changes) {
    const { workspaceId, contactId, subscribed } = change;
    // A time in the future would override later decisions.
    const at = change.at === null || change.at > now() ? now() : change.at;
    const changed = await setSubscribed(connection, workspaceId, { contactIds: [contactId], subscribed, at });
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.updated',
      contactIds: changed,
      occurredAt: now(),
    });
  }
}

/** Applies choices to every contact of the person. Without a contact, the choice is kept for a later one. */
export async function applyChoices(
  { now, secrets }: Pick<Dependencies, 'now' | 'secrets'>,
  connection: Connection,
  choices: readonly PersonChoice[],
): Promise<void> {
  for (const { person, ...choice } of choices) {
    const { workspaceId, subscribed } = choice;
    const contacts = await lockPerson(connection, workspaceId, person);
    await changeSubscriptions(
      { now },
      connection,
      contacts.map(({ id }) => ({ ...choice, contactId: id })),
    );
    if (contacts.length > 0) continue;
    await keepChoice({ secrets }, connection, { workspaceId, names: namesOfPerson(person), subscribed });
  }
}

/** Unsubscribes those who opted out according to the refusal of a message: its contact, else the person to whom it was sent. */
export async function applyOptOuts(
  dependencies: Pick<Dependencies, 'now' | 'secrets'>,
  connection: Connection,
  refused: readonly {
    readonly workspaceId: number;
    readonly contactId: string | null;
    readonly person: Person;
  }[],
): Promise<void> {
  for (const { workspaceId, contactId, person } of refused) {
    const choice = { workspaceId, subscribed: false, at: null };
    if (contactId === null) await applyChoices(dependencies, connection, [{ ...choice, person }]);
    else await changeSubscriptions(dependencies, connection, [{ ...choice, contactId }]);
  }
}
