import type { MessageItem } from '../../provider/notification-item.ts';
import type { NotifiedChannel } from '../../records/workspaces/notified-channels.ts';

/** A callback item with its channel. */
export interface Routed<I> {
  readonly item: I;
  readonly channel: NotifiedChannel;
}
export type InboundNotice = Routed<MessageItem>;
