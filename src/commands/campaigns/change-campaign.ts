/** Resumes, pauses and cancels a campaign for an operator or an API client; the record changes at once. */
import type { Dependencies } from '../../dependencies.ts';
import {
  actionOfStart,
  type CampaignAction,
  isFinished,
  nextCampaignStatus,
} from '../../domain/campaigns/campaign.ts';
import { Conflict } from '../../domain/error.ts';
import type { AuditAction } from '../../domain/operations/audit.ts';
import { isSendable } from '../../domain/templates/definition.ts';
import {
  acceptCategory,
  lockCampaign,
  type LockedCampaign,
  moveCampaign,
  moveCampaignAndNotify,
  pauseRunning,
} from '../../records/campaigns/lifecycle.ts';
import type { Connection } from '../../records/database/database.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { releaseBrake, takeEvidence } from '../../records/sending/failure-brake.ts';
import {
  type ChannelRefusal,
  listChannelsOfSameAccount,
  recordRefusal,
} from '../../records/workspaces/notified-channels.ts';
import { requirePrices } from '../wallet/load-prices.ts';
import { deliverWorkflowOutbox } from './deliver-workflow-outbox.ts';
import { offerEndingBeforeSending } from './edit-campaign.ts';

export interface CampaignReference {
  readonly campaignId: string;
  readonly workspaceId?: number;
  /** Set if the campaign's own workflow makes the change; it reads the result itself, so no outbox message is written. */
  readonly byWorkflow?: true;
}

type Changer = Pick<Dependencies, 'database' | 'orchestrator' | 'logger'> & {
  /** Undefined: the prices are not checked. */
  readonly config?: Pick<Dependencies['config'], 'production' | 'allowExamplePrices'>;
};

interface StartRequest extends CampaignReference {
  readonly isForced?: boolean;
  /** Send to this many recipients, then wait for their statuses and judge them. */
  readonly probe?: number | undefined;
}

/**
 * Starts a paused campaign again. By force, the reason of the failures that paused it no longer pauses it. Throws NotFound, or
 * Conflict with the state or the obstacle.
 */
export function startCampaignAgain(
  dependencies: Changer,
  { isForced = false, probe, ...reference }: StartRequest,
): Promise<void> {
  const decide = (campaign: LockedCampaign): CampaignAction => {
    const start = actionOfStart({ started: campaign.started_at !== null, sendType: campaign.send_type });
    const action = requirePossible(campaign, start, 'started again');
    const hint = 'start it again once that has changed, or cancel it';
    if (campaign.template_vanished || !isSendable(campaign.template_status))
      throw new Conflict(`The campaign is PAUSED and its template is not approved: ${hint}`);
    if (campaign.channel_status !== 'active')
      throw new Conflict(`The campaign is PAUSED and its channel is blocked: ${hint}`);
    const { pause_reason: reason, max_cost: maxCost, max_cost_reached: reached } = campaign;
    if (reason === 'MAX_COST' && maxCost !== null && maxCost <= (reached ?? maxCost))
      throw new Conflict(
        'The campaign is PAUSED because its max_cost is reached: PATCH a higher max_cost first, or null for none',
      );
    if (isForced || probe !== undefined) return action;
    if (campaign.pause_reason === 'MESSAGE_REJECTED')
      throw new Conflict(
        'The campaign is PAUSED because the provider rejected a hundred messages in a row: create it again with another mapping, or start it with {"force": true}',
      );
    if (campaign.pause_reason === 'FAILURES')
      throw new Conflict(
        'The campaign is PAUSED because too many messages failed: start it with {"probe": 50} to try 50 recipients, or with {"force": true} to send on although they fail',
      );
    return action;
  };
  return change(
    dependencies,
    reference,
    decide,
    async (transaction, { id, channel_id, pause_reason, pause_evidence }) => {
      if (dependencies.config !== undefined)
        await requirePrices(dependencies.config, transaction, channel_id);
      const ended = await offerEndingBeforeSending(transaction, id, new Date());
      if (ended !== undefined)
        throw new Conflict(`The campaign would send after ${ended}: create another with a later end`);
      if (pause_reason === 'FAILURES' || probe !== undefined)
        await releaseBrake(transaction, id, { probe, ignore: isForced ? pause_evidence?.reason : undefined });
      // After the counter, in the order in which statuses lock it and the money.
      if (pause_reason === 'PRICE_RAISED') await acceptCategory(transaction, id);
    },
  );
}

/** Throws NotFound or Conflict. */
export function pauseCampaign(dependencies: Changer, reference: CampaignReference): Promise<void> {
  return change(dependencies, reference, (campaign) => requirePossible(campaign, 'pause', 'paused'));
}

/** Throws NotFound or Conflict. */
export function cancelCampaign(dependencies: Changer, reference: CampaignReference): Promise<void> {
  return change(dependencies, reference, (campaign) => requirePossible(campaign, 'cancel', 'cancelled'));
}

const moves = [
  ['resume', 'started again'],
  ['pause', 'paused'],
  ['cancel', 'cancelled'],
] as const;

function requirePossible(campaign: LockedCampaign, action: CampaignAction, verb: string): CampaignAction {
  if (nextCampaignStatus(campaign.status, action) !== undefined) return action;
  const preparing = campaign.preparation_status === 'PREPARING' && !isFinished(campaign.status);
  const state = preparing ? `${campaign.status} and still preparing` : campaign.status;
  const possible = moves.filter(([move]) => nextCampaignStatus(campaign.status, move) !== undefined);
  const way = possible.map(([, done]) => done).join(' or ');
  const hint = way === '' ? 'it has ended, create another' : `it can be ${way}`;
  throw new Conflict(`The campaign is ${state} and cannot be ${verb}: ${hint}`);
}

