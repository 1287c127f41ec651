import { numberOfWaId } from '../../domain/callbacks/provider-number.ts';
import { storedJson } from '../../domain/callbacks/stored-json.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import type { EchoItem } from '../../provider/notification-item.ts';
import type { Connection } from '../../records/database/database.ts';
import { insertAppMessage, lockProviderMessage } from '../../records/callbacks/inbound-messages.ts';
import type { Routed } from './routed.ts';

/** Saves messages that the business sent from the provider's app: their statuses then have messageSource `app`. */
export async function applyAppMessages(
  connection: Connection,
  notices: readonly Routed<EchoItem>[],
): Promise<void> {
  const inOneOrder = notices.toSorted((one, other) =>
    one.item.providerMessageId < other.item.providerMessageId ? -1 : 1,
  );
  for (const { item, channel } of inOneOrder) {
    const { providerMessageId } = item;
    await lockProviderMessage(connection, { channelId: channel.id, providerMessageId });
    const { phoneNumber, country } = numberOfWaId(item.to);
    await insertAppMessage(connection, {
      workspaceId: channel.workspaceId,
      channelId: channel.id,
      phoneNumber,
      country,
      waId: item.to,
      providerUserId: item.toUserId,
      type: item.type.slice(0, 64),
      content: storedJson(item.raw, { id: providerMessageId }),
      providerMessageId,
      sentAt: epochSeconds(item.timestamp),
    });
  }
}
