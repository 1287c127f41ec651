/**
 * After a restore of Postgres, alone or together with Temporal: a recipient who may have been sent to after the backup is not
 * sent to again. What Temporal's histories prove is used; everything else becomes UNKNOWN.
 */
import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import { cancelPending, lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import {
  countWaitingEvents,
  interruptWaitingEvents,
  listOpenDeliveries,
  listRestoredCampaigns,
  markMaybeSent,
  type RestoredCampaignRow,
} from '../../records/operations/doctor-restore.ts';
import type { Batch } from '../../records/operations/doctor-campaigns.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { campaignWorkflowId, webhookDeliveryWorkflowId } from '../../workflows/contract.ts';
import type { CampaignHistory } from './campaign-history.ts';
import { pauseRestored } from './check-campaigns.ts';
import { settleDelivery } from './check-deliveries.ts';
import { batches, type Check, type Doctor, type Finding } from './check.ts';
import { marginSeconds, mayBeClaimedUpTo, mayHaveBegun, type LostTime } from './lost-time.ts';

export interface Restore extends LostTime {
  /** Temporal was restored or lost as well: its histories do not show what happened after the backup. */
  readonly temporalToo: boolean;
}

/**
 * Whether Temporal recorded anything in the lost time. False after a restore of both databases, and on an installation where
 * nothing happened: the operator has to say which.
 */
export async function temporalSawLostTime(
  doctor: Doctor,
  { backupAt, stoppedAt }: LostTime,
): Promise<boolean> {
  const from = new Date(backupAt.getTime() + marginSeconds * 1_000);
  if (from >= stoppedAt) return false;
  if (await doctor.workflows.hasActivityBetween(from, stoppedAt)) return true;
  const list = (batch: Batch) => listRestoredCampaigns(doctor.database, { ...batch, backupAt, stoppedAt });
  for await (const page of batches(batchSize, list, ({ id }) => id)) {
    for (const { id } of page) {
      const lastEventAt = (await doctor.workflows.campaignHistory(id, stoppedAt))?.lastEventAt;
      if (lastEventAt !== undefined && lastEventAt > from) return true;
    }
  }
  return false;
}

const batchSize = 200;
const eventsAtOnce = 5_000;

/** The checks that come before all others after a restore. */
export function lostTimeChecks(restore: Restore): readonly Check[] {
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

async function checkCampaign(
  doctor: Doctor,
  restore: Restore,
  campaign: RestoredCampaignRow,
): Promise<Finding | undefined> {
  const { state } = await doctor.workflows.describe(campaignWorkflowId(campaign.id));
  const known = state !== 'absent' && !restore.temporalToo;
  const over = known && state === 'completed';
  // A closed workflow's history is complete; otherwise it is read up to the stop, because later steps may have ended on the
  // restored record.
  const at = over ? undefined : restore.stoppedAt;
  const history = known ? await doctor.workflows.campaignHistory(campaign.id, at) : undefined;
  const noted = campaign.up_to_position;
  const upTo = Math.min(campaign.last_position, noted ?? mayBeClaimedUpTo(campaign, history, restore) ?? -1);
  if (!campaign.prepared)
    return restore.temporalToo
      ? checkPreparing(doctor, restore, campaign)
      : checkUnprepared(doctor, { campaign, history, over });
  // Done for this backup before, or surely nothing was sent.
  if ((noted !== null && campaign.claimed_position >= noted && !over) || (upTo < 0 && !over))
    return undefined;
  const settle = over ? `; end it as its workflow did: ${history?.snapshot?.status ?? 'over'}` : '';
  return {
    kind: 'sent-in-lost-time',
    id: campaign.id,
    fingerprint: '',
    meaning:
      `the campaign is ${campaign.status} and was sending between ${restore.backupAt.toISOString()} and ` +
      `${restore.stoppedAt.toISOString()}: recipients up to position ${upTo} of ${campaign.last_position} may have been sent, ` +
      `the record knows of ${campaign.claimed_position}`,
    repair: {
      does: `pause the campaign and mark its PENDING recipients up to position ${upTo} UNKNOWN${settle}`,
      run: () => settleCampaign(doctor, restore, { campaign, upTo, history, over }),
    },
  };
}

interface CheckedCampaign {
  readonly campaign: RestoredCampaignRow;
  readonly history: CampaignHistory | undefined;
  readonly over: boolean;
}

/** The recipients were created in the lost time: a new preparation gives them other ids and perhaps another order. */
function checkUnprepared(
  { database }: Doctor,
  { campaign, history, over }: CheckedCampaign,
): Finding | undefined {
  const sent = over || (history?.claimedPosition ?? 0) > 0 || history?.lastStepAt !== undefined;
  if (!sent) return undefined;
  return {
    kind: 'sent-in-lost-time',
    id: campaign.id,
    fingerprint: '',
    meaning:
      'the campaign was prepared and sent in the lost time, and no record of its recipients is left; ' +
      `its workflow knows of ${history?.snapshot?.counts.accepted ?? 0} that were accepted`,
    repair: {
      does: 'cancel the campaign, so that no recipient is sent to again',
      run: () => end(database, campaign.id, 'cancel'),
    },
  };
}

/** Without Temporal's history only the schedule shows whether a campaign that was being prepared can have been sent. */
function checkPreparing(
  { database }: Doctor,
  restore: Restore,
  campaign: RestoredCampaignRow,
): Finding | undefined {
  if (!mayHaveBegun(campaign, restore)) return undefined;
  return {
    kind: 'sent-in-lost-time',
    id: campaign.id,
    fingerprint: '',
    meaning:
      'the campaign was being prepared at the backup; it may have been prepared and sent since, and no record of its recipients is left',
    repair: {
      does: 'cancel the campaign, so that no recipient is sent to again',
      run: () => end(database, campaign.id, 'cancel'),
    },
  };
}

async function settleCampaign(
  doctor: Doctor,
  { backupAt, stoppedAt }: Restore,
  { campaign, upTo, history, over }: CheckedCampaign & { readonly upTo: number },
): Promise<void> {
  const { database } = doctor;
  await pauseRestored(database, campaign.id);
  const prices = await findPrices(database, campaign.workspace_id, campaign.template_category);
  if (upTo > 0) {
    await markMaybeSent(database, {
      campaignId: campaign.id,
      backupAt,
      stoppedAt,
      upToPosition: upTo,
      prices,
    });
  }
  if (!over) return;
  // Claims that were open at the backup: no step of a closed workflow settles them, and all processes were stopped.
  await expireClaims(database, { campaignId: campaign.id, graceSeconds: 0 });
  const cancelled = history?.snapshot?.status !== 'COMPLETED';
  await end(database, campaign.id, cancelled ? 'cancel' : 'complete');
  if (cancelled) await cancelTheRest(database, campaign.id);
}

async function cancelTheRest(database: Doctor['database'], campaignId: string): Promise<void> {
  while ((await cancelPending(database, { campaignId, limit: 5_000 })) !== null);
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
      // The workflow of a running delivery may have dialled before its worker stopped, or before Temporal was restored.
      const known = state === 'completed' && !temporalToo;
      yield {
        kind: 'delivery-in-lost-time',
        id,
        fingerprint: '',
        meaning: 'the delivery was open at the backup and may have been attempted since',
        repair: settleDelivery(doctor, id, known ? 'completed' : 'ended'),
      };
    }
  }
}
