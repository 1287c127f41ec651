import type { Dependencies } from '../../dependencies.ts';
import { auditInstallation } from '../../records/operations/installation.ts';
import type { SecretRow } from '../../secrets.ts';
import {
  listStoredSecrets,
  replaceStoredSecret,
  secretColumns,
  type SecretColumn,
} from '../../records/workspaces/stored-secrets.ts';

const batchSize = 500;

/**
 * Re-encrypts every secret that is encrypted under an older key, so that `SECRETS_KEY_PREVIOUS` can be dropped afterwards. Stops
 * with an error at a secret whose key is not configured; running it again continues.
 */
export async function rotateSecrets({
  database,
  secrets,
}: Pick<Dependencies, 'database' | 'secrets'>): Promise<{ readonly rotated: number }> {
  let rotated = 0;
  for (const secret of secretColumns) rotated += await rotateColumn({ database, secrets }, secret);
  if (rotated > 0) await auditInstallation(database, 'installation.rotate-secrets');
  return { rotated };
}

async function rotateColumn(
  { database, secrets }: Pick<Dependencies, 'database' | 'secrets'>,
  secret: SecretColumn,
): Promise<number> {
  let rotated = 0;
  let afterId = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const batch = await listStoredSecrets(database, { secret, afterId, limit: batchSize });
    for (const before of batch.filter(({ encrypted }) => secrets.isStale(encrypted))) {
      const owner = before.row as SecretRow;
      const after = secrets.encrypt(secrets.decrypt(before.encrypted, owner), owner);
      if (await replaceStoredSecret(database, { secret, before, after })) rotated += 1;
    }
    const last = batch.at(-1);
    if (last === undefined) return rotated;
    afterId = last.id;
  }
}
