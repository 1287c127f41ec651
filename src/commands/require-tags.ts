import { Invalid } from '../domain/error.ts';
import type { Transaction } from '../records/database.ts';
import { lockTags } from '../records/tags.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Throws Invalid naming every id that is no tag of the workspace. The tags stay until the transaction ends. */
export async function requireTags(
  transaction: Transaction,
  workspaceId: number,
  tagIds: readonly string[],
): Promise<void> {
  const found = await lockTags(
    transaction,
    workspaceId,
    tagIds.filter((id) => uuid.test(id)),
  );
  const problems = tagIds.flatMap((id, index) =>
    found.has(id)
      ? []
      : [{ field: `tagsId.${index}`, message: `tagsId.${index} is not a tag of the workspace` }],
  );
  if (problems.length > 0) throw Invalid.of(problems);
}
