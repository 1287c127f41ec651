/** The one column of a template that sending itself may change: its status, when a refusal told of it. */
import { sql } from 'slonik';
import type { Connection } from './database.ts';
import { nothing } from './row.ts';

export async function setTemplateStatus(
  connection: Connection,
  templateId: string,
  status: string,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE template SET status = ${status}, updated_at = now() WHERE id = ${templateId} AND status <> ${status}`);
}
