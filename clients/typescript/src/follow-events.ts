import type { CallOptions, Client } from './client.ts';
import { listEvents } from './operations.ts';
import type { FeedEvent, FeedKey } from './schemas.ts';
import { wait } from './wait.ts';

export interface FollowEventsOptions extends Pick<CallOptions, 'signal'> {
  /** The `cursor` of the last event that was processed; without it the feed begins with the oldest event that is kept. */
  readonly after?: string | undefined;
  /** Only events of these keys; default all. */
  readonly eventKeys?: readonly FeedKey[];
  /**
   * Processes one event and stores its `cursor`, with which a later call resumes. Awaited before the next event; if it
   * throws, `followEvents` throws the same error.
   */
  readonly onEvent: (event: FeedEvent) => void | Promise<void>;
  /**
   * Called if events after the cursor are no longer kept, with the cursor from which the feed goes on. Without it,
   * `followEvents` throws the ApiError (`cursor_expired`).
   */
  readonly onGap?: (oldestCursor: string) => void | Promise<void>;
  /** Pause at the end of the feed; default 2,000. */
  readonly pollMs?: number;
}

/** Follows the event feed: every event once, in order. Runs until `signal` aborts, then resolves; requests are retried. */
export async function followEvents(
  client: Client,
  { after, eventKeys, onEvent, onGap, pollMs = 2_000, signal }: FollowEventsOptions,
): Promise<void> {
  let cursor = after;
  const isOver = (): boolean => signal?.aborted === true;
  try {
    while (!isOver()) {
      const query = {
        limit: 1_000,
        ...(cursor !== undefined && { after: cursor }),
        ...(eventKeys !== undefined && { event_key: eventKeys }),
      };
      const page = await listEvents(client, query, { ...(signal && { signal }) }).catch(
        async (error: unknown) => {
          const { oldestCursor } = error as { readonly oldestCursor?: string };
          if (oldestCursor === undefined || onGap === undefined) throw error;
          await onGap(oldestCursor);
          cursor = oldestCursor;
          return undefined;
        },
      );
      if (page === undefined) continue;
      for (const event of page.data) {
        if (isOver()) return;
        await onEvent(event);
      }
      cursor = page.pagination.nextCursor;
      if (!page.pagination.hasMore) await wait(pollMs, signal);
    }
  } catch (error) {
    if (!isOver() || error !== signal?.reason) throw error;
  }
}
