/** What a new campaign refers to and the workspace must have. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';

const Reference = row(t.type({ id: t.string }));

/** Which of these segments the workspace does not have. */
export async function findMissingSegments(
  connection: Connection,
  workspaceId: number,
  segmentIds: readonly string[],
): Promise<readonly string[]> {
  const found = await connection.any(sql.type(Reference)`
    SELECT id FROM segment WHERE workspace_id = ${workspaceId} AND id = ANY (${sql.array(segmentIds, 'uuid')})`);
  const known = new Set(found.map(({ id }) => id));
  return segmentIds.filter((id) => !known.has(id.toLowerCase()));
}
