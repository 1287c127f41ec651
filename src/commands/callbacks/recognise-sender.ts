import type { Dependencies } from '../../dependencies.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { strictest } from '../../domain/contacts/consent.ts';
import { numberOfWaId } from '../../domain/callbacks/provider-number.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  insertIncomingContact,
  lockContactsById,
  lockPerson,
  updateIncomingContact,
  type IncomingContact,
  type NewIncomingContact,
  type Person,
} from '../../records/callbacks/sender-contacts.ts';
import { learnIdentities, type AnsweredMessage } from '../../records/callbacks/identities.ts';
import { findOptedOut } from '../contacts/opted-out-numbers.ts';
import type { InboundNotice } from './routed.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';

interface AnsweringNotice {
  readonly notice: InboundNotice;
  /** The message of ours that the inbound message replies to. */
  readonly answered: AnsweredMessage | undefined;
}

/** The contact an inbound message comes from. */
export interface Sender {
  readonly contactId: string;
  /** Every contact of this person: there are several if they were created before the provider linked the ids. */
  readonly contactIds: readonly string[];
  readonly phoneNumber: string | null;
  readonly country: string;
}

const longestName = 255;
export const longestUserId = 255;

/** Converts the provider's ids of a person: digits, user id or both. */
export function personOf({
  waId,
  userId,
  parentUserId = null,
}: {
  readonly waId: string | null;
  readonly userId: string | null;
  readonly parentUserId?: string | null;
}) {
  const [providerUserId = null, parent = null] = [userId, parentUserId].map((id) =>
    id === null ? null : cleanText(id, longestUserId),
  );
  return { ...numberOfWaId(waId), waId, providerUserId, parentUserId: parent } satisfies Person;
}

/** The person's number and ids, without duplicates. */
export const namesOfPerson = ({
  phoneNumber,
  waId,
  providerUserId,
  parentUserId = null,
}: Person): readonly string[] =>
  [...new Set([phoneNumber, waId, providerUserId, parentUserId])].filter((name) => name !== null);

/**
 * Finds the sender's contact by the provider's ids or by the message that this one replies to, or creates it (source
 * `incoming`). Stores new ids and restores a deleted contact. Undefined if the provider gave neither number nor user id.
 */
export async function recogniseSender(
  { now, secrets }: Pick<Dependencies, 'now' | 'secrets'>,
  connection: Connection,
  { notice: { item, channel }, answered }: AnsweringNotice,
): Promise<Sender | undefined> {
  const { workspaceId } = channel;
  const ids = personOf({ waId: item.from, userId: item.fromUserId, parentUserId: item.fromParentUserId });
  const person: NewIncomingContact = {
    ...ids,
    country: ids.phoneNumber === null ? (item.country ?? '') : ids.country,
    chatName: cleanText(item.profileName ?? '', longestName),
    username: cleanText(item.username ?? '', longestName),
  };
  if (person.phoneNumber === null && person.providerUserId === null) return undefined;

  const byId = await lockPerson(connection, workspaceId, person);
  const found =
    byId.length > 0 ? byId : await lockAnswering(connection, { notice: { item, channel }, answered });
  const [present] = found;
  if (present === undefined) {
    const optedOut = await findOptedOut({ secrets }, connection, workspaceId, namesOfPerson(person));
    const consent = strictest(optedOut.values());
    const created = await insertIncomingContact(connection, workspaceId, { ...person, consent });
    // Another transaction has just created this contact, so it can be found now.
    if (created === undefined) return senderOf(await lockPerson(connection, workspaceId, person));
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.created',
      contactIds: [created.id],
      occurredAt: now(),
    });
    await learnIds(connection, workspaceId, created, person);
    return senderOf([created]);
  }

  const learned = {
    ...person,
    id: present.id,
    chatName: person.chatName === '' ? present.chat_name : person.chatName,
    username: person.username === '' ? present.username : person.username,
    country: person.country === '' ? present.country : person.country,
    // Two contacts for one person, one by number and one by user id, stay as they are.
    providerUserId: found.length > 1 ? null : person.providerUserId,
  };
  const edited =
    present.deleted ||
    learned.chatName !== present.chat_name ||
    learned.username !== present.username ||
    (present.phone_number === null && learned.phoneNumber !== null);
  const linked = present.provider_user_id === null && learned.providerUserId !== null;
  const located = present.phone_number === null && learned.country !== present.country;
  if (edited || linked || located) await updateIncomingContact(connection, workspaceId, learned);
  if (edited) {
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.updated',
      contactIds: [present.id],
      occurredAt: now(),
    });
  }
  if (byId.length <= 1) await learnIds(connection, workspaceId, present, person);
  return {
    contactId: present.id,
    contactIds: found.map(({ id }) => id),
    phoneNumber: present.phone_number ?? person.phoneNumber,
    country: present.phone_number === null ? person.country : present.country,
  };
}

export function senderOf(found: readonly IncomingContact[]): Sender | undefined {
  const [contact] = found;
  if (contact === undefined) return undefined;
  const { id: contactId, phone_number: phoneNumber, country } = contact;
  return { contactId, contactIds: found.map(({ id }) => id), phoneNumber, country };
}

/** In a group any member may reply to a message, so a reply does not identify the sender. */
async function lockAnswering(
  connection: Connection,
  { notice: { item, channel }, answered }: AnsweringNotice,
): Promise<readonly IncomingContact[]> {
  const contactId = answered?.contactId ?? null;
  if (item.groupId !== null || contactId === null) return [];
  return lockContactsById(connection, channel.workspaceId, [contactId]);
}

/** Skips the query in the usual case, when the message brings no new id. */
function learnIds(
  connection: Connection,
  workspaceId: number,
  contact: IncomingContact,
  { waId, providerUserId, parentUserId = null }: Person,
): Promise<void> {
  const known = [null, contact.phone_number, contact.provider_user_id];
  const ids = [waId, providerUserId, parentUserId].filter((id) => id !== null && !known.includes(id));
  return learnIdentities(
    connection,
    ids.map((providerId) => ({ workspaceId, contactId: contact.id, providerId: providerId ?? '' })),
  );
}
