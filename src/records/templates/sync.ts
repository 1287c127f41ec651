/** Writes the provider's list of templates, page by page; every page in a transaction of its own. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { type ListedTemplate, vanishedStatus } from '../../domain/templates/sync.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const Now = row(t.type({ now: t.string }));

/** Reads the database's clock, to the microsecond. Every time that a sync writes or compares comes from this clock. */
export async function readSyncClock(connection: Connection): Promise<string> {
  return connection.oneFirst(sql.type(Now)`SELECT clock_timestamp()::text AS now`);
}

/** Locks the account: its syncs write one page at a time. Locks no campaign and no template of another account. */
export async function lockTemplatesOf(connection: Connection, businessAccountId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    SELECT FROM business_account WHERE id = ${businessAccountId} FOR NO KEY UPDATE`);
}

export const SyncedTemplate = t.type({
  id: t.string,
  providerTemplateId: t.string,
  name: t.string,
  language: t.string,
  status: t.string,
  category: t.string,
  rejectedReason: nullable(t.string),
});
export type SyncedTemplate = t.TypeOf<typeof SyncedTemplate>;

export const syncedSelection = sql.fragment`
  template.id, template.provider_template_id AS "providerTemplateId", template.name, template.language,
  template.status, template.category, template.rejected_reason AS "rejectedReason"`;

/** Stored templates of these provider ids, locked until the transaction ends. */
export async function lockSyncedTemplates(
  connection: Connection,
  businessAccountId: string,
  providerTemplateIds: readonly string[],
): Promise<readonly SyncedTemplate[]> {
  return connection.any(sql.type(row(SyncedTemplate))`
    SELECT ${syncedSelection} FROM template
    WHERE business_account_id = ${businessAccountId}
      AND provider_template_id = ANY (${sql.array([...providerTemplateIds], 'text')})
    ORDER BY id
    FOR NO KEY UPDATE`);
}

interface TemplatePage {
  readonly workspaceId: number;
  readonly businessAccountId: string;
  readonly templates: readonly ListedTemplate[];
  /** When the page was asked for, by `readSyncClock`: what changed here since then is newer than the page. */
  readonly readAt: string;
}

/**
 * Writes one page, each provider id once. Rows that match what is stored, or are older than what a callback has reported
 * since, are only marked as seen. Returns the templates that were added or changed, in their new state.
 */
export async function upsertTemplates(
  connection: Connection,
  { workspaceId, businessAccountId, templates, readAt }: TemplatePage,
): Promise<readonly SyncedTemplate[]> {
  const given = sql.fragment`
    jsonb_to_recordset(${sql.jsonb(templates as never)}) AS given (
      "providerTemplateId" text, name text, language text, category text, status text, "parameterFormat" text,
      components jsonb, quality text, "rejectedReason" text, source text, "sendTtlSeconds" int4)`;
  // A page contains every status change from before its request, so an older callback adds nothing.
  const reportedAt = sql.fragment`date_trunc('second', ${readAt}::timestamptz)`;
  await connection.query(sql.type(nothing)`
    UPDATE template SET synced_at = clock_timestamp(), status_reported_at = greatest(status_reported_at, ${reportedAt}),
      category_reported_at = greatest(category_reported_at, ${reportedAt})
    FROM ${given}
    WHERE template.business_account_id = ${businessAccountId}
      AND template.provider_template_id = given."providerTemplateId"`);
  return connection.any(sql.type(row(SyncedTemplate))`
    INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status,
      parameter_format, components, quality, rejected_reason, source, message_send_ttl_seconds, status_reported_at, category_reported_at)
    SELECT ${workspaceId}, ${businessAccountId}, given."providerTemplateId", given.name, given.language,
      coalesce(given.category, known.category, 'UNKNOWN'), given.status, given."parameterFormat", given.components,
      given.quality, given."rejectedReason", given.source, given."sendTtlSeconds", ${reportedAt}, ${reportedAt}
    FROM ${given}
    LEFT JOIN template AS known
      ON known.business_account_id = ${businessAccountId} AND known.provider_template_id = given."providerTemplateId"
    ON CONFLICT (business_account_id, provider_template_id) DO UPDATE SET
      name = excluded.name, language = excluded.language, category = excluded.category, status = excluded.status,
      parameter_format = excluded.parameter_format, components = excluded.components, quality = excluded.quality,
      rejected_reason = excluded.rejected_reason, source = excluded.source, message_send_ttl_seconds = excluded.message_send_ttl_seconds, vanished_at = NULL, updated_at = clock_timestamp()
    WHERE template.updated_at <= ${readAt}::timestamptz
      AND (template.name, template.language, template.category, template.status, template.parameter_format,
        template.components, template.quality, template.rejected_reason, template.source, template.message_send_ttl_seconds, template.vanished_at)
      IS DISTINCT FROM (excluded.name, excluded.language, excluded.category, excluded.status,
        excluded.parameter_format, excluded.components, excluded.quality, excluded.rejected_reason,
        excluded.source, excluded.message_send_ttl_seconds, NULL::timestamptz)
    RETURNING ${syncedSelection}`);
}

/** Templates that a sync begun at `startedAt` has not seen, locked until the transaction ends. */
export async function lockUnseenTemplates(
  connection: Connection,
  { businessAccountId, startedAt }: { readonly businessAccountId: string; readonly startedAt: string },
): Promise<readonly SyncedTemplate[]> {
  return connection.any(sql.type(row(SyncedTemplate))`
    SELECT ${syncedSelection} FROM template
    WHERE business_account_id = ${businessAccountId} AND vanished_at IS NULL
      AND synced_at < ${startedAt}::timestamptz
    ORDER BY id
    FOR NO KEY UPDATE`);
}

/** Returns the templates in their new state. */
export function markVanishedTemplates(connection: Connection, templateIds: readonly string[]) {
  return connection.any(sql.type(row(SyncedTemplate))`
    UPDATE template
    SET vanished_at = clock_timestamp(), status = ${vanishedStatus}, updated_at = clock_timestamp()
    WHERE id = ANY (${sql.array([...templateIds], 'uuid')})
    RETURNING ${syncedSelection}`);
}

// Templates as provider callbacks name them: by business account and the provider's own id.

const NotifiedTemplate = t.type({
  ...SyncedTemplate.props,
  workspaceId: t.number,
  quality: nullable(t.string),
  /** Time of the present status in whole seconds: of the provider's change, or of the sync that read it; null before either. */
  statusReportedAt: nullable(timestamp),
  /** The same of the category. */
  categoryReportedAt: nullable(timestamp),
  /** The category that the provider has announced. */
  upcomingCategory: nullable(t.string),
  upcomingCategoryAt: nullable(timestamp),
});
export type NotifiedTemplate = t.TypeOf<typeof NotifiedTemplate>;

/** Locks the template until the transaction ends; undefined when we do not know it. */
export async function lockNotifiedTemplate(
  connection: Connection,
  {
    businessAccountId,
    providerTemplateId,
  }: { readonly businessAccountId: string; readonly providerTemplateId: string },
): Promise<NotifiedTemplate | undefined> {
  const found = await connection.maybeOne(sql.type(row(NotifiedTemplate))`
    SELECT ${syncedSelection}, workspace_id AS "workspaceId", quality, status_reported_at AS "statusReportedAt",
      category_reported_at AS "categoryReportedAt",
      upcoming_category AS "upcomingCategory", upcoming_category_at AS "upcomingCategoryAt"
    FROM template
    WHERE business_account_id = ${businessAccountId} AND provider_template_id = ${providerTemplateId}
    FOR NO KEY UPDATE`);
  return found ?? undefined;
}

export async function updateNotifiedTemplate(connection: Connection, template: NotifiedTemplate) {
  await connection.query(sql.type(nothing)`
    UPDATE template SET category = ${template.category}, status = ${template.status}, quality = ${template.quality},
      rejected_reason = ${template.rejectedReason}, status_reported_at = ${template.statusReportedAt?.toISOString() ?? null},
      category_reported_at = ${template.categoryReportedAt?.toISOString() ?? null},
      upcoming_category = ${template.upcomingCategory},
      upcoming_category_at = ${template.upcomingCategoryAt?.toISOString() ?? null},
      updated_at = clock_timestamp()
    WHERE id = ${template.id}`);
}
