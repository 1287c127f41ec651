/** Pulls the provider's templates, which are the source of truth. */
import { errorName } from '../../concurrency/polling-loop.ts';
import { within } from '../../concurrency/within.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Conflict } from '../../domain/error.ts';
import { templateChanged } from '../../domain/operations/notice.ts';
import { providerErrorRule } from '../../domain/sending/provider-error.ts';
import { isSendable } from '../../domain/templates/definition.ts';
import { templateEvent } from '../../domain/templates/event.ts';
import {
  addSummaries,
  bounded,
  emptySummary,
  type ListedTemplate,
  storable,
  type SyncSummary,
} from '../../domain/templates/sync.ts';
import type { NewEvent } from '../../domain/webhooks/new-event.ts';
import { callerError, ProviderRequestError, type ProviderTemplate } from '../../provider/provider.ts';
import type { Connection } from '../../records/database/database.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import {
  lockSyncedTemplates,
  lockTemplatesOf,
  lockUnseenTemplates,
  markVanishedTemplates,
  readSyncClock,
  type SyncedTemplate,
  upsertTemplates,
} from '../../records/templates/sync.ts';
import { getTemplate } from '../../records/templates/templates.ts';
import { setPortfolio } from '../../records/sending/messaging-limit.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import {
  findBusinessAccount,
  listAllBusinessAccounts,
  listBusinessAccounts,
  markTemplatesSynced,
  saveAccountTerms,
} from '../../records/workspaces/business-accounts.ts';
import { type Channel, listChannelsOfBusinessAccount } from '../../records/workspaces/channels.ts';
import { pauseCampaignsOfTemplate } from '../campaigns/change-campaign.ts';
import { deliverWorkflowOutboxes } from '../campaigns/deliver-workflow-outbox.ts';
import { patienceMs, readNumberHealth } from '../workspaces/number-health.ts';

type SyncDependencies = Pick<
  Dependencies,
  'database' | 'orchestrator' | 'provider' | 'secrets' | 'logger' | 'now'
>;

/** Progress of a sync, from which another process can continue if this one dies. Plain JSON. */
export interface SyncProgress {
  /** When the sync began, on the database's clock. */
  readonly startedAt: string;
  /** The provider's cursor after the last page that was written. */
  readonly cursor: string;
  /** True while every template so far could be read; only then may missing ones be marked as vanished. */
  readonly complete: boolean;
  readonly summary: SyncSummary;
}

interface SyncOptions {
  /** The last progress that an earlier run reported. */
  readonly resumeFrom?: SyncProgress | undefined;
  /** Called after every page but the last. */
  readonly onProgress?: (progress: SyncProgress) => void;
}

interface Account {
  readonly workspaceId: number;
  readonly businessAccountId: string;
}

