/**
 * Builds the recipient list of a campaign (Spec 3.1). Recipients are written in one transaction, so a preparation killed at
 * any point leaves none behind and starts over. Contacts are committed in batches and stay.
 */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { AudienceInput } from '../../codecs/campaign-audience.ts';
import { report } from '../../codecs/report.ts';
import type { KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { AudienceRules } from '../../domain/audience/candidate.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { capOn } from '../../domain/campaigns/frequency-cap.ts';
import { requiresConsent } from '../../domain/contacts/consent.ts';
import {
  type MediaLink,
  mediaLinks,
  type MessagePlan,
  type PlannedMedia,
} from '../../domain/templates/plan.ts';
import { type ContactLoad, openContactLoad } from '../../records/audience/contact-load.ts';
import {
  type CampaignToPrepare,
  failPreparation,
  getCampaignToPrepare,
  isBeingPrepared,
  needsPreparation,
} from '../../records/audience/preparation.ts';
import { findContactsOverCap } from '../../records/contacts/frequency-cap.ts';
import { openRecipientLoad, type RecipientLoad } from '../../records/audience/recipient-load.ts';
import { findCampaignInput } from '../../records/campaigns/files.ts';
import { isRefusedValue, isWriteCollision } from '../../records/database/load-connection.ts';
import { listSubscribedKeys } from '../../records/webhooks/events.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { uploadCampaignMedia } from '../messages/campaign-media.ts';
import { createFieldLearner } from '../contacts/contact-fields.ts';
import { findOptedOut } from '../contacts/opted-out-numbers.ts';
import { buildRecipients } from './build-recipients.ts';
import { FileTemporarilyUnavailable, foreignFileUrl, storeDownload } from './campaign-file.ts';
import {
  type AudienceRequest,
  defaultCountryOf,
  findStopped,
  isAtMost,
  openCandidates,
} from './candidates.ts';
import { freezeVariables, type FrozenMapping } from './freeze-variables.ts';
import {
  createPreparationSlots,
  inSlot,
  isShortInput,
  maxShortContacts,
  type PreparationSlots,
} from './preparation-slots.ts';

type Preparer = Pick<
  Dependencies,
  'config' | 'database' | 'storage' | 'outbound' | 'now' | 'logger' | 'secrets' | 'provider'
> &
  Partial<Pick<Dependencies, 'metrics'>>;

export interface PreparationContext {
  /** Called about once a second with the number of rows processed so far. */
  readonly heartbeat: (rows: number) => void;
  /** Stops the preparation; nothing of it remains. */
  readonly signal: AbortSignal;
  /** Shared by the preparations of one process. */
  readonly slots?: PreparationSlots;
  /** Attempts in a row whose process died or hung after `onBegin`; default 0. */
  readonly lostAttempts?: number;
  /** Called before the audience is read. */
  readonly onBegin?: () => void;
  /** Called once the next campaign of the workspace may start: this one has its slot, or waits among long ones or downloads. */
  readonly onTurn?: () => Promise<void>;
}

/**
 * After three lost attempts the audience itself is taken to be the cause: any worker that tried again would be lost, too. The
 * third attempt runs alone, so that it cannot be lost because of another preparation.
 */
const maxLostAttempts = 3;

const attempts = 5;
const pauseBetweenMs = 1_000;
/** A short preparation starts over at little cost; a long one waits for a contact rather than lose its work. */
const shortLockTimeoutMs = 200;
const longLockTimeoutMs = 2_000;

/**
 * Once the campaign is READY, returns the number of recipients that can be sent to; 0 if it is FAILED, needs no preparation or
 * was prepared by another process. Throws if it must be retried: NoPreparationSlot if too many others wait in this process.
 */
export async function prepareCampaign(
  dependencies: Preparer,
  campaignId: string,
  context: PreparationContext,
): Promise<number> {
  const { heartbeat, signal } = context;
  const campaign = await getCampaignToPrepare(dependencies.database, campaignId);
  if (!isBeingPrepared(campaign.status, campaign.preparation_status)) return 0;
  const watch = watchPreparation(dependencies, campaignId, { heartbeat, signal });
  try {
    return await downloadAndPrepare(dependencies, campaign, {
      watch,
      slots: context.slots ?? createPreparationSlots(),
      lostAttempts: context.lostAttempts ?? 0,
      onBegin: context.onBegin ?? (() => undefined),
      onTurn: context.onTurn ?? (() => Promise.resolve()),
    });
  } catch (error) {
    if (watch.signal.aborted && !signal.aborted) return 0;
    const failure = isRefusedValue(error)
      ? new PreparationFailure('CSV_UNREADABLE', 'The contacts hold a text that cannot be stored')
      : error;
    if (!(failure instanceof PreparationFailure)) throw error;
    await failPreparation(dependencies.database, campaignId, failure);
    dependencies.logger.info(
      { campaignId, status: 'FAILED', preparationError: failure.code },
      'campaign failed',
    );
    return 0;
  } finally {
    watch.end();
  }
}

interface Running extends Required<
  Pick<PreparationContext, 'slots' | 'lostAttempts' | 'onBegin' | 'onTurn'>
> {
  readonly watch: PreparationWatch;
}

/** Stores a foreign file first, in a download slot, so that a slow server does not occupy a preparation slot. */
async function downloadAndPrepare(
  dependencies: Preparer,
  campaign: CampaignToPrepare,
  { watch, slots, lostAttempts, onBegin, onTurn }: Running,
): Promise<number> {
  const { workspace_id: workspaceId, id: campaignId } = campaign;
  const { signal } = watch;
  if (lostAttempts >= maxLostAttempts)
    throw new PreparationFailure(
      'CSV_UNREADABLE',
      `Each of ${lostAttempts} attempts to read the audience took more memory or time than a worker has: split it, or shorten its rows`,
    );
  const retry = <T>(work: () => Promise<T>) => attemptRepeatedly(dependencies, { campaignId, signal }, work);
  const audience = readAudience(campaign);
  const url = foreignFileUrl(dependencies, audience);
  if (url !== undefined) await onTurn();
  const file =
    url === undefined
      ? undefined
      : await retry(() =>
          inSlot({ semaphore: slots.downloads, keys: [workspaceId, new URL(url).host], signal }, () =>
            storeDownload(dependencies, url, signal),
          ),
        );
  try {
    const bytes = file === undefined ? campaign.input_bytes : file.bytes;
    let media: PreparedMedia | undefined;
    const prepare = (isShort: boolean) => {
      onBegin();
      return prepareOnce(dependencies, campaign, { audience, file: file?.read, watch, isShort, media });
    };
    const prepareInSlot = () =>
      retry(() =>
        inPreparationSlot(dependencies, { campaign, audience, bytes, slots, signal, onTurn }, prepare),
      );
    const prepareAlone = (): Promise<number> =>
      lostAttempts < maxLostAttempts - 1
        ? prepareInSlot()
        : inSlot({ semaphore: slots.lastAttempts, keys: [workspaceId], signal }, prepareInSlot);
    return await prepareAlone().catch(async (error: unknown) => {
      if (!(error instanceof MediaNeeded)) throw error;
      const { links } = error;
      const { host } = new URL(links[0]?.link ?? '');
      media = await retry(() =>
        inSlot({ semaphore: slots.downloads, keys: [workspaceId, host], signal }, async () => {
          const channel = await getChannel(dependencies.database, workspaceId, campaign.channel_id);
          return { links, uploaded: await uploadCampaignMedia(dependencies, channel, links) };
        }),
      );
      return prepareAlone();
    });
  } finally {
    await file?.remove();
  }
}

interface Sized {
  readonly campaign: CampaignToPrepare;
  readonly audience: AudienceInput;
  /** Null for an audience stored in the database. */
  readonly bytes: number | null;
  readonly slots: PreparationSlots;
  readonly signal: AbortSignal;
  readonly onTurn: () => Promise<void>;
}

/** Chooses the slot by size, not by the kind of audience: one contact out of a million is a short audience. */
async function inPreparationSlot(
  dependencies: Preparer,
  { campaign, audience, bytes, slots, signal, onTurn }: Sized,
  prepare: (isShort: boolean) => Promise<number>,
): Promise<number> {
  const { workspace_id: workspaceId, contact_selection_type: kind } = campaign;
  const inSlotOf = <T>(semaphore: KeyedSemaphore, work: () => Promise<T>): Promise<T> =>
    inSlot({ semaphore, keys: [workspaceId], signal }, work);
  const prepareShort = async (): Promise<number> => {
    await onTurn();
    return prepare(true);
  };
  const prepareLong = async (): Promise<number> => {
    await onTurn();
    return inSlotOf(slots.long, () => prepare(false));
  };
  if (kind === 'csv_contacts' || kind === 'quick_contacts')
    return bytes !== null && isShortInput(bytes) ? inSlotOf(slots.short, prepareShort) : prepareLong();
  const prepared = await inSlotOf(slots.short, async () => {
    const isShort = await isAtMost(dependencies, kind, { workspaceId, audience }, maxShortContacts);
    return isShort ? { sendable: await prepareShort() } : undefined;
  });
  return prepared === undefined ? prepareLong() : prepared.sendable;
}

/**
 * Retries if another transaction wrote or locks the same contacts, or if a file server is briefly unavailable. Keeps no slot
 * between attempts.
 */
async function attemptRepeatedly<T>(
  { logger }: Preparer,
  { campaignId, signal }: { readonly campaignId: string; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isTemporary = error instanceof FileTemporarilyUnavailable;
      if (signal.aborted || !(isTemporary || isWriteCollision(error))) throw error;
      if (attempt === attempts) throw isTemporary ? error.failure : error;
      logger.info({ campaignId, attempt }, 'preparation tried again');
      await sleep(pauseBetweenMs * attempt, undefined, { signal });
    }
  }
}

