/**
 * Builds the recipient list of a campaign (Spec 3.1). One transaction: a preparation that is killed at any point leaves
 * nothing behind and is simply done again. What it comes to is read from the record.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { buildRecipients } from './build-recipients.ts';
import { FileTemporarilyUnavailable, storeDownload } from './campaign-file.ts';
import { openCandidates, type AudienceRequest } from './candidates.ts';
import { AudienceInput } from '../../codecs/campaign-audience.ts';
import type { Dependencies } from '../../dependencies.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { readOptedOut } from '../contacts/opted-out-numbers.ts';
import { openContactLoad, type ContactLoad } from '../../records/audience/contacts.ts';
import { findCampaignInput } from '../../records/campaigns/inputs.ts';
import {
  failPreparation,
  getCampaignToPrepare,
  isBeingPrepared,
  needsPreparation,
  type CampaignToPrepare,
} from '../../records/audience/preparation.ts';
import { isRefusedValue, isWriteCollision } from '../../records/database/load-connection.ts';
import { listSubscribedKeys } from '../../records/webhooks/events.ts';
import { openRecipientLoad, type RecipientLoad } from '../../records/audience/recipient-load.ts';
import { freezeVariables, type FrozenMapping } from './freeze-variables.ts';

type Preparer = Pick<
  Dependencies,
  'config' | 'database' | 'storage' | 'outbound' | 'now' | 'logger' | 'secrets'
> &
  Partial<Pick<Dependencies, 'metrics'>>;

export interface PreparationContext {
  /** Called about once a second with the number of rows worked on so far. */
  readonly heartbeat: (rows: number) => void;
  /** Stops the preparation; nothing of it remains. */
  readonly signal: AbortSignal;
}

const beatEveryMs = 1_000;
const attempts = 5;
const pauseBetweenMs = 1_000;

/**
 * Returns when the campaign is READY or FAILED, or needs no preparation; throws when it is to be tried again. Returns how many
 * it can send to; 0 when somebody else has prepared it.
 */
export async function prepareCampaign(
  dependencies: Preparer,
  campaignId: string,
  { heartbeat, signal }: PreparationContext,
): Promise<number> {
  const campaign = await getCampaignToPrepare(dependencies.database, campaignId);
  if (!isBeingPrepared(campaign.status, campaign.preparation_status)) return 0;
  const watch = watchCampaign(dependencies, campaignId, { heartbeat, signal });
  try {
    return await attemptRepeatedly(dependencies, campaign, watch);
  } catch (error) {
    if (watch.isStopped() && !signal.aborted) return 0;
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

interface Watch {
  readonly progress: (rows: () => number) => void;
  readonly onStop: (stop: () => void) => void;
  readonly isStopped: () => boolean;
  readonly end: () => void;
}

/** Beats, and stops the work as soon as the campaign is cancelled. */
function watchCampaign(
  { database }: Preparer,
  campaignId: string,
  { heartbeat, signal }: PreparationContext,
): Watch {
  let rows = (): number => 0;
  let stop = (): void => undefined;
  let stopped = false;
  const halt = (): void => {
    stopped = true;
    stop();
  };
  signal.addEventListener('abort', halt, { once: true });
  const timer = setInterval(() => {
    heartbeat(rows());
    needsPreparation(database, campaignId).then(
      (needed) => {
        if (!needed) halt();
      },
      // A database that is away ends the work by itself.
      () => undefined,
    );
  }, beatEveryMs);
  return {
    progress: (count) => {
      rows = count;
    },
    onStop: (action) => {
      stop = action;
      if (stopped || signal.aborted) halt();
    },
    isStopped: () => stopped,
    end: () => {
      clearInterval(timer);
      signal.removeEventListener('abort', halt);
    },
  };
}

/** Tries again when somebody else wrote the same contacts, or when a file's server is away for a moment. */
async function attemptRepeatedly(
  dependencies: Preparer,
  campaign: CampaignToPrepare,
  watch: Watch,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await prepareOnce(dependencies, campaign, watch);
    } catch (error) {
      const isTemporary = error instanceof FileTemporarilyUnavailable;
      if (watch.isStopped() || !(isTemporary || isWriteCollision(error))) throw error;
      if (attempt === attempts) throw isTemporary ? error.failure : error;
      dependencies.logger.info({ campaignId: campaign.id, attempt }, 'preparation begins again');
      await sleep(pauseBetweenMs * attempt);
    }
  }
}

