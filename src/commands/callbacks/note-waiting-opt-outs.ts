import { createConsentReader } from '../../domain/callbacks/consent-words.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
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
  { config, database, now }: Pick<CallbackDependencies, 'config' | 'database' | 'now'>,
  items: readonly NotificationItem[],
): Promise<void> {
  const consentOf = createConsentReader(config);
  const people: { readonly person: Person; readonly phoneNumberId: string | null; readonly at: Date }[] = [];
  for (const item of items) {
    if (item.kind === 'preferences' && !item.subscribed)
      people.push({
        person: personOf(item),
        phoneNumberId: item.phoneNumberId,
        at: epochSeconds(item.timestamp) ?? now(),
      });
    if (item.kind === 'message' && item.groupId === null && consentOf(item.texts) === false)
      people.push({
        person: personOf({ waId: item.from, userId: item.fromUserId }),
        phoneNumberId: item.phoneNumberId,
        at: epochSeconds(item.timestamp) ?? now(),
      });
  }
  if (people.length === 0) return;
  const channels = await findNotifiedChannels(database, phoneNumberIdsOf(items));
  for (const { person, phoneNumberId, at } of people) {
    const channel = channels.get(phoneNumberId ?? '');
    if (channel !== undefined) await noteOptOut(database, channel.workspaceId, { person, at });
  }
}
