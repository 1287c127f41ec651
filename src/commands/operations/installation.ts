/**
 * Checks which installation this database belongs to, and whether a process's settings fit it. A copy of the database must not
 * send, or every message would leave a second time.
 */
import { join } from 'node:path';
import { cacheFor } from '../../concurrency/cache-for.ts';
import type { Config } from '../../config.ts';
import { pepperId } from '../../domain/workspaces/api-key.ts';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { Database } from '../../records/database/database.ts';
import {
  adoptInstallation,
  auditInstallation,
  bindFiles,
  bindInstallation,
  listPeppersInUse,
  readInstallation,
  type Installation,
  type Namespace,
} from '../../records/operations/installation.ts';
import { listSecretSamples, secretColumns } from '../../records/workspaces/stored-secrets.ts';
import type { SecretBox, SecretRow } from '../../secrets.ts';
import { readFolderId } from '../../storage/folder-storage.ts';
import { searchAttributeNames } from '../../workflows/contract.ts';

interface Places {
  readonly database: Database;
  readonly orchestrator: Orchestrator;
}

/** A class of its own, because logs name the class of an error. */
class ForeignDatabase extends Error {
  override name = 'ForeignDatabase';
}

/** Explains why the database and the namespace belong to different installations; undefined if they do not, or not yet. */
export async function findForeign(
  { database }: Pick<Places, 'database'>,
  namespace: Namespace,
): Promise<string | undefined> {
  return describeForeign(await readInstallation(database), namespace);
}

/** `findForeign` for a process that will send: the first such process records where the database belongs. */
export async function claimDatabase(
  { database }: Pick<Places, 'database'>,
  namespace: Namespace,
): Promise<string | undefined> {
  const found = await readInstallation(database);
  if (found.namespaceId !== null || namespace.id === '') return describeForeign(found, namespace);
  await bindInstallation(database, namespace);
  return findForeign({ database }, namespace);
}

const way =
  'a copy must not send; after a move, or when Temporal was lost, run adopt-database (docs/operations/restore.md)';

function describeForeign(found: Installation, { id, name }: Namespace): string | undefined {
  // A server that does not reveal the id of a namespace cannot be told apart from another one.
  if (found.namespaceId !== null && id !== '' && found.namespaceId !== id)
    return `this database belongs to the Temporal namespace ${found.namespace} (${found.namespaceId}), and this process uses ${name} (${id}): ${way}`;
  if (found.postgresId !== null && found.postgresId !== found.presentPostgresId)
    return `this database is a copy of the one that uses the Temporal namespace ${name}: ${way}`;
  return undefined;
}

/** Wraps a process's orchestrator so that it starts and signals nothing if the database belongs to another installation. */
export function guardOrchestrator(orchestrator: Orchestrator, database: Database): Orchestrator {
  const find = cacheFor(1_000, async () => claimDatabase({ database }, await orchestrator.namespace()));
  const guarded =
    <A extends readonly unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const foreign = await find();
      if (foreign !== undefined) throw new ForeignDatabase(foreign);
      return call(...given);
    };
  return {
    ...orchestrator,
    startCampaign: guarded(orchestrator.startCampaign),
    refreshCampaign: guarded(orchestrator.refreshCampaign),
    scheduleTemplateSync: guarded(orchestrator.scheduleTemplateSync),
    startTemplateSync: guarded(orchestrator.startTemplateSync),
    startContactImport: guarded(orchestrator.startContactImport),
    scheduleRetention: guarded(orchestrator.scheduleRetention),
    schedulePriceComparison: guarded(orchestrator.schedulePriceComparison),
  };
}

/** Binds this database to the Temporal namespace and the Postgres server in the settings. */
export async function adoptDatabase({ database, orchestrator }: Places) {
  const [before, namespace] = await Promise.all([readInstallation(database), orchestrator.namespace()]);
  const after = await database.transaction(async (transaction) => {
    await adoptInstallation(transaction, namespace);
    await auditInstallation(transaction, 'installation.adopt');
    return readInstallation(transaction);
  });
  return { before: shown(before), after: shown(after) };
}

const shown = ({ namespace, namespaceId, postgresId }: Installation) => ({
  temporalNamespace: namespace,
  temporalNamespaceId: namespaceId,
  postgres: postgresId,
});

interface Checked {
  readonly database: Database;
  readonly config: Pick<Config, 'storage' | 'dataDir' | 'keyPeppers'>;
  readonly secrets: SecretBox;
}

/** Returns one sentence for each setting that does not fit the database's content. */
export async function findWrongSettings({ database, config, secrets }: Checked): Promise<readonly string[]> {
  const found = await Promise.all([
    findWrongSecretsKey(database, secrets),
    findWrongPepper(database, config.keyPeppers),
    findWrongFolder(database, config),
  ]);
  return found.filter((one) => one !== undefined);
}

/** Decrypts one secret of each column under each key. */
export async function findWrongSecretsKey(
  database: Database,
  secrets: SecretBox,
): Promise<string | undefined> {
  for (const column of secretColumns)
    for (const { row, encrypted } of await listSecretSamples(database, column)) {
      try {
        secrets.decrypt(encrypted, row as SecretRow);
      } catch {
        return 'SECRETS_KEY and SECRETS_KEY_PREVIOUS do not decrypt every secret of this database: one of them lacks the key that a secret was encrypted under';
      }
    }
  return undefined;
}

export async function findWrongPepper(
  database: Database,
  keyPeppers: readonly string[],
): Promise<string | undefined> {
  const used = await listPeppersInUse(database);
  const known = keyPeppers.map(pepperId);
  if (used.length === 0 || used.some((id) => known.includes(id))) return undefined;
  return 'no API key of this database was made under KEY_PEPPER or KEY_PEPPER_PREVIOUS: every request with a key is refused';
}

async function findWrongFolder(
  database: Database,
  { storage, dataDir }: Pick<Config, 'storage' | 'dataDir'>,
): Promise<string | undefined> {
  if (storage.kind !== 'folder') return undefined;
  const { filesId: known } = await readInstallation(database);
  const present = await readFolderId(join(dataDir, 'files'), { create: known === null });
  if (known === null && present !== undefined) {
    await bindFiles(database, present);
    return findWrongFolder(database, { storage, dataDir });
  }
  if (known === null || present === known) return undefined;
  return 'DATA_DIR is not the folder that the other processes of this installation use: API and workers share one folder of files, or a bucket (S3_BUCKET)';
}

// PERMISSION_DENIED and UNIMPLEMENTED: a managed Temporal may refuse to say.
const untold: readonly unknown[] = [7, 12];

/** Returns the search attributes missing in the namespace of campaigns; without them Temporal refuses to start a workflow. */
export async function findMissingAttributes({ client }: Pick<Orchestrator, 'client'>, timeoutMs: number) {
  const { namespace } = client.options;
  const { connection } = client;
  try {
    const { customAttributes } = await connection.withDeadline(Date.now() + timeoutMs, () =>
      connection.operatorService.listSearchAttributes({ namespace }),
    );
    const missing = Object.values(searchAttributeNames).filter((name) => !(name in (customAttributes ?? {})));
    return missing.length === 0
      ? []
      : [
          `the Temporal namespace ${namespace} lacks the search attributes ${missing.join(', ')}: run ops/temporal/set-up-namespace.sh, or correct TEMPORAL_NAMESPACE`,
        ];
  } catch (error) {
    if (untold.includes((error as { readonly code?: unknown }).code)) return [];
    throw error;
  }
}
