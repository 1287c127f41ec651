/** The health of a webhook's receiver, kept by the outcomes of its deliveries, and what follows from it. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { notFound } from '../../domain/error.ts';
import { webhookDisabled } from '../../domain/operations/notice.ts';
import {
  disabledAfterFailures,
  waitingCountLimit,
  webhookHealths,
} from '../../domain/webhooks/configuration.ts';
import type { Connection, Database } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { insertAuditEntry } from '../operations/audit.ts';
import { insertNotices } from '../operations/notices.ts';
import { ofWebhook, waits } from './waiting.ts';

/** One of `webhookHealths`, of a row of webhook_configuration. */
export const healthOfRow = sql.fragment`
  CASE WHEN status = 'disabled' THEN 'disabled'
    WHEN recent_outcomes NOT LIKE '%F%' THEN 'healthy'
    WHEN recent_outcomes LIKE '%S%' THEN 'degraded'
    ELSE 'failing' END`;

const WebhookHealth = t.type({
  webhookId: t.string,
  health: oneOf(webhookHealths),
  failingSince: nullable(timestamp),
  consecutiveFailures: t.number,
  waiting: t.number,
});
export type WebhookHealth = t.TypeOf<typeof WebhookHealth>;

export async function getWebhookHealth(
  connection: Connection,
  workspaceId: number,
  id: string,
): Promise<WebhookHealth> {
  const found = await connection.maybeOne(sql.type(row(WebhookHealth))`
    SELECT id AS "webhookId", ${healthOfRow} AS health,
      failing_since AS "failingSince", consecutive_failures AS "consecutiveFailures",
      (SELECT count(*)::int4 FROM (
        SELECT FROM webhook_delivery
        WHERE ${ofWebhook(sql.fragment`webhook_configuration.id`)} AND ${waits(undefined)}
        LIMIT ${waitingCountLimit}) AS earliest) AS waiting
    FROM webhook_configuration WHERE workspace_id = ${workspaceId} AND id = ${id}`);
  return found ?? notFound('Webhook');
}

const ImpairedCount = t.type({ health: oneOf(webhookHealths), count: t.number });

/** Counts the webhooks of all workspaces that are not healthy, by health; inactive ones are left out. */
export const countImpairedWebhooks = (connection: Connection) =>
  connection.any(sql.type(row(ImpairedCount))`
    SELECT ${healthOfRow} AS health, count(*)::int4 AS count FROM webhook_configuration
    WHERE (status = 'disabled' OR recent_outcomes LIKE '%F%') AND status <> 'inactive' GROUP BY 1`);

const FailingWebhook = t.type({
  id: t.string,
  workspace_id: t.number,
  failing_since: timestamp,
  consecutive_failures: t.number,
});

/** Lists the webhooks of all workspaces that only fail and are not disabled yet, at most 1,000, the longest failing first. */
export const listFailingWebhooks = (connection: Connection) =>
  connection.any(sql.type(row(FailingWebhook))`
    SELECT id, workspace_id, failing_since, consecutive_failures FROM webhook_configuration
    WHERE status = 'active' AND failing_since IS NOT NULL AND consecutive_failures >= ${disabledAfterFailures}
    ORDER BY failing_since LIMIT 1000`);

const DisabledWebhook = t.type({ id: t.string, workspaceId: t.number, title: t.string });
export type DisabledWebhook = t.TypeOf<typeof DisabledWebhook>;

/**
 * Disables the webhooks whose attempts of the last `hours` hours all failed, at least ten of them. An audit entry and a notice
 * are written with each. Their waiting deliveries end in `endInactiveDeliveries`.
 */
export function disableFailingWebhooks(
  database: Database,
  hours: number,
): Promise<readonly DisabledWebhook[]> {
  return database.transaction(async (transaction) => {
    const disabled = await transaction.any(sql.type(row(DisabledWebhook))`
      UPDATE webhook_configuration SET status = 'disabled', disabled_reason = 'failing', updated_at = now()
      WHERE status = 'active' AND failing_since IS NOT NULL
        AND last_failed_at - failing_since >= make_interval(secs => ${hours * 3600})
        AND consecutive_failures >= ${disabledAfterFailures}
      RETURNING id, workspace_id AS "workspaceId", title`);
    for (const { id, workspaceId } of disabled)
      await insertAuditEntry(transaction, { workspaceId, action: 'webhook.disable', objectId: id });
    const why = `Every delivery failed for ${hours} hours. Repair its receiver, then set the status to active.`;
    await insertNotices(
      transaction,
      disabled.map((webhook) => webhookDisabled(webhook, why)),
    );
    return disabled;
  });
}
