/** Updates templates by what a rejected or failed message shows: a new status, or a definition that differs from ours. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';

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
