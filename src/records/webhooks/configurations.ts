/** Webhook configurations and the health of their receivers. Secrets are encrypted (`SecretBox`) in parameters; results only say whether there is one. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { Invalid, notFound, NotFound } from '../../domain/error.ts';
import { type EventKey, eventKeys } from '../../domain/webhooks/event-key.ts';
import {
  type ChosenWebhookStatus,
  disabledAfterFailures,
  maxConfigurations,
  waitingCountLimit,
  webhookDisabledReasons,
  webhookHealths,
  webhookStatuses,
} from '../../domain/webhooks/delivery.ts';
import { insertAuditEntry } from '../operations/audit.ts';
import type { Connection, Database, Transaction } from '../database/database.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { bytes, nothing, nullable, row, timestamp } from '../database/row.ts';
import { webhookDisabled } from '../../domain/operations/notice.ts';
import { insertNotices } from '../operations/notices.ts';
import { ofWebhook, waits } from './delivery-scheduler.ts';

const WebhookConfiguration = t.type({
  id: t.string,
  title: t.string,
  url: t.string,
  status: oneOf(webhookStatuses),
  disabled_reason: nullable(oneOf(webhookDisabledReasons)),
  health: oneOf(webhookHealths),
  recentAttempts: t.number,
  events: t.readonlyArray(oneOf(eventKeys)),
  hasSecret: t.boolean,
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type WebhookConfiguration = t.TypeOf<typeof WebhookConfiguration>;

/** One of `webhookHealths`, of a row of webhook_configuration. */
export const healthOfRow = sql.fragment`
  CASE WHEN status = 'disabled' THEN 'disabled'
    WHEN recent_outcomes NOT LIKE '%F%' THEN 'healthy'
    WHEN recent_outcomes LIKE '%S%' THEN 'degraded'
    ELSE 'failing' END`;

const selection = sql.fragment`
  id, title, url, status, disabled_reason, ${healthOfRow} AS health, length(recent_outcomes) AS "recentAttempts", events,
  secret_encrypted IS NOT NULL AS "hasSecret", created_at AS "createdAt", updated_at AS "updatedAt"`;

const Total = row(t.type({ total: t.number }));

export interface NewWebhookConfiguration {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly status: ChosenWebhookStatus;
  readonly events: readonly EventKey[];
  readonly secretEncrypted: Buffer | null;
}

/** Throws Invalid when the workspace has as many as it may have. */
export async function insertWebhookConfiguration(
  transaction: Transaction,
  workspaceId: number,
  configuration: NewWebhookConfiguration,
): Promise<WebhookConfiguration> {
  // Locks the workspace: two concurrent creations must not both fit under the limit.
  await transaction.query(sql.type(nothing)`
    SELECT FROM workspace WHERE id = ${workspaceId} FOR NO KEY UPDATE`);
  const count = await transaction.oneFirst(sql.type(Total)`
    SELECT count(*)::int4 AS total FROM webhook_configuration WHERE workspace_id = ${workspaceId}`);
  if (count >= maxConfigurations) {
    throw new Invalid(`A workspace has at most ${maxConfigurations} webhooks: delete one`);
  }
  const created = await transaction.one(sql.type(row(WebhookConfiguration))`
    INSERT INTO webhook_configuration (id, workspace_id, title, url, status, events, secret_encrypted)
    VALUES (${configuration.id}, ${workspaceId}, ${configuration.title}, ${configuration.url},
      ${configuration.status}, ${sql.array([...configuration.events], 'text')}, ${binaryOrNull(configuration.secretEncrypted)})
    RETURNING ${selection}`);
  await insertAuditEntry(transaction, { workspaceId, action: 'webhook.create', objectId: created.id });
  return created;
}

const binaryOrNull = (value: Buffer | null) => (value === null ? null : sql.binary(value));

/** Oldest first. */
export function listWebhookConfigurations(
  connection: Connection,
  workspaceId: number,
  page: PageRequest,
): Promise<Page<WebhookConfiguration>> {
  return listPage(connection, {
    ...page,
    narrowedBy: 'nothing: it is short',
    isCountedWhole: true,
    codec: WebhookConfiguration,
    columns: selection,
    table: sql.fragment`webhook_configuration`,
    conditions: [sql.fragment`workspace_id = ${workspaceId}`],
    order: sql.fragment`created_at, id`,
  });
}

export async function getWebhookConfiguration(
  connection: Connection,
  workspaceId: number,
  id: string,
): Promise<WebhookConfiguration> {
  const found = await connection.maybeOne(sql.type(row(WebhookConfiguration))`
    SELECT ${selection} FROM webhook_configuration WHERE workspace_id = ${workspaceId} AND id = ${id}`);
  return found ?? notFound('Webhook');
}

