import type { Dependencies } from '../../dependencies.ts';
import type { SecretRow } from '../../secrets.ts';
import {
  listStoredSecrets,
  replaceStoredSecret,
  secretPlaces,
  type SecretPlace,
} from '../../records/workspaces/stored-secrets.ts';

const pageSize = 500;

/**
 * Re-encrypts every secret that is encrypted under an older key, so that `SECRETS_KEY_PREVIOUS` can be dropped afterwards. Stops with an error at a secret whose key is not configured; running it again continues.
 */
export async function rotateSecrets({
  database,
  secrets,
}: Pick<Dependencies, 'database' | 'secrets'>): Promise<{ readonly rotated: number }> {
  let rotated = 0;
  for (const place of secretPlaces) rotated += await rotatePlace({ database, secrets }, place);
  return { rotated };
}

async function rotatePlace(
  { database, secrets }: Pick<Dependencies, 'database' | 'secrets'>,
  place: SecretPlace,
): Promise<number> {
  let rotated = 0;
  let afterId = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await listStoredSecrets(database, { place, afterId, limit: pageSize });
    for (const before of page.filter(({ encrypted }) => secrets.isStale(encrypted))) {
      const owner = before.row as SecretRow;
      const after = secrets.encrypt(secrets.decrypt(before.encrypted, owner), owner);
      if (await replaceStoredSecret(database, { place, before, after })) rotated += 1;
    }
    const last = page.at(-1);
    if (last === undefined) return rotated;
    afterId = last.id;
  }
}
