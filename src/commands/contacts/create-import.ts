/** Creates imports of contacts, starts their workflows and cancels them. */
import type { Dependencies } from '../../dependencies.ts';
import { completeConsent } from '../../domain/audience/consent-column.ts';
import {
  importColumnProblems,
  tagReader,
  type ImportMapping,
  type ImportMode,
} from '../../domain/contacts/import.ts';
import { type FieldProblem, Invalid, NotFound } from '../../domain/error.ts';
import { isUuid } from '../../domain/uuid.ts';
import { errorName, startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import { findCampaignFile } from '../../records/campaigns/files.ts';
import {
  cancelImport as cancelRecord,
  type ContactImport,
  getImport,
  insertImport,
  takeImportsToStart,
} from '../../records/contacts/imports.ts';
import { findTags } from '../../records/contacts/tags.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { getWorkspaceCountry } from '../../records/workspaces/workspaces.ts';
import { guessMapping } from '../campaigns/preview-csv.ts';

export interface ImportRequest {
  readonly fileKey: string;
  /** Guessed if undefined. */
  readonly mapping: ImportMapping | undefined;
  readonly mode: ImportMode;
  readonly defaultCountry: string | null;
  readonly dryRun: boolean;
}

interface Caller {
  readonly workspaceId: number;
  readonly keyId: string;
}

type Creator = Pick<Dependencies, 'database' | 'storage' | 'orchestrator' | 'logger' | 'now' | 'secrets'>;

/** Throws NotFound for an unknown file, Invalid if it lacks columns of the mapping, Conflict if too many imports are open. */
export async function createImport(
  dependencies: Creator,
  { workspaceId, keyId }: Caller,
  request: ImportRequest,
): Promise<ContactImport> {
  const { database } = dependencies;
  const { fileKey, mode, dryRun } = request;
  const file = await findCampaignFile(database, workspaceId, fileKey);
  if (file === undefined) throw new NotFound('Campaign file');
  const defaultCountry =
    request.mapping?.default_country ??
    request.defaultCountry ??
    (await getWorkspaceCountry(database, workspaceId));
  const given = request.mapping ?? (await guessMapping(dependencies, file, defaultCountry ?? ''));
  const mapping =
    given.consent == null ? given : { ...given, consent: completeConsent(given.consent, file.headers) };
  const problems = [
    ...importColumnProblems(mapping, file.headers.length),
    ...consentProblems(mapping),
    ...(await tagProblems(dependencies, workspaceId, mapping)),
  ];
  if (problems.length > 0) throw Invalid.of(problems);
  const created = await database.transaction(async (transaction) => {
    const inserted = await insertImport(transaction, {
      workspaceId,
      fileKey,
      mapping,
      mode,
      defaultCountry,
      dryRun,
      createdBy: keyId,
    });
    await insertAuditEntry(transaction, { workspaceId, action: 'contact.import', objectId: inserted.id });
    return inserted;
  });
  // A worker starts it later if this fails.
  await startImport(dependencies, created).catch((error: unknown) =>
    dependencies.logger.warn({ importId: created.id, error: errorName(error) }, 'import not started yet'),
  );
  return created;
}

function consentProblems({ consent }: ImportMapping): readonly FieldProblem[] {
  if (consent == null) return [];
  if (consent.column == null && consent.others == null) {
    const message = 'mapping.consent needs a column, or others: what holds for every row';
    return [{ field: 'mapping.consent', message }];
  }
  const isKnown =
    consent.column == null ||
    consent.meaning !== undefined ||
    (consent.opted_in?.length ?? 0) + (consent.opted_out?.length ?? 0) > 0;
  const field = 'mapping.consent.meaning';
  const message = `${field} is required, because the heading of the column does not say it: opt_out or opt_in`;
  return isKnown ? [] : [{ field, message }];
}

/** Ids of tags must exist; names need not. */
async function tagProblems(
  { database }: Creator,
  workspaceId: number,
  mapping: ImportMapping,
): Promise<readonly FieldProblem[]> {
  const ids = tagReader(mapping)([]).filter(isUuid);
  const found = await findTags(database, workspaceId, ids);
  return ids
    .filter((id) => !found.has(id.toLowerCase()))
    .map((id) => ({ field: 'mapping.tags', message: `mapping.tags: ${id} is not a tag of GET /api/tags` }));
}

const startImport = (
  { orchestrator }: Pick<Dependencies, 'orchestrator'>,
  { id, workspaceId }: Pick<ContactImport, 'id' | 'workspaceId'>,
): Promise<void> => orchestrator.startContactImport({ id, workspaceId });

/** What is committed stays. Throws NotFound; changes nothing if the import has ended. */
export function cancelImport(
  { database }: Pick<Dependencies, 'database'>,
  workspaceId: number,
  importId: string,
): Promise<ContactImport> {
  return database.transaction(async (transaction) => {
    if (await cancelRecord(transaction, workspaceId, importId))
      await insertAuditEntry(transaction, {
        workspaceId,
        action: 'contact.cancel-import',
        objectId: importId,
      });
    return getImport(transaction, workspaceId, importId);
  });
}

const idleMs = 5_000;

/** Polling loop of a worker: starts the workflows of open imports that may have none. */
export function startImports(dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>): Loop {
  return startPollingLoop({
    name: 'contact imports',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      for (const open of await takeImportsToStart(dependencies.database))
        await startImport(dependencies, open);
      return false;
    },
  });
}
