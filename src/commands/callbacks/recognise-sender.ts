import type { Dependencies } from '../../dependencies.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  insertIncomingContact,
  lockPerson,
  updateIncomingContact,
  type IncomingContact,
  type NewIncomingContact,
} from '../../records/callbacks/contacts.ts';
import type { InboundNotice } from './apply-inbound-message.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';

/** The contact an inbound message comes from. */
export interface Sender {
  readonly contactId: string;
  readonly phoneNumber: string | null;
  readonly country: string;
}

const longestName = 255;
const longestUserId = 255;

/**
 * Finds the sender, or registers them (source `incoming`), by number or by the provider's user id. What the message tells
 * anew is noted, the soft-deleted are restored. Undefined when the provider gave neither number nor user id.
 */
export async function recogniseSender(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  { item, channel: { workspaceId } }: InboundNotice,
): Promise<Sender | undefined> {
  const person: NewIncomingContact = {
    ...numberOf(item.from),
    providerUserId: item.fromUserId === null ? null : cleanText(item.fromUserId, longestUserId),
    chatName: cleanText(item.profileName ?? '', longestName),
  };
  if (person.phoneNumber === null && person.providerUserId === null) return undefined;

  const found = await lockPerson(connection, workspaceId, person);
  const [present] = found;
  if (present === undefined) {
    const created = await insertIncomingContact(connection, workspaceId, person);
    // Somebody else has just registered the same person: now there is a row to find.
    if (created === undefined) return senderOf((await lockPerson(connection, workspaceId, person))[0]);
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.created',
      contactIds: [created.id],
      occurredAt: now(),
    });
    return senderOf(created);
  }

  const told = {
    ...person,
    id: present.id,
    chatName: person.chatName === '' ? present.chat_name : person.chatName,
    // Two contacts for one person, one by number and one by user id, stay as they are.
    providerUserId: found.length > 1 ? null : person.providerUserId,
  };
  const edited =
    present.deleted ||
    told.chatName !== present.chat_name ||
    (present.phone_number === null && told.phoneNumber !== null);
  const linked = present.provider_user_id === null && told.providerUserId !== null;
  if (edited || linked) await updateIncomingContact(connection, told);
  if (edited) {
    await emitContactEvents(connection, workspaceId, {
      eventKey: 'contact.updated',
      contactIds: [present.id],
      occurredAt: now(),
    });
  }
  return {
    contactId: present.id,
    phoneNumber: present.phone_number ?? person.phoneNumber,
    country: present.phone_number === null ? person.country : present.country,
  };
}

function senderOf(contact: IncomingContact | undefined): Sender | undefined {
  if (contact === undefined) return undefined;
  return { contactId: contact.id, phoneNumber: contact.phone_number, country: contact.country };
}

/** The provider's numbers are international; one that no numbering plan knows is kept as it is. */
export function numberOf(
  digits: string | null,
): Pick<NewIncomingContact, 'phoneNumber' | 'countryCode' | 'country'> {
  if (digits === null || !/^\d{5,15}$/.test(digits))
    return { phoneNumber: null, countryCode: '', country: '' };
  const number = normalisePhoneNumber(`+${digits}`);
  return {
    phoneNumber: number?.digits ?? digits,
    countryCode: number?.countryCode ?? '',
    country: number?.country ?? '',
  };
}
