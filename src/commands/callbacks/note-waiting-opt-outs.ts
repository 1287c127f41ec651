import { createConsentReader } from '../../domain/callbacks/consent-words.ts';
import type { NotificationItem } from '../../provider/notification-item.ts';
import { noteOptOut, type Person } from '../../records/callbacks/sender-contacts.ts';
import { findNotifiedChannels } from '../../records/workspaces/notified-channels.ts';
import { phoneNumberIdsOf, type CallbackDependencies } from './apply-items.ts';
import { personOf } from './recognise-sender.ts';

/**
 * Records opt-outs of contacts that another transaction holds, without touching the contact: the next claim already skips these
 * people.
 */
export async function noteWaitingOptOuts(
  { config, database }: Pick<CallbackDependencies, 'config' | 'database'>,
  items: readonly NotificationItem[],
): Promise<void> {
  const consentOf = createConsentReader(config);
  const people: { readonly person: Person; readonly phoneNumberId: string | null }[] = [];
  for (const item of items) {
    if (item.kind === 'preferences' && !item.subscribed)
      people.push({ person: personOf(item), phoneNumberId: item.phoneNumberId });
    if (item.kind === 'message' && item.groupId === null && consentOf(item.texts) === false)
      people.push({
        person: personOf({ waId: item.from, userId: item.fromUserId }),
        phoneNumberId: item.phoneNumberId,
      });
  }
  if (people.length === 0) return;
  const channels = await findNotifiedChannels(database, phoneNumberIdsOf(items));
  for (const { person, phoneNumberId } of people) {
    const channel = channels.get(phoneNumberId ?? '');
    if (channel !== undefined) await noteOptOut(database, channel.workspaceId, person);
  }
}
