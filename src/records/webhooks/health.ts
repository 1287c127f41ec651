/** How the receiver of a webhook configuration is doing: kept by the outcomes of its deliveries. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { notFound } from '../../domain/error.ts';
import { waitingCountLimit, webhookHealths } from '../../domain/webhooks/configuration.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { ofWebhook, waits } from './waiting.ts';

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
    SELECT id AS "webhookId",
      CASE WHEN failing_since IS NOT NULL THEN 'failing' WHEN proven_at IS NOT NULL THEN 'healthy' ELSE 'unknown' END AS health,
      failing_since AS "failingSince", consecutive_failures AS "consecutiveFailures",
      (SELECT count(*)::int4 FROM (
        SELECT FROM webhook_delivery
        WHERE ${ofWebhook(sql.fragment`webhook_configuration.id`)} AND ${waits(undefined)}
        LIMIT ${waitingCountLimit}) AS earliest) AS waiting
    FROM webhook_configuration WHERE workspace_id = ${workspaceId} AND id = ${id}`);
  return found ?? notFound('Webhook');
}