interface NewSecret {
  readonly encrypted: Buffer;
  readonly isStoredAs: (encrypted: Buffer) => boolean;
}

/** Absent fields stay as they are. A null secret removes it; a new one leaves the old one signing for a day. */
export interface WebhookConfigurationChange {
  readonly url?: string | undefined;
  readonly status?: ChosenWebhookStatus | undefined;
  readonly events?: readonly EventKey[] | undefined;
  readonly secret?: NewSecret | null | undefined;
}

const StoredSecret = row(t.type({ encrypted: nullable(bytes) }));

/** Undefined for the secret that the row has: a repeated request must not replace the previous one by it. */
async function findChangedSecret(
  transaction: Transaction,
  workspaceId: number,
  { id, secret }: { readonly id: string; readonly secret: NewSecret | null | undefined },
): Promise<Buffer | null | undefined> {
  if (secret === undefined || secret === null) return secret;
  const stored = await transaction.maybeOne(sql.type(StoredSecret)`
    SELECT secret_encrypted AS encrypted FROM webhook_configuration
    WHERE workspace_id = ${workspaceId} AND id = ${id} FOR NO KEY UPDATE`);
  const isStored = stored !== null && stored.encrypted !== null && secret.isStoredAs(stored.encrypted);
  return isStored ? undefined : secret.encrypted;
}

function secretAssignments(secretEncrypted: Buffer | null | undefined) {
  if (secretEncrypted === undefined) return sql.fragment``;
  if (secretEncrypted === null) {
    return sql.fragment`,
      secret_encrypted = NULL, previous_secret_encrypted = NULL, previous_secret_expires_at = NULL`;
  }
  return sql.fragment`,
    secret_encrypted = ${sql.binary(secretEncrypted)},
    previous_secret_encrypted = secret_encrypted,
    previous_secret_expires_at = CASE WHEN secret_encrypted IS NOT NULL THEN now() + interval '24 hours' END`;
}

export async function updateWebhookConfiguration(
  database: Database,
  workspaceId: number,
  id: string,
  change: WebhookConfigurationChange,
): Promise<WebhookConfiguration> {
  const events = change.events === undefined ? null : sql.array([...change.events], 'text');
  const [url, status] = [change.url ?? null, change.status ?? null];
  // Resets the health for a new address, or when the webhook is enabled again.
  const isFresh = sql.fragment`(url <> COALESCE(${url}, url) OR (status = 'disabled' AND ${status}::text IS NOT NULL))`;
  return database.transaction(async (transaction) => {
    const secretEncrypted = await findChangedSecret(transaction, workspaceId, { id, secret: change.secret });
    const updated = await transaction.maybeOne(sql.type(row(WebhookConfiguration))`
    UPDATE webhook_configuration SET
      url = COALESCE(${url}, url),
      status = COALESCE(${status}, status),
      disabled_reason = CASE WHEN ${status}::text IS NULL THEN disabled_reason END,
      proven_at = CASE WHEN NOT ${isFresh} THEN proven_at END,
      failing_since = CASE WHEN NOT ${isFresh} THEN failing_since END,
      last_failed_at = CASE WHEN NOT ${isFresh} THEN last_failed_at END,
      recent_outcomes = CASE WHEN ${isFresh} THEN '' ELSE recent_outcomes END,
      consecutive_failures = CASE WHEN ${isFresh} THEN 0 ELSE consecutive_failures END,
      consecutive_timeouts = CASE WHEN ${isFresh} THEN 0 ELSE consecutive_timeouts END,
      events = COALESCE(${events}, events),
      updated_at = now()${secretAssignments(secretEncrypted)}
    WHERE workspace_id = ${workspaceId} AND id = ${id}
    RETURNING ${selection}`);
    if (updated === null) throw new NotFound('Webhook');
    // Without the address, which may hold a secret.
    const details = {
      ...(status !== null && { status }),
      ...(change.events !== undefined && { events: change.events.join(', ') }),
    };
    await insertAuditEntry(transaction, { workspaceId, action: 'webhook.update', objectId: id, details });
    return updated;
  });
}

/** Waiting deliveries, up to millions, end as `endpoint_inactive` afterwards, in batches (`endInactiveDeliveries`). */
export async function deleteWebhookConfiguration(
  database: Database,
  workspaceId: number,
  id: string,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const name = await transaction.maybeOneFirst(sql.type(row(t.type({ title: t.string })))`
      DELETE FROM webhook_configuration WHERE workspace_id = ${workspaceId} AND id = ${id} RETURNING title`);
    if (name === null) throw new NotFound('Webhook');
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'webhook.delete',
      objectId: id,
      details: { name },
    });
  });
}

// The health of a webhook's receiver, kept by the outcomes of its deliveries, and what follows from it.

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
