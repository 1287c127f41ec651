import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { insertWorkspace } from '../../records/workspaces/workspaces.ts';

/** Creates a workspace with every feature on and unlimited broadcasts. */
export async function createWorkspace(
  { database }: Pick<Dependencies, 'database'>,
  { name }: { readonly name: string },
): Promise<{ readonly workspaceId: number }> {
  const length = [...name].length;
  if (name.trim() === '' || length > 255) throw Invalid.at('name', 'name must have 1 to 255 characters');
  return { workspaceId: await insertWorkspace(database, name) };
}
