import type { FieldProblem } from '../../domain/error.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Connection } from '../../records/database/database.ts';
import { findTags } from '../../records/contacts/tags.ts';

/** Names every id that is no tag of the workspace. */
export async function findTagProblems(
  connection: Connection,
  workspaceId: number,
  tagIds: readonly string[],
): Promise<readonly FieldProblem[]> {
  const found = await findTags(connection, workspaceId, tagIds.filter(isUuid));
  return tagIds.flatMap((id, index) => {
    const field = `tagsId.${index}`;
    return found.has(id) ? [] : [{ field, message: `${field} is not a tag of GET /api/tags` }];
  });
}