interface PreparedMedia {
  readonly links: readonly MediaLink[];
  readonly uploaded: readonly PlannedMedia[];
}

/** Thrown before anything is written: these files are fetched first, without a preparation slot. */
class MediaNeeded extends Error {
  readonly links: readonly MediaLink[];
  constructor(links: readonly MediaLink[]) {
    super('The campaign has media links');
    this.links = links;
  }
}

/** The plan with its uploaded media. Throws MediaNeeded if one of its links was not fetched yet. */
function withUploads(frozen: FrozenMapping, media: PreparedMedia | undefined): FrozenMapping {
  const plan = frozen.plan as MessagePlan;
  const links = mediaLinks(plan);
  if (links.length === 0) return frozen;
  const fetched = new Set(media?.links.map(({ link }) => link));
  if (media === undefined || !links.every(({ link }) => fetched.has(link))) throw new MediaNeeded(links);
  return { ...frozen, plan: { ...plan, media: media.uploaded } };
}

interface Preparation {
  readonly media: PreparedMedia | undefined;
  readonly audience: AudienceInput;
  readonly file: (() => AsyncIterable<Buffer>) | undefined;
  readonly watch: PreparationWatch;
  readonly isShort: boolean;
}

async function prepareOnce(
  dependencies: Preparer,
  campaign: CampaignToPrepare,
  { audience, file, watch, isShort, media }: Preparation,
): Promise<number> {
  const { databaseUrl } = dependencies.config;
  const read = await readRequest(dependencies, campaign, audience);
  const request = file === undefined ? read : { ...read, file };
  const frozen = withUploads(await freezeVariables(dependencies, { campaign, ...request }), media);
  // Before the transaction of the recipients, which would be idle meanwhile.
  const stopped = await findStopped(
    request.selectionType === 'csv_contacts' ? audience.csv_mapping : undefined,
    { isMarketing: campaign.template_category === 'MARKETING' },
    () => openCandidates(dependencies, { ...request, signal: watch.signal }),
  );
  let recipients: RecipientLoad | undefined;
  let contacts: ContactLoad | undefined;
  const destroy = (): void => {
    recipients?.destroy();
    contacts?.destroy();
  };
  watch.signal.addEventListener('abort', destroy, { once: true });
  try {
    recipients = await openRecipientLoad(databaseUrl, campaign.id);
    if (recipients === undefined) return 0;
    watch.showProgress(recipients.count);
    contacts = await openContacts(dependencies, campaign, { audience, frozen, isShort });
    return await load(dependencies, { request, frozen, campaign, recipients, contacts, watch, stopped });
  } finally {
    watch.signal.removeEventListener('abort', destroy);
    destroy();
  }
}