/**
 * Syncs one business account. Writes every page in its own transaction; running it again, or from `resumeFrom` on, ends in the
 * same rows. Throws `ProviderRequestError` if a page cannot be fetched.
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
  const tokens = accessTokensOf(secrets, channels);
  if (tokens.length === 0) return emptySummary;

  const startedAt = resumeFrom?.startedAt ?? (await readSyncClock(database));
  let { summary, complete, cursor } = resumeFrom ?? { summary: emptySummary, complete: true, cursor: null };
  const readWith = async (accessToken: string): Promise<void> => {
    let readAt = await readSyncClock(database);
    const after = cursor === null ? {} : { after: cursor };
    for await (const page of provider.listTemplates({ businessAccountId, accessToken, ...after })) {
      const templates = page.templates.map(listed);
      summary = addSummaries(summary, await writePage(dependencies, account, { templates, readAt }));
      complete &&= page.unreadable === 0;
      if (page.unreadable > 0)
        logger.warn({ businessAccountId, unreadable: page.unreadable }, 'templates unreadable');
      cursor = page.nextCursor;
      if (cursor !== null) onProgress?.({ startedAt, cursor, complete, summary });
      readAt = await readSyncClock(database);
    }
  };
  const onRefused = () => logger.warn({ businessAccountId }, 'access token refused');
  await withAnyToken(tokens, readWith, onRefused);
  if (complete) summary = addSummaries(summary, await writeVanished(dependencies, account, startedAt));
  await markTemplatesSynced(database, businessAccountId);
  const readTerms = async (accessToken: string): Promise<void> => {
    const terms = await provider.readAccountTerms({ businessAccountId, accessToken });
    await database.transaction(async (transaction) => {
      if (!(await saveAccountTerms(transaction, businessAccountId, terms)))
        logger.warn(
          { businessAccountId, timeZone: terms.timeZone },
          'the database does not know the time zone',
        );
      if (terms.portfolioId !== undefined && terms.portfolioId !== null)
        await setPortfolio(transaction, businessAccountId, terms.portfolioId);
    });
  };
  // Templates are synced all the same, and prices go on as before.
  await withAnyToken(tokens, readTerms, onRefused).catch((error: unknown) =>
    logger.warn(
      { businessAccountId, error: errorName(error) },
      'currency and time zone of the account unknown',
    ),
  );
  await Promise.all(channels.map((channel) => within(patienceMs, readNumberHealth(dependencies, channel))));
  logger.info({ ...account, ...summary }, 'templates synced');
  return summary;
}

/** Every number of an account has its own token, and each may read the account's templates. Active channels come first. */
export function accessTokensOf(
  secrets: SyncDependencies['secrets'],
  channels: readonly Channel[],
): readonly string[] {
  const activeFirst = channels.toSorted(
    (one, other) => Number(one.status !== 'active') - Number(other.status !== 'active'),
  );
  return [
    ...new Set(
      activeFirst.map(({ id, accessTokenEncrypted }) =>
        secrets.decrypt(accessTokenEncrypted, `channel ${id}`),
      ),
    ),
  ];
}

/** Tries one token after the other until the provider accepts one; throws the rejection of the last. */
export async function withAnyToken(
  [token = '', ...others]: readonly string[],
  work: (token: string) => Promise<void>,
  onRefused: () => void,
): Promise<void> {
  try {
    await work(token);
  } catch (error) {
    if (others.length === 0 || !isTokenRefusal(error)) throw error;
    onRefused();
    await withAnyToken(others, work, onRefused);
  }
}

function isTokenRefusal(error: unknown): boolean {
  if (!(error instanceof ProviderRequestError) || error.failure.kind !== 'rejected') return false;
  const rule = providerErrorRule(error.failure);
  return rule.kind === 'pause_channel' && rule.cause === 'token';
}

/**
 * Syncs every business account of the workspace while the caller waits. If an account fails, the templates of the others are
 * written before this throws ProviderUnreachable or ProviderRefused.
 */
