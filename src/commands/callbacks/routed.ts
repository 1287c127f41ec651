import type { MessageItem } from '../../provider/notification-item.ts';
import type { NotifiedChannel } from '../../records/workspaces/notified-channels.ts';

/** An item of a callback, and the channel it belongs to. */
export interface Routed<I> {
  readonly item: I;
  readonly channel: NotifiedChannel;
}
export type InboundNotice = Routed<MessageItem>;