interface Loading {
  readonly request: AudienceRequest;
  readonly frozen: FrozenMapping;
  readonly campaign: CampaignToPrepare;
  readonly recipients: RecipientLoad;
  readonly contacts: ContactLoad | undefined;
  readonly watch: PreparationWatch;
  readonly stopped: AudienceRules['stopped'];
}

async function load(
  dependencies: Preparer,
  { request, frozen, campaign, recipients, contacts, watch, stopped }: Loading,
): Promise<number> {
  const { template_category: category, workspace_id: workspaceId } = campaign;
  const isMarketing = category === 'MARKETING';
  // The days until a scheduled campaign begins count for the cap, so that only its claims can tell.
  const cap =
    campaign.scheduled_at === null ? capOn(campaign.frequency_cap, { workspaceId, category }) : undefined;
  await buildRecipients({
    batches: await openCandidates(dependencies, {
      ...request,
      signal: watch.signal,
      keepVariables: frozen.keepsVariables,
      customFields: frozen.customFields,
    }),
    rules: {
      blockedCountries: new Set(campaign.blocked_countries),
      countriesWithoutMarketing: new Set(dependencies.config.marketingSkipCountries),
      resolvers: frozen.resolvers,
      limits: frozen.limits,
      isMarketing,
      stopped,
      requiresContact:
        campaign.contact_selection_type === 'csv_contacts' &&
        requiresConsent(campaign.require_consent, isMarketing),
    },
    recipients,
    contacts,
    findOverCap: cap && ((ids) => findContactsOverCap(dependencies.database, cap, ids)),
    checkpoint: () => {
      if (watch.signal.aborted) throw new Error('The preparation was stopped');
    },
  });
  const counts = await recipients.finish({
    messagePlan: frozen.plan,
    contactsReadAt: frozen.contactsReadAt ?? contacts?.startedAt,
    resentCampaignId: request.audience.failed_campaign_id,
  });
  if (counts === undefined) return 0;
  const { sendable, skipped } = counts;
  dependencies.logger.info({ campaignId: campaign.id, total: sendable, skipped }, 'campaign prepared');
  dependencies.metrics?.recipientChanges.inc({ state: 'pending' }, sendable);
  dependencies.metrics?.recipientChanges.inc({ state: 'skipped' }, skipped);
  return sendable;
}