async function prepareOnce(
  dependencies: Preparer,
  campaign: CampaignToPrepare,
  watch: Watch,
): Promise<number> {
  const { databaseUrl } = dependencies.config;
  const request = await readRequest(dependencies, campaign);
  const frozen = await freezeVariables(dependencies, { campaign, ...request });
  const download = new AbortController();
  let file: Awaited<ReturnType<typeof storeDownload>>;
  let recipients: RecipientLoad | undefined;
  let contacts: ContactLoad | undefined;
  const destroy = (): void => {
    download.abort();
    recipients?.destroy();
    contacts?.destroy();
  };
  watch.onStop(destroy);
  try {
    file = await storeDownload(dependencies, request.audience, download.signal);
    recipients = await openRecipientLoad(databaseUrl, campaign.id);
    if (recipients === undefined) return 0;
    watch.progress(recipients.count);
    contacts = await openContacts(dependencies, campaign);
    const fetched = file === undefined ? request : { ...request, file: file.chunks };
    return await load(dependencies, { request: fetched, frozen, campaign, recipients, contacts, watch });
  } finally {
    destroy();
    await file?.remove();
  }
}

interface Loading {
  readonly request: AudienceRequest;
  readonly frozen: FrozenMapping;
  readonly campaign: CampaignToPrepare;
  readonly recipients: RecipientLoad;
  readonly contacts: ContactLoad | undefined;
  readonly watch: Watch;
}

async function load(
  dependencies: Preparer,
  { request, frozen, campaign, recipients, contacts, watch }: Loading,
): Promise<number> {
  await buildRecipients({
    pages: await openCandidates(dependencies, { ...request, keepVariables: frozen.keepsVariables }),
    rules: { blockedCountries: new Set(campaign.blocked_countries), resolvers: frozen.resolvers },
    recipients,
    contacts,
    checkpoint: () => {
      if (watch.isStopped()) throw new Error('The preparation was stopped');
    },
  });
  const counts = await recipients.finish({
    messagePlan: frozen.plan,
    resentCampaignId: request.audience.failed_campaign_id,
    beforeCommit: async () => contacts?.commit(),
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
): Promise<ContactLoad | undefined> {
  const sources = { csv_contacts: 'csv_import', quick_contacts: 'quick_contacts' } as const;
  const { contact_selection_type: selectionType, workspace_id: workspaceId } = campaign;
  if (selectionType !== 'csv_contacts' && selectionType !== 'quick_contacts') return undefined;
  return openContactLoad(config.databaseUrl, {
    workspaceId,
    source: sources[selectionType],
    subscribedKeys: await listSubscribedKeys(database, workspaceId),
    optedOut: await readOptedOut({ secrets }, database, workspaceId),
  });
}

const QuickContacts = t.array(t.string);

async function readRequest({ database }: Preparer, campaign: CampaignToPrepare): Promise<AudienceRequest> {
  const { contact_selection_type: selectionType, workspace_id: workspaceId } = campaign;
  const audience = AudienceInput.decode(campaign.audience);
  if (!isRight(audience)) throw new Error('The stored audience is not readable');
  const content =
    selectionType === 'quick_contacts' ? await findCampaignInput(database, campaign.id) : undefined;
  const entries = QuickContacts.decode(JSON.parse(content ?? '[]'));
  return {
    campaignId: campaign.id,
    workspaceId,
    selectionType,
    audience: audience.right,
    quickContacts: isRight(entries) ? entries.right : [],
    keepVariables: false,
  };
}
