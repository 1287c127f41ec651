import type { Dependencies } from '../../dependencies.ts';
import { pepperId } from '../../domain/workspaces/api-key.ts';
import { listKeysUnderOtherPeppers, type StaleKey } from '../../records/workspaces/api-keys.ts';

/**
 * Lists the keys that the current pepper does not verify. `known`: a configured former pepper still does; any other key has
 * stopped working.
 */
export async function listStaleKeys({
  database,
  config,
}: Pick<Dependencies, 'database'> & {
  readonly config: Pick<Dependencies['config'], 'keyPeppers'>;
}): Promise<{ readonly stale: number; readonly keys: readonly (StaleKey & { readonly known: boolean })[] }> {
  const [current = '', ...former] = config.keyPeppers.map(pepperId);
  const keys = await listKeysUnderOtherPeppers(database, current);
  return { stale: keys.length, keys: keys.map((key) => ({ ...key, known: former.includes(key.pepperId) })) };
}