export async function syncTemplates(
  dependencies: SyncDependencies,
  workspaceId: number,
): Promise<SyncSummary> {
  let summary = emptySummary;
  let failure: ProviderRequestError | undefined;
  for (const { id } of await listBusinessAccounts(dependencies.database, workspaceId)) {
    try {
      summary = addSummaries(summary, await syncBusinessAccount(dependencies, id));
    } catch (error) {
      if (!(error instanceof ProviderRequestError)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw callerError(failure);
  return summary;
}

/**
 * Asks the provider to lift the pause of a template, then has its account synced. Throws NotFound, Conflict if it is not
 * paused, ProviderUnreachable or ProviderRefused.
 */
export async function unpauseTemplate(
  { database, provider, secrets, orchestrator, logger }: SyncDependencies,
  workspaceId: number,
  templateId: string,
): Promise<void> {
  const { status, businessAccountId, providerTemplateId } = await getTemplate(
    database,
    workspaceId,
    templateId,
  );
  if (status.toUpperCase() !== 'PAUSED')
    throw new Conflict(`The template is ${status}: only a PAUSED one can be unpaused`);
  const channels = await listChannelsOfBusinessAccount(database, workspaceId, businessAccountId);
  const unpause = (accessToken: string) => provider.unpauseTemplate({ providerTemplateId, accessToken });
  await withAnyToken(accessTokensOf(secrets, channels), unpause, () => undefined).catch((error: unknown) => {
    throw error instanceof ProviderRequestError ? callerError(error) : error;
  });
  await orchestrator.startTemplateSync(businessAccountId).catch((error: unknown) => {
    logger.warn({ businessAccountId, error: errorName(error) }, 'sync of templates delayed');
  });
}

const listed = ({ id, qualityScore, ...template }: ProviderTemplate): ListedTemplate =>
  storable(bounded({ ...template, providerTemplateId: id, quality: qualityScore }));

async function writePage(
  dependencies: SyncDependencies,
  account: Account,
  { templates, readAt }: { readonly templates: readonly ListedTemplate[]; readonly readAt: string },
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

interface TemplateWrite {
  /** The templates that existed, as they were. */
  readonly before: readonly SyncedTemplate[];
  /** Templates that were added or changed, as they are now. */
  readonly after: readonly SyncedTemplate[];
}

/**
 * Writes templates of one business account in a transaction, emits `template` events for changed states and categories, and
 * pauses the campaigns whose template may no longer be sent.
 */
async function applyTemplateChanges(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'now'>,
  account: { readonly workspaceId: number; readonly businessAccountId: string },
  write: (connection: Connection) => Promise<TemplateWrite>,
): Promise<{ readonly added: number; readonly changed: number }> {
  const { changes, added, paused } = await dependencies.database.transaction(async (connection) => {
    await lockTemplatesOf(connection, account.businessAccountId);
    const { before, after } = await write(connection);
    const known = new Map(before.map((template) => [template.id, template]));
    const found = after.flatMap((now) => {
      const was = known.get(now.id);
      return was === undefined ? [] : [{ was, now }];
    });
    const occurredAt = dependencies.now();
    const events = found.flatMap((change) => changeEvents(change, occurredAt));
    await emitEvents(connection, account.workspaceId, events);
    await insertNotices(
      connection,
      found.flatMap(({ was, now }) => templateChanged(account.workspaceId, was, now, now.rejectedReason)),
    );
    const campaigns: string[] = [];
    for (const { was, now } of found) {
      if (!isSendable(was.status) || isSendable(now.status)) continue;
      campaigns.push(...(await pauseCampaignsOfTemplate(dependencies, connection, now.id)));
    }
    return { changes: found.length, added: after.length - found.length, paused: campaigns };
  });
  await deliverWorkflowOutboxes(dependencies, paused);
  return { added, changed: changes };
}

interface Change {
  readonly was: SyncedTemplate;
  readonly now: SyncedTemplate;
}

function changeEvents({ was, now }: Change, occurredAt: Date): readonly NewEvent[] {
  const events: NewEvent[] = [];
  if (was.status !== now.status) {
    events.push(templateEvent(now, { type: 'STATUS', reason: now.rejectedReason, occurredAt }));
  }
  if (was.category !== now.category) {
    events.push(templateEvent(now, { type: 'CATEGORY', reason: null, occurredAt }));
  }
  return events;
}

const failuresPerPoll = 3;

interface SchedulePoll {
  readonly scheduled: number;
  /** The account after which the next poll continues; '' when this poll reached the last one. */
  readonly lastId: string;
  readonly failure: unknown;
}

/**
 * Creates missing hourly sync schedules for the business accounts after `afterId`. Runs when a worker starts and again
 * later, because other processes create accounts. An account that Temporal rejects does not block the others; after a few
 * rejections the poll ends, since Temporal is probably unavailable.
 */
export async function scheduleTemplateSyncs(
  { database, orchestrator }: Pick<Dependencies, 'database' | 'orchestrator'>,
  afterId = '',
): Promise<SchedulePoll> {
  const accounts = await listAllBusinessAccounts(database, afterId);
  let [scheduled, failures] = [0, 0];
  let failure: unknown;
  for (const account of accounts) {
    try {
      await orchestrator.scheduleTemplateSync(account);
      scheduled += 1;
    } catch (error) {
      failure = error;
      failures += 1;
      if (failures === failuresPerPoll) return { scheduled, lastId: account.id, failure };
    }
  }
  return { scheduled, lastId: '', failure };
}
