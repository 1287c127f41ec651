/** Templates as provider callbacks name them: by business account and the provider's own id. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { SyncedTemplate, syncedSelection } from './sync.ts';

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
