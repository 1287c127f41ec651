import type { Dependencies } from '../../dependencies.ts';
import type { Connection } from '../../records/database/database.ts';
import { moveContactToNumber } from '../../records/callbacks/contacts.ts';
import type { InboundNotice } from './apply-inbound-message.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';
import { numberOf, type Sender } from './recognise-sender.ts';

/**
 * The sender tells that the number is another from now on: the contact goes with it, with its tags, fields and
 * subscription. Where the new number belongs to a contact already, both stay as they are: which of the two is right is not
 * for us to say.
 */
export async function changeNumber(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  {
    notice: { item, channel },
    sender: { contactId },
  }: { readonly notice: InboundNotice; readonly sender: Sender },
): Promise<void> {
  const { phoneNumber, countryCode, country } = numberOf(item.newNumber);
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
