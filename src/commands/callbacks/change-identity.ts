/** A person gets a new number or user id: the contact stays the same, and so do its consent, tags and conversation. */
import type { Dependencies } from '../../dependencies.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { type Consent, decisionFor, strictest } from '../../domain/contacts/consent.ts';
import { numberOfWaId } from '../../domain/callbacks/provider-number.ts';
import type { IdentityChange, IdentityItem } from '../../provider/notification-item.ts';
import { changeToUserId, learnIdentities } from '../../records/callbacks/identities.ts';
import {
  listIdsOfPerson,
  lockContactsById,
  moveContactToNumber,
  type IncomingContact,
} from '../../records/callbacks/sender-contacts.ts';
import type { Connection } from '../../records/database/database.ts';
import { findBusinessAccount } from '../../records/workspaces/business-accounts.ts';
import type { NotifiedChannel } from '../../records/workspaces/notified-channels.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';
import { findOptedOut, keepChoice } from '../contacts/opted-out-numbers.ts';
import { changeConsents } from './change-subscription.ts';
import { longestUserId, namesOfPerson, personOf, senderOf, type Sender } from './recognise-sender.ts';

type Changer = Pick<Dependencies, 'now' | 'secrets'>;

/**
 * Finds the contact by the previous ids and gives it the new ones. If another contact has one of those already, both stay, because
 * merging people cannot be undone, and the stricter consent counts for both. Creates no contact. Returns the person's contacts.
 */
export async function changeIdentity(
  dependencies: Changer,
  connection: Connection,
  { workspaceId, change }: { readonly workspaceId: number; readonly change: IdentityChange },
): Promise<Sender | undefined> {
  const { previous, newNumber, newUserId, newParentUserId } = change;
  const person = personOf({ waId: newNumber, userId: newUserId, parentUserId: newParentUserId });
  const { knownIds, unknownNames } = await findByFirstKnown(connection, workspaceId, previous);
  const newIds = await listIdsOfPerson(connection, workspaceId, person);
  const locked = await lockContactsById(connection, workspaceId, [...new Set([...knownIds, ...newIds])]);
  const isKnown = ({ id }: IncomingContact) => knownIds.includes(id);
  // The contact that was found by a previous id comes first.
  const contacts = [...locked.filter(isKnown), ...locked.filter((contact) => !isKnown(contact))];
  const [contact] = contacts;

  const kept =
    knownIds.length === 0
      ? await findOptedOut(dependencies, connection, workspaceId, previous.flatMap(namesOf))
      : new Map<string, Consent>();
  const consent = strictest([...kept.values(), ...contacts.map((one) => one.consent)]);
  const decision = decisionFor(consent);
  if (contact === undefined) {
    const names = namesOfPerson(person);
    if (!decision.allows) await keepChoice(dependencies, connection, { workspaceId, names, decision });
    return undefined;
  }

  const laxer = contacts.filter((one) => one.consent !== consent);
  await changeConsents(
    dependencies,
    connection,
    laxer.map(({ id: contactId }) => ({ workspaceId, contactId, decision, at: null })),
  );
  const identity = { workspaceId, contactId: contact.id };
  const learned = [...unknownNames, newNumber, person.parentUserId].filter((name) => name !== null);
  const moved = await moveToNumber(connection, identity, newNumber);
  // After the move, which takes the spellings of the previous number away.
  await learnIdentities(
    connection,
    learned.map((providerId) => ({ ...identity, providerId })),
  );
  if (person.providerUserId !== null)
    await changeToUserId(connection, { ...identity, providerId: person.providerUserId, previous });
  if (moved) {
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.updated',
      contactIds: [contact.id],
      occurredAt: dependencies.now(),
    });
  }
  return senderOf(contacts);
}

/** Digits are a number, anything else is a user id. */
const personNamed = (name: string) =>
  /^\d+$/.test(name) ? personOf({ waId: name, userId: null }) : personOf({ waId: null, userId: name });

const namesOf = (name: string): readonly string[] => namesOfPerson(personNamed(name));

/** The contacts of the first name that any has, and the user ids before it that none has. */
async function findByFirstKnown(connection: Connection, workspaceId: number, names: readonly string[]) {
  const unknownNames: string[] = [];
  for (const name of names) {
    const knownIds = await listIdsOfPerson(connection, workspaceId, personNamed(name));
    if (knownIds.length > 0) return { knownIds, unknownNames };
    if (!/^\d+$/.test(name)) unknownNames.push(cleanText(name, longestUserId));
  }
  return { knownIds: [], unknownNames: [] };
}

/** False if the contact keeps its number: there is no new one, or another contact has it. */
async function moveToNumber(
  connection: Connection,
  { workspaceId, contactId }: { readonly workspaceId: number; readonly contactId: string },
  newNumber: string | null,
): Promise<boolean> {
  const { phoneNumber, countryCode, country } = numberOfWaId(newNumber);
  if (phoneNumber === null) return false;
  const number = { contactId, phoneNumber, countryCode, country };
  return moveContactToNumber(connection, workspaceId, number);
}

/** An account-level notice of a new user id; it does not always name the number. */
export async function applyIdentityItem(
  dependencies: Changer,
  connection: Connection,
  { item, channel }: { readonly item: IdentityItem; readonly channel: NotifiedChannel | undefined },
): Promise<void> {
  const place = channel ?? (await findBusinessAccount(connection, item.businessAccountId ?? ''));
  if (place === undefined) return;
  const previous = [item.previousUserId, item.waId].filter((id) => id !== null);
  const change = { previous, newNumber: null, newUserId: item.userId, newParentUserId: null };
  await changeIdentity(dependencies, connection, { workspaceId: place.workspaceId, change });
}
