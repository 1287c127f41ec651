/** The one column of a template that a refused or failed message may change: its status. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from './database.ts';
import { row } from './row.ts';

const Changed = row(t.type({ workspace_id: t.number }));

/** The workspace of the template when its status is another now; undefined when it stood so already. */
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
