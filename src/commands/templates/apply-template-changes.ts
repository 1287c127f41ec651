import type { Dependencies } from '../../dependencies.ts';
import type { NewEvent } from '../../domain/webhooks/new-event.ts';
import { isSendable } from '../../domain/templates/definition.ts';
import { templateEvent } from '../../domain/templates/event.ts';
import { templateChanged } from '../../domain/operations/notice.ts';
import type { Connection } from '../../records/database/database.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import { lockTemplatesOf, type SyncedTemplate } from '../../records/templates/sync.ts';
import { deliverWorkflowOutboxes } from '../campaigns/deliver-workflow-outbox.ts';
import { pauseCampaignsOfTemplate } from '../campaigns/pause-campaigns.ts';

interface TemplateWrite {
  /** The templates that existed, as they were. */
  readonly before: readonly SyncedTemplate[];
  /** Templates that were added or changed, as they are now. */
  readonly after: readonly SyncedTemplate[];
}

/**
 * Writes templates of one business account in a transaction, together with what follows from it: `template` events for
 * changed states and categories, and the pause of the campaigns whose template may not be sent any more.
 */
export async function applyTemplateChanges(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'now'>,
  account: { readonly workspaceId: number; readonly businessAccountId: string },
  write: (connection: Connection) => Promise<TemplateWrite>,
): Promise<{ readonly added: number; readonly changed: number }> {
  const { changes, added, paused } = await dependencies.database.transaction(async (connection) => {
    await lockTemplatesOf(connection, account.businessAccountId);
    const { before, after } = await write(connection);
    const known = new Map(before.map((template) => [template.id, template]));
    const found = after.flatMap((now) => {
      const was = known.get(now.id);
      return was === undefined ? [] : [{ was, now }];
    });
    const occurredAt = dependencies.now();
    const events = found.flatMap((change) => changeEvents(change, occurredAt));
    await emitEvents(connection, account.workspaceId, events);
    await insertNotices(
      connection,
      found.flatMap(({ was, now }) => templateChanged(account.workspaceId, was, now, now.rejectedReason)),
    );
    const campaigns: string[] = [];
    for (const { was, now } of found) {
      if (!isSendable(was.status) || isSendable(now.status)) continue;
      campaigns.push(...(await pauseCampaignsOfTemplate(dependencies, connection, now.id)));
    }
    return { changes: found.length, added: after.length - found.length, paused: campaigns };
  });
  await deliverWorkflowOutboxes(dependencies, paused);
  return { added, changed: changes };
}

interface Change {
  readonly was: SyncedTemplate;
  readonly now: SyncedTemplate;
}

function changeEvents({ was, now }: Change, occurredAt: Date): readonly NewEvent[] {
  const events: NewEvent[] = [];
  if (was.status !== now.status) {
    events.push(templateEvent(now, { type: 'STATUS', reason: now.rejectedReason, occurredAt }));
  }
  if (was.category !== now.category) {
    events.push(templateEvent(now, { type: 'CATEGORY', reason: null, occurredAt }));
  }
  return events;
}
