/** Templates of a workspace, for reading. Sync writes them (`sync.ts`). */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { notFound, NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const Template = t.type({
  id: t.string,
  workspaceId: t.number,
  businessAccountId: t.string,
  providerTemplateId: t.string,
  name: t.string,
  language: t.string,
  category: t.string,
  status: t.string,
  parameterFormat: t.string,
  /** The provider's own, verbatim. */
  components: t.readonlyArray(t.unknown),
  /** GREEN, YELLOW, RED or UNKNOWN; null until the provider reports one. */
  quality: nullable(t.string),
  upcomingCategory: nullable(t.string),
  upcomingCategoryAt: nullable(timestamp),
  rejectedReason: nullable(t.string),
  /** Who made it; null if the provider does not say. */
  source: nullable(t.string),
  /** How long the provider tries to deliver a message; null: the default of the category. */
  sendTtlSeconds: nullable(t.number),
  vanishedAt: nullable(timestamp),
  updatedAt: timestamp,
});
export type Template = t.TypeOf<typeof Template>;

const selection = sql.fragment`
  id, workspace_id AS "workspaceId", business_account_id AS "businessAccountId",
  provider_template_id AS "providerTemplateId", name, language, category, status,
  parameter_format AS "parameterFormat", components, quality, rejected_reason AS "rejectedReason", source, message_send_ttl_seconds AS "sendTtlSeconds",
  NULLIF(upcoming_category, category) AS "upcomingCategory", upcoming_category_at AS "upcomingCategoryAt",
  vanished_at AS "vanishedAt", updated_at AS "updatedAt"`;

/** The template of this workspace, whatever its status; throws NotFound for any other. */
export async function getTemplate(
  connection: Connection,
  workspaceId: number,
  templateId: string,
): Promise<Template> {
  const found = await connection.maybeOne(sql.type(row(Template))`
    SELECT ${selection} FROM template WHERE workspace_id = ${workspaceId} AND id = ${templateId}`);
  return found ?? notFound('Template', 'template_not_found');
}

/** The template when it belongs to the business account of the sending channel (Spec 4.1); else throws NotFound. */
export async function getTemplateOfBusinessAccount(
  connection: Connection,
  workspaceId: number,
  { templateId, businessAccountId }: { readonly templateId: string; readonly businessAccountId: string },
): Promise<Template> {
  const template = await getTemplate(connection, workspaceId, templateId);
  if (template.businessAccountId !== businessAccountId) throw new NotFound('Template', 'template_not_found');
  return template;
}

export interface TemplateFilter {
  /** Templates with one of these statuses, whatever their case; empty: all templates. */
  readonly statuses: readonly string[];
  /** Part of the name, whatever its case and accents; empty: all templates. */
  readonly search: string;
  /** Absent: templates of every category. */
  readonly category?: string | undefined;
  readonly language?: string | undefined;
  /** Default: every business account. */
  readonly businessAccountId?: string | undefined;
}

/** Sorted by name, then by language; without templates that the provider made for itself. */
export function listTemplates(
  connection: Connection,
  workspaceId: number,
  { statuses, search, category, language, businessAccountId, ...page }: TemplateFilter & PageRequest,
): Promise<Page<Template>> {
  const upper = statuses.map((status) => status.toUpperCase());
  return listPage(connection, {
    ...page,
    narrowedBy: 'status, category, language or search',
    isCountedWhole: true,
    codec: Template,
    columns: selection,
    table: sql.fragment`template`,
    conditions: [
      sql.fragment`workspace_id = ${workspaceId}`,
      // The provider's own: nothing can be sent with them.
      sql.fragment`source IS DISTINCT FROM 'AUTO_GENERATED'`,
      ...(businessAccountId === undefined ? [] : [sql.fragment`business_account_id = ${businessAccountId}`]),
      ...(upper.length === 0 ? [] : [sql.fragment`upper(status) = ANY (${sql.array(upper, 'text')})`]),
      ...(category === undefined ? [] : [sql.fragment`upper(category) = ${category.toUpperCase()}`]),
      ...(language === undefined ? [] : [sql.fragment`language = ${language}`]),
      ...(search === '' ? [] : [sql.fragment`strpos(search_text(name), search_text(${search})) > 0`]),
    ],
    order: sql.fragment`name, language, id`,
    size: sql.fragment`octet_length(components::text)`,
  });
}

// Updates templates by what a rejected or failed message shows: a new status, or a definition that differs from ours.

const Changed = row(t.type({ workspace_id: t.number }));

/** Returns the template's workspace if its status changed; undefined if it already had this status. */
export async function setTemplateStatus(
  connection: Connection,
  templateId: string,
  status: string,
): Promise<number | undefined> {
  const changed = await connection.maybeOneFirst(sql.type(Changed)`
    UPDATE template SET status = ${status}, updated_at = now() WHERE id = ${templateId} AND status <> ${status}
    RETURNING workspace_id`);
  return changed ?? undefined;
}

const PausedChannel = row(t.type({ id: t.string }));

/** The provider pauses so many templates of a portfolio within an hour only while it reviews the portfolio. */
const templatesOfReview = 3;

/**
 * Notes that the provider refused messages because these templates are paused. Returns the channels of portfolios that it
 * reviews: so many of their templates were refused within an hour.
 */
export async function notePausedTemplates(
  connection: Connection,
  templateIds: readonly string[],
): Promise<readonly string[]> {
  if (templateIds.length === 0) return [];
  const ids = sql.array([...templateIds], 'uuid');
  const { rowCount } = await connection.query(sql.type(nothing)`
    WITH noted AS MATERIALIZED (
      SELECT id FROM template
      WHERE id = ANY (${ids}) AND (refused_as_paused_at IS NULL OR refused_as_paused_at < now() - interval '5 minutes')
      ORDER BY id FOR NO KEY UPDATE)
    UPDATE template SET refused_as_paused_at = now() FROM noted WHERE template.id = noted.id`);
  if (rowCount === 0) return [];
  return connection.anyFirst(sql.type(PausedChannel)`
    WITH account AS MATERIALIZED (
      SELECT id, coalesce(portfolio_id, id) AS portfolio FROM business_account
      WHERE coalesce(portfolio_id, id) IN (
        SELECT coalesce(portfolio_id, business_account.id) FROM template
        JOIN business_account ON business_account.id = business_account_id WHERE template.id = ANY (${ids}))),
    reviewed AS MATERIALIZED (
      SELECT portfolio FROM account JOIN template ON template.business_account_id = account.id
      WHERE refused_as_paused_at > now() - interval '1 hour'
      GROUP BY portfolio HAVING count(DISTINCT name) >= ${templatesOfReview})
    SELECT channel.id FROM reviewed JOIN account USING (portfolio) JOIN channel ON channel.business_account_id = account.id
    ORDER BY channel.id`);
}

const BusinessAccount = row(t.type({ business_account_id: t.string }));

/** The business accounts these templates belong to, each once. */
export async function listBusinessAccountsOfTemplates(
  connection: Connection,
  templateIds: readonly string[],
): Promise<readonly string[]> {
  if (templateIds.length === 0) return [];
  return connection.anyFirst(sql.type(BusinessAccount)`
    SELECT DISTINCT business_account_id FROM template WHERE id = ANY (${sql.array([...templateIds], 'uuid')})`);
}
