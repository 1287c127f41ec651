/** Templates as provider callbacks name them: by business account and the provider's own id. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const NotifiedTemplate = t.type({
  id: t.string,
  workspaceId: t.number,
  providerTemplateId: t.string,
  name: t.string,
  language: t.string,
  category: t.string,
  status: t.string,
  quality: nullable(t.string),
  rejectedReason: nullable(t.string),
  /** To the second: when the provider changed the status, or was asked for it by a sync; null before either. */
  statusToldAt: nullable(timestamp),
  /** What the provider has announced, and for when. */
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
    SELECT id, workspace_id AS "workspaceId", provider_template_id AS "providerTemplateId", name, language, category,
      status, quality, rejected_reason AS "rejectedReason", status_told_at AS "statusToldAt",
      upcoming_category AS "upcomingCategory", upcoming_category_at AS "upcomingCategoryAt"
    FROM template
    WHERE business_account_id = ${businessAccountId} AND provider_template_id = ${providerTemplateId}
    FOR NO KEY UPDATE`);
  return found ?? undefined;
}

export async function updateNotifiedTemplate(connection: Connection, template: NotifiedTemplate) {
  await connection.query(sql.type(nothing)`
    UPDATE template SET category = ${template.category}, status = ${template.status}, quality = ${template.quality},
      rejected_reason = ${template.rejectedReason}, status_told_at = ${template.statusToldAt?.toISOString() ?? null},
      upcoming_category = ${template.upcomingCategory},
      upcoming_category_at = ${template.upcomingCategoryAt?.toISOString() ?? null},
      updated_at = clock_timestamp()
    WHERE id = ${template.id}`);
}
