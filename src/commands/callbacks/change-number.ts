import type { Dependencies } from '../../dependencies.ts';
import { numberOfWaId } from '../../domain/callbacks/provider-number.ts';
import { cleanText } from '../../domain/clean-text.ts';
import type { Connection } from '../../records/database/database.ts';
import { lockPerson, moveContactToNumber } from '../../records/callbacks/sender-contacts.ts';
import { learnIdentities } from '../../records/callbacks/identities.ts';
import type { IdentityItem } from '../../provider/notification-item.ts';
import { findBusinessAccount } from '../../records/workspaces/business-accounts.ts';
import type { NotifiedChannel } from '../../records/workspaces/notified-channels.ts';
import type { InboundNotice } from './routed.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';
import { personOf, type Sender } from './recognise-sender.ts';

/**
 * The sender announces a new number or user id: the contact gets it and keeps tags, fields and subscription. If another contact
 * already has the number, both stay unchanged, because merging people cannot be undone.
 */
export async function changeNumber(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  {
    notice: { item, channel },
    sender: { contactId },
  }: { readonly notice: InboundNotice; readonly sender: Sender },
): Promise<void> {
  if (item.newUserId !== null) {
    const providerId = cleanText(item.newUserId, 255);
    await learnIdentities(connection, [{ workspaceId: channel.workspaceId, contactId, providerId }]);
  }
  const { phoneNumber, countryCode, country } = numberOfWaId(item.newNumber);
  if (phoneNumber === null) return;
  const { workspaceId } = channel;
  const moved = await moveContactToNumber(connection, workspaceId, {
    contactId,
    phoneNumber,
    countryCode,
    country,
  });
  if (!moved) return;
  await emitContactEvents(connection, workspaceId, {
    eventKey: 'contact.updated',
    contactIds: [contactId],
    occurredAt: now(),
  });
}

/** An account-level notice of a new user id; it does not always name the number. */
export async function changeUserId(
  connection: Connection,
  { item, channel }: { readonly item: IdentityItem; readonly channel: NotifiedChannel | undefined },
): Promise<void> {
  const place = channel ?? (await findBusinessAccount(connection, item.businessAccountId ?? ''));
  if (place === undefined) return;
  const person = personOf({ waId: item.waId, userId: item.previousUserId });
  const [contact] = await lockPerson(connection, place.workspaceId, person);
  if (contact === undefined) return;
  const identity = { contactId: contact.id, providerId: cleanText(item.userId, 255) };
  await learnIdentities(connection, [{ workspaceId: place.workspaceId, ...identity }]);
}
