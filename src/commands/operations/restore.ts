/**
 * Repairs campaigns after a restore of Postgres, alone or together with Temporal. Nobody who may have been sent to after the
 * backup is sent to again: as many recipients as the channel's rate allowed since then become UNKNOWN.
 */
import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import { webhookErrorCodes } from '../../domain/webhooks/delivery.ts';
import { cancelPending, lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import type { Batch } from '../../records/operations/doctor-campaigns.ts';
import {
  countWaitingEvents,
  interruptWaitingEvents,
  listOpenDeliveries,
  listRestoredCampaigns,
  markMaybeSent,
  recordWorkflowOutcome,
  type RestoredCampaignRow,
} from '../../records/operations/doctor-restore.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { failUndialled } from '../../records/webhooks/delivery-scheduler.ts';
import { campaignWorkflowId, webhookDeliveryWorkflowId } from '../../workflows/contract.ts';
import { pauseRestored } from './check-campaigns.ts';
import { batches, type Check, type Doctor, type Finding, type Repair } from './doctor.ts';

export interface Restore {
  /** The records are complete up to this time. */
  readonly backupAt: Date;
  /** Nothing was sent after this time, because the database or the workers were gone. */
  readonly stoppedAt: Date;
  /** Temporal was restored or lost as well, so its workflows do not show what happened after the backup. */
  readonly temporalToo: boolean;
}

const batchSize = 200;
const eventsAtOnce = 5_000;
const second = 1_000;
/** 10 s allow for differing clocks and messages claimed before they are sent. With less, a recipient could get two messages. */
const marginSeconds = 10;

/**
 * Whether Temporal recorded anything between backup and stop. False if both databases were restored, and also if nothing
 * happened; the operator has to say which.
 */
export async function temporalSawLostTime(
  doctor: Doctor,
  { backupAt, stoppedAt }: Restore,
): Promise<boolean> {
  const from = new Date(backupAt.getTime() + marginSeconds * second);
  return from < stoppedAt && doctor.workflows.hasActivityBetween(from, stoppedAt);
}

/** The checks that come before all others after a restore. */
export function restoreChecks(restore: Restore): readonly Check[] {
  return [
    (doctor) => checkCampaigns(doctor, restore),
    (doctor) => checkEvents(doctor, restore),
    (doctor) => checkOpenDeliveries(doctor, restore),
  ];
}

async function* checkCampaigns(doctor: Doctor, restore: Restore): AsyncIterable<Finding> {
  const { backupAt, stoppedAt } = restore;
  const list = (batch: Batch) => listRestoredCampaigns(doctor.database, { ...batch, backupAt, stoppedAt });
  for await (const page of batches(batchSize, list, ({ id }) => id)) {
    for (const campaign of page) {
      const finding = await checkCampaign(doctor, restore, campaign);
      if (finding !== undefined) yield finding;
    }
  }
}

/** False for a campaign that was not yet due when sending stopped. */
const mayHaveBegun = (
  { started, scheduled_at: dueAt }: Pick<RestoredCampaignRow, 'started' | 'scheduled_at'>,
  { stoppedAt }: Pick<Restore, 'stoppedAt'>,
): boolean => started || dueAt === null || dueAt <= stoppedAt;

/** The last position that may have been sent to; 0 if nothing was sent. */
export function maybeSentUpTo(
  campaign: Pick<
    RestoredCampaignRow,
    'claimed_position' | 'last_position' | 'messages_per_second' | 'started' | 'scheduled_at'
  >,
  { backupAt, stoppedAt }: Pick<Restore, 'backupAt' | 'stoppedAt'>,
): number {
  if (!mayHaveBegun(campaign, { stoppedAt })) return 0;
  const seconds = Math.max(0, stoppedAt.getTime() - backupAt.getTime()) / second + marginSeconds;
  const reached = campaign.claimed_position + Math.ceil(seconds * campaign.messages_per_second);
  return Math.min(campaign.last_position, reached);
}

async function checkCampaign(
  doctor: Doctor,
  restore: Restore,
  campaign: RestoredCampaignRow,
): Promise<Finding | undefined> {
  const workflow = restore.temporalToo
    ? undefined
    : await doctor.workflows.describe(campaignWorkflowId(campaign.id));
  const isOver = workflow?.state === 'completed';
  const subject = { kind: 'sent-in-lost-time', id: campaign.id, fingerprint: '' };
  if (!campaign.prepared) {
    // The recipients were created after the backup; a new preparation gives them other ids and perhaps another order.
    if (!isOver && !mayHaveBegun(campaign, restore)) return undefined;
    return {
      ...subject,
      meaning:
        'the campaign was being prepared at the backup; it may have been prepared and sent since, and no record of its recipients is left',
      repair: {
        does: 'cancel the campaign, so that no recipient is sent to again',
        run: () => end(doctor.database, campaign.id, 'cancel'),
      },
    };
  }
  const upTo =
    campaign.up_to_position ?? (isOver ? campaign.last_position : maybeSentUpTo(campaign, restore));
  const isDone = campaign.up_to_position !== null && campaign.claimed_position >= upTo;
  if ((isDone || upTo === 0) && !isOver) return undefined;
  const status = isOver ? finalStatus(workflow.status) : undefined;
  return {
    ...subject,
    meaning:
      `the campaign is ${campaign.status} and may have been sending between ${restore.backupAt.toISOString()} and ` +
      `${restore.stoppedAt.toISOString()}: recipients up to position ${upTo} of ${campaign.last_position} may have been sent, ` +
      `the record knows of ${campaign.claimed_position}`,
    repair: {
      does:
        `pause the campaign and mark its PENDING recipients up to position ${upTo} UNKNOWN` +
        (status === undefined ? '' : `; end it as its workflow did: ${status}`),
      run: () => settleCampaign(doctor, restore, { campaign, upTo, status }),
    },
  };
}

/** The campaign's final status as its completed workflow published it. */
const finalStatus = (published: string | undefined) =>
  published === 'COMPLETED' ? 'COMPLETED' : 'CANCELLED';

interface MaybeSent {
  readonly campaign: RestoredCampaignRow;
  readonly upTo: number;
  /** How the campaign ended after the backup; undefined if it goes on. */
  readonly status: 'COMPLETED' | 'CANCELLED' | undefined;
}

async function settleCampaign(
  { database }: Doctor,
  { backupAt, stoppedAt }: Restore,
  { campaign, upTo, status }: MaybeSent,
): Promise<void> {
  await pauseRestored(database, campaign.id);
  const prices = await findPrices(database, campaign.channel_id, campaign.template_category);
  if (upTo > 0) {
    await markMaybeSent(database, {
      campaignId: campaign.id,
      backupAt,
      stoppedAt,
      upToPosition: upTo,
      prices,
    });
  }
  if (status === undefined) return;
  // Nobody will finish claims that were open at the backup: the workflow is closed, and all processes were stopped.
  await expireClaims(database, { campaignId: campaign.id, graceSeconds: 0 });
  await end(database, campaign.id, status === 'COMPLETED' ? 'complete' : 'cancel');
  if (status === 'CANCELLED')
    while ((await cancelPending(database, { campaignId: campaign.id, limit: 5_000 })) !== null);
}

/** Moves the campaign to its final status by the allowed transitions. */
function end(database: Doctor['database'], campaignId: string, last: 'cancel' | 'complete'): Promise<void> {
  return database.transaction(async (transaction) => {
    for (const action of last === 'cancel' ? [last] : (['resume', 'begin', last] as const)) {
      const campaign = await lockCampaign(transaction, campaignId);
      if (nextCampaignStatus(campaign.status, action) !== undefined)
        await moveCampaign(transaction, campaign, action);
    }
  });
}

async function* checkEvents({ database }: Doctor, { stoppedAt }: Restore): AsyncIterable<Finding> {
  const count = await countWaitingEvents(database, stoppedAt);
  if (count === 0) return;
  yield {
    kind: 'events-in-lost-time',
    id: 'events',
    fingerprint: '',
    meaning: `${count} events were waiting for their deliveries at the backup; they may have been delivered since`,
    repair: {
      does: 'write their deliveries as failed (interrupted), which can be sent again on request',
      run: async () => {
        while ((await interruptWaitingEvents(database, { stoppedAt, limit: eventsAtOnce })) > 0);
      },
    },
  };
}

async function* checkOpenDeliveries(
  doctor: Doctor,
  { stoppedAt, temporalToo }: Restore,
): AsyncIterable<Finding> {
  const list = (batch: Batch) => listOpenDeliveries(doctor.database, { ...batch, stoppedAt });
  for await (const page of batches(batchSize, list, (id) => id)) {
    for (const id of page) {
      const { state } = await doctor.workflows.describe(webhookDeliveryWorkflowId(id));
      // If Temporal was not restored, a delivery without a workflow was never attempted.
      if (state === 'absent' && !temporalToo) continue;
      yield {
        kind: 'delivery-in-lost-time',
        id,
        fingerprint: '',
        meaning: 'the delivery was open at the backup and may have been attempted since',
        // The workflow of a running delivery may have dialled before its worker stopped, or before Temporal was restored.
        repair: state === 'completed' && !temporalToo ? copyOutcome(doctor, id) : giveUp(doctor, id),
      };
    }
  }
}

const giveUp = ({ database }: Doctor, id: string): Repair => ({
  does: 'record it as failed (interrupted): no request will be made',
  run: () => failUndialled(database, id),
});

const copyOutcome = ({ database, workflows }: Doctor, id: string): Repair => ({
  does: 'record the outcome that its workflow returned',
  run: async () => {
    const result = await workflows.result(webhookDeliveryWorkflowId(id));
    await recordWorkflowOutcome(database, { id, errorCode: errorCodeOf(result) });
  },
});

function errorCodeOf(result: unknown): string | null {
  if (result === 'delivered') return null;
  const code = typeof result === 'string' ? result.replace(/^failed: /, '') : '';
  return webhookErrorCodes.find((known) => known === code) ?? 'interrupted';
}