async function openContacts(
  { config, database, secrets }: Preparer,
  campaign: CampaignToPrepare,
  {
    audience,
    frozen,
    isShort,
  }: Pick<Preparation, 'audience' | 'isShort'> & { readonly frozen: FrozenMapping },
): Promise<ContactLoad | undefined> {
  const sources = { csv_contacts: 'csv_import', quick_contacts: 'quick_contacts' } as const;
  const { contact_selection_type: selectionType, workspace_id: workspaceId } = campaign;
  if (selectionType !== 'csv_contacts' && selectionType !== 'quick_contacts') return undefined;
  const givenFields = Object.keys(audience.csv_mapping?.custom_field_mapping ?? {});
  const contacts = await openContactLoad(config.databaseUrl, {
    workspaceId,
    source: sources[selectionType],
    subscribedKeys: await listSubscribedKeys(database, workspaceId),
    givenFields,
    namedFields: frozen.customFields,
    lockTimeoutMs: isShort ? shortLockTimeoutMs : longLockTimeoutMs,
    findOptedOut: (numbers) => findOptedOut({ secrets }, database, workspaceId, numbers),
  });
  if (givenFields.length === 0) return contacts;
  const learnFields = createFieldLearner(database, workspaceId);
  let learned = 0;
  return {
    ...contacts,
    find: async (candidates) => {
      if (learned < givenFields.length)
        learned = await learnFields(candidates.map(({ person }) => person?.customFields ?? {}));
      return contacts.find(candidates);
    },
  };
}

const QuickContacts = t.array(t.string);

function readAudience({ audience }: CampaignToPrepare): AudienceInput {
  const read = AudienceInput.decode(audience);
  if (isRight(read)) return read.right;
  // Stored by an earlier release, which accepted more.
  const [problem] = report(read.left);
  throw new PreparationFailure('CSV_UNREADABLE', `The audience cannot be read: ${problem?.message ?? ''}`);
}

async function readRequest(
  { database }: Preparer,
  {
    id: campaignId,
    contact_selection_type: selectionType,
    workspace_id: workspaceId,
    default_country: ofWorkspace,
  }: CampaignToPrepare,
  audience: AudienceInput,
): Promise<AudienceRequest> {
  const content =
    selectionType === 'quick_contacts' ? await findCampaignInput(database, campaignId) : undefined;
  const entries = QuickContacts.decode(JSON.parse(content ?? '[]'));
  const quickContacts = isRight(entries) ? entries.right : [];
  const defaultCountry = defaultCountryOf(audience, ofWorkspace);
  return {
    campaignId,
    workspaceId,
    selectionType,
    audience,
    quickContacts,
    defaultCountry,
    keepVariables: false,
  };
}

const pollEveryMs = 1_000;

interface PreparationWatch {
  /** Aborts when the caller gives up, or when the campaign is cancelled or prepared elsewhere. */
  readonly signal: AbortSignal;
  readonly showProgress: (rows: () => number) => void;
  readonly end: () => void;
}

/** Sends a heartbeat every second, and stops the work as soon as the campaign no longer needs preparing. */
function watchPreparation(
  { database }: Pick<Dependencies, 'database'>,
  campaignId: string,
  { heartbeat, signal }: { readonly heartbeat: (rows: number) => void; readonly signal: AbortSignal },
): PreparationWatch {
  let rows = (): number => 0;
  const stop = new AbortController();
  const timer = setInterval(() => {
    heartbeat(rows());
    needsPreparation(database, campaignId).then(
      (needed) => {
        if (!needed) stop.abort();
      },
      // Ignored: without the database the preparation itself fails.
      () => undefined,
    );
  }, pollEveryMs);
  return {
    signal: AbortSignal.any([signal, stop.signal]),
    showProgress: (count) => {
      rows = count;
    },
    end: () => clearInterval(timer),
  };
}
