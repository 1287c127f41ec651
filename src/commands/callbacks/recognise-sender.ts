import type { Dependencies } from '../../dependencies.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { numberOfWaId } from '../../domain/callbacks/provider-number.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  insertIncomingContact,
  lockContactById,
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
const longestUserId = 255;

/** Converts the provider's ids of a person: digits, user id or both. */
export function personOf({ waId, userId }: { readonly waId: string | null; readonly userId: string | null }) {
  const providerUserId = userId === null ? null : cleanText(userId, longestUserId);
  return { ...numberOfWaId(waId), waId, providerUserId } satisfies Person;
}

/** The person's number and ids, without duplicates. */
export const namesOfPerson = ({ phoneNumber, waId, providerUserId }: Person): readonly string[] =>
  [...new Set([phoneNumber, waId, providerUserId])].filter((name) => name !== null);

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
  const person: NewIncomingContact = {
    ...personOf({ waId: item.from, userId: item.fromUserId }),
    chatName: cleanText(item.profileName ?? '', longestName),
  };
  if (person.phoneNumber === null && person.providerUserId === null) return undefined;

  const byId = await lockPerson(connection, workspaceId, person);
  const found =
    byId.length > 0 ? byId : await lockAnswering(connection, { notice: { item, channel }, answered });
  const [present] = found;
  if (present === undefined) {
    const optedOut = await findOptedOut({ secrets }, connection, workspaceId, namesOfPerson(person));
    const subscribed = optedOut.size === 0;
    const created = await insertIncomingContact(connection, workspaceId, { ...person, subscribed });
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
    // Two contacts for one person, one by number and one by user id, stay as they are.
    providerUserId: found.length > 1 ? null : person.providerUserId,
  };
  const edited =
    present.deleted ||
    learned.chatName !== present.chat_name ||
    (present.phone_number === null && learned.phoneNumber !== null);
  const linked = present.provider_user_id === null && learned.providerUserId !== null;
  if (edited || linked) await updateIncomingContact(connection, workspaceId, learned);
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

function senderOf(found: readonly IncomingContact[]): Sender | undefined {
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
  return lockContactById(connection, channel.workspaceId, contactId);
}

/** Skips the query in the usual case, when the message brings no new id. */
function learnIds(
  connection: Connection,
  workspaceId: number,
  contact: IncomingContact,
  { waId, providerUserId }: Person,
): Promise<void> {
  const known = [null, contact.phone_number, contact.provider_user_id];
  const ids = [waId, providerUserId].filter((id) => id !== null && !known.includes(id));
  return learnIdentities(
    connection,
    ids.map((providerId) => ({ workspaceId, contactId: contact.id, providerId: providerId ?? '' })),
  );
}
