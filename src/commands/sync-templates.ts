/** Pulls the provider's templates, which are the source of truth. */
import type { Dependencies } from '../dependencies.ts';
import { ProviderRefused, ProviderUnreachable } from '../domain/error.ts';
import {
  addSummaries,
  emptySummary,
  storable,
  type ListedTemplate,
  type SyncSummary,
} from '../domain/template-sync.ts';
import { ProviderRequestError } from '../provider/provider-request-error.ts';
import type { ProviderTemplate } from '../provider/provider.ts';
import {
  findBusinessAccount,
  listBusinessAccounts,
  markTemplatesSynced,
} from '../records/business-accounts.ts';
import { listChannelsOfBusinessAccount } from '../records/channels.ts';
import {
  lockSyncedTemplates,
  lockUnseenTemplates,
  markVanishedTemplates,
  readSyncClock,
  upsertTemplates,
} from '../records/template-sync.ts';
import { applyTemplateChanges } from './apply-template-changes.ts';

type SyncDependencies = Pick<
  Dependencies,
  'database' | 'orchestrator' | 'provider' | 'secrets' | 'logger' | 'now'
>;

/** Where a sync stands: enough to go on after the process that ran it died. Plain JSON. */
export interface SyncProgress {
  /** By the database's clock. */
  readonly startedAt: string;
  /** Continues behind the pages that are written. */
  readonly cursor: string;
  /** Every template so far could be read; only then may missing ones be marked as vanished. */
  readonly complete: boolean;
  readonly summary: SyncSummary;
}

interface SyncOptions {
  /** What an earlier run reported last. */
  readonly resumeFrom?: SyncProgress | undefined;
  /** Called after every page but the last. */
  readonly onProgress?: (progress: SyncProgress) => void;
}

interface Account {
  readonly workspaceId: number;
  readonly businessAccountId: string;
}

/**
 * Syncs one business account. Every page is written in a transaction of its own, so that running it again, or from
 * `resumeFrom` on, ends in the same rows. Throws `ProviderRequestError` when a page cannot be had.
 */
export async function syncBusinessAccount(
  dependencies: SyncDependencies,
  businessAccountId: string,
  { resumeFrom, onProgress }: SyncOptions = {},
): Promise<SyncSummary> {
  const { database, provider, secrets, logger } = dependencies;
  const found = await findBusinessAccount(database, businessAccountId);
  if (found === undefined) return emptySummary;
  const account = { workspaceId: found.workspaceId, businessAccountId };
  const channels = await listChannelsOfBusinessAccount(database, account.workspaceId, businessAccountId);
  const channel = channels.find(({ status }) => status === 'active') ?? channels[0];
  if (channel === undefined) return emptySummary;

  const startedAt = resumeFrom?.startedAt ?? (await readSyncClock(database));
  let summary = resumeFrom?.summary ?? emptySummary;
  let complete = resumeFrom?.complete ?? true;
  let readAt = await readSyncClock(database);
  const pages = provider.listTemplates({
    businessAccountId,
    accessToken: secrets.decrypt(channel.accessTokenEncrypted),
    ...(resumeFrom !== undefined && { after: resumeFrom.cursor }),
  });
  for await (const page of pages) {
    const written = await writePage(dependencies, account, { templates: page.templates.map(listed), readAt });
    summary = addSummaries(summary, written);
    complete &&= page.unreadable === 0;
    if (page.unreadable > 0)
      logger.warn({ businessAccountId, unreadable: page.unreadable }, 'templates unreadable');
    if (page.nextCursor !== null) {
      onProgress?.({ startedAt, cursor: page.nextCursor, complete, summary });
    }
    readAt = await readSyncClock(database);
  }
  if (complete) summary = addSummaries(summary, await writeVanished(dependencies, account, startedAt));
  await markTemplatesSynced(database, businessAccountId);
  logger.info({ ...account, ...summary }, 'templates synced');
  return summary;
}

/**
 * Syncs every business account of the workspace, for somebody who waits for it. Throws ProviderUnreachable or
 * ProviderRefused; what was written until then stays.
 */
export async function syncTemplates(
  dependencies: SyncDependencies,
  workspaceId: number,
): Promise<SyncSummary> {
  let summary = emptySummary;
  for (const { id } of await listBusinessAccounts(dependencies.database, workspaceId)) {
    try {
      summary = addSummaries(summary, await syncBusinessAccount(dependencies, id));
    } catch (error) {
      throw error instanceof ProviderRequestError ? callerError(error) : error;
    }
  }
  return summary;
}

function callerError({ failure }: ProviderRequestError): Error {
  // An HTTP error outside the provider's protocol is not the provider's word.
  if (failure.kind !== 'rejected' || failure.code === failure.httpStatus) return new ProviderUnreachable();
  return new ProviderRefused(failure.code, failure.details ?? failure.message);
}

const listed = (template: ProviderTemplate): ListedTemplate =>
  storable({
    providerTemplateId: template.id,
    name: template.name,
    language: template.language,
    category: template.category,
    status: template.status,
    parameterFormat: template.parameterFormat,
    components: template.components,
    quality: template.qualityScore,
    rejectedReason: template.rejectedReason,
  });

interface ListedPage {
  readonly templates: readonly ListedTemplate[];
  readonly readAt: string;
}

async function writePage(
  dependencies: SyncDependencies,
  account: Account,
  { templates, readAt }: ListedPage,
): Promise<SyncSummary> {
  // A page may name a template twice; the statement may not.
  const once = [...new Map(templates.map((template) => [template.providerTemplateId, template])).values()];
  const ids = once.map(({ providerTemplateId }) => providerTemplateId);
  const { added, changed } = await applyTemplateChanges(dependencies, account, async (connection) => ({
    before: await lockSyncedTemplates(connection, account.businessAccountId, ids),
    after: await upsertTemplates(connection, { ...account, templates: once, readAt }),
  }));
  return { synced: once.length, added, changed };
}

async function writeVanished(
  dependencies: SyncDependencies,
  account: Account,
  startedAt: string,
): Promise<SyncSummary> {
  const { businessAccountId } = account;
  const { changed } = await applyTemplateChanges(dependencies, account, async (connection) => {
    const before = await lockUnseenTemplates(connection, { businessAccountId, startedAt });
    const ids = before.map(({ id }) => id);
    return { before, after: await markVanishedTemplates(connection, ids) };
  });
  return { ...emptySummary, changed };
}
