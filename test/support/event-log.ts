/** The events of a workspace, checked by the codec of their key. */
import { isRight } from 'fp-ts/lib/Either.js';
import { eventEnvelope } from '../../src/codecs/event.ts';
import { eventKeys, type EventKey } from '../../src/domain/webhooks/event-key.ts';
import type { TestDatabase } from './database.ts';
import { makeConfiguration, query } from './webhook-fixtures.ts';

export interface StoredEvent {
  readonly eventKey: EventKey;
  readonly workspaceId: number;
  readonly timestamp: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into data whose shape they assert
  readonly data: any;
}

/** Events are written only where a configuration subscribes to them. */
export async function subscribeToEverything(database: TestDatabase, workspaceId: number): Promise<void> {
  await makeConfiguration(database.pool, workspaceId, { events: [...eventKeys] });
}

/** In the order they were written. */
export async function listEvents(
  database: TestDatabase,
  workspaceId: number,
): Promise<readonly StoredEvent[]> {
  const rows = await query<{ body: string }>(
    database,
    'SELECT body FROM event WHERE workspace_id = $1 ORDER BY id',
    [workspaceId],
  );
  return rows.map(({ body }) => {
    const event = JSON.parse(body) as StoredEvent;
    if (!isRight(eventEnvelope(event.eventKey).decode(event)))
      throw new Error(`Not in the contract: ${body}`);
    return event;
  });
}