function auditActionOf(action: CampaignAction): AuditAction {
  if (action === 'pause' || action === 'cancel') return `campaign.${action}`;
  return 'campaign.start';
}

async function change(
  dependencies: Changer,
  { campaignId, workspaceId, byWorkflow }: CampaignReference,
  decide: (campaign: LockedCampaign) => CampaignAction,
  prepare: (transaction: Connection, campaign: LockedCampaign) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const status = await dependencies.database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId, workspaceId);
    const action = decide(campaign);
    await prepare(transaction, campaign);
    const move = byWorkflow === true ? moveCampaign : moveCampaignAndNotify;
    await move(transaction, campaign, action, action === 'pause' ? 'OPERATOR' : null);
    if (workspaceId !== undefined) {
      const entry = { workspaceId, action: auditActionOf(action), objectId: campaignId };
      await insertAuditEntry(transaction, entry);
    }
    return nextCampaignStatus(campaign.status, action);
  });
  dependencies.logger.info({ campaignId, status }, 'campaign changed');
  if (byWorkflow !== true) await deliverWorkflowOutbox(dependencies, campaignId);
}

const changes = { resume: startCampaignAgain, pause: pauseCampaign, cancel: cancelCampaign };

/**
 * Carries out an action that an operator requested in Temporal. Returns undefined once it is done, or the reason why the
 * campaign's state does not allow it.
 */
export async function carryOutOperatorAction(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>,
  { campaignId, action }: { readonly campaignId: string; readonly action: keyof typeof changes },
): Promise<string | undefined> {
  try {
    await changes[action](dependencies, { campaignId, byWorkflow: true });
    return undefined;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    dependencies.logger.warn({ campaignId, action, refused: error.message }, "operator's action refused");
    return error.message;
  }
}

/**
 * Pauses running campaigns whose failure brake has decided so. Does nothing if that is done already. A campaign that others have
 * paused meanwhile keeps the decision until it is started.
 */
export async function pauseBraked(
  dependencies: Changer & Partial<Pick<Dependencies, 'metrics'>>,
  campaignIds: readonly string[],
): Promise<void> {
  for (const campaignId of campaignIds) {
    const evidence = await dependencies.database.transaction(async (transaction) => {
      const campaign = await lockCampaign(transaction, campaignId);
      if (campaign.status !== 'RUNNING') return null;
      const taken = await takeEvidence(transaction, campaignId);
      if (taken !== null) await moveCampaignAndNotify(transaction, campaign, 'pause', 'FAILURES', taken);
      return taken;
    });
    if (evidence === null) continue;
    const { rule, reason, source, failed, of } = evidence;
    dependencies.logger.error(
      { campaignId, rule, reason, source, failed, of },
      'too many failures: campaign paused',
    );
    await deliverWorkflowOutbox(dependencies, campaignId);
  }
}

/** Pauses a running campaign whose offer has ended: the provider would refuse each message. Does nothing if it is not running. */
export async function pauseEndedOffer(dependencies: Changer, campaignId: string): Promise<void> {
  const isPaused = await dependencies.database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.status !== 'RUNNING') return false;
    await moveCampaignAndNotify(transaction, campaign, 'pause', 'TEMPLATE_UNAVAILABLE');
    return true;
  });
  if (!isPaused) return;
  dependencies.logger.warn({ campaignId }, 'offer ended: campaign paused');
  await deliverWorkflowOutbox(dependencies, campaignId);
}

/*
 * Pauses campaigns that the provider no longer allows to send. Runs in the transaction that records the cause, which also
 * writes the workflow outbox messages.
 */

type Logging = Pick<Dependencies, 'logger'>;

/** Returns the ids of the campaigns that were paused TEMPLATE_UNAVAILABLE. */
export async function pauseCampaignsOfTemplate(
  { logger }: Logging,
  connection: Connection,
  templateId: string,
): Promise<readonly string[]> {
  const campaignIds = await pauseRunning(connection, { templateId });
  if (campaignIds.length > 0)
    logger.warn({ templateId, campaignIds }, 'template unavailable: campaigns paused');
  return campaignIds;
}

/** Pauses the campaigns of blocked channels (CHANNEL_BLOCKED) and returns their ids. `reason` is for the log. */
export async function pauseCampaignsOfChannels(
  { logger }: Logging,
  connection: Connection,
  { channelIds, ...reason }: { readonly channelIds: readonly string[]; readonly event?: string },
): Promise<readonly string[]> {
  if (channelIds.length === 0) return [];
  const campaignIds = await pauseRunning(connection, { channelIds });
  if (campaignIds.length > 0)
    logger.error({ channelIds, ...reason, campaignIds }, 'channel blocked: campaigns paused');
  return campaignIds;
}

/**
 * Records that the provider refuses whole channels, and pauses their campaigns. A problem with the payment concerns every channel of
 * the business account.
 */
export async function pauseRefusedChannels(
  { logger }: Logging,
  connection: Connection,
  refusals: readonly (ChannelRefusal & { readonly channelId: string })[],
): Promise<readonly string[]> {
  const channelIds = new Set<string>();
  for (const { channelId, code, cause } of refusals) {
    const refused =
      cause === 'payment' ? await listChannelsOfSameAccount(connection, channelId) : [channelId];
    await recordRefusal(connection, refused, { code, cause });
    for (const id of refused) channelIds.add(id);
    logger.warn({ channelIds: refused, code, cause }, 'the provider refuses the channel');
  }
  return pauseCampaignsOfChannels({ logger }, connection, { channelIds: [...channelIds] });
}
