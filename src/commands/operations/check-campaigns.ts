/** Compares campaigns with their workflows, and workflows with their campaigns. */
import { campaignStatuses, isFinished, nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import { lockCampaign, moveCampaignAndNotify } from '../../records/campaigns/lifecycle.ts';
import {
  findCampaignStates,
  listOpenCampaigns,
  type CampaignToCheck,
  type Selection,
} from '../../records/operations/doctor-campaigns.ts';
import { campaignWorkflowId } from '../../workflows/contract.ts';
import { batches, type Check, checkBooks, type Doctor, type Finding } from './doctor.ts';

const batchSize = 200;
const callsAtOnce = 8;
const isRunning = `ExecutionStatus = 'Running'`;

/** Every campaign that is not finished has one running workflow, which is not ahead of its record and knows its status. */
async function* checkOpenCampaigns(doctor: Doctor, again?: readonly string[]): AsyncIterable<Finding> {
  const list = (selection: Selection) =>
    listOpenCampaigns(doctor.database, { ...selection, settledSeconds: doctor.slackSeconds });
  const pages = again === undefined ? batches(batchSize, list, ({ id }) => id) : [await list({ ids: again })];
  for await (const page of pages) {
    for (let first = 0; first < page.length; first += callsAtOnce) {
      const group = page.slice(first, first + callsAtOnce);
      const found = (await Promise.all(group.map((campaign) => compareCampaign(doctor, campaign)))).flat();
      yield* found.filter(({ kind }) => kind !== 'workflow-queued');
    }
  }
}

export type CampaignChecker = Pick<Doctor, 'database' | 'orchestrator' | 'workflows'>;

/** Compares an unfinished campaign with its workflow. */
export async function compareCampaign(
  doctor: CampaignChecker,
  campaign: CampaignToCheck,
): Promise<readonly Finding[]> {
  const workflow = await doctor.workflows.describe(campaignWorkflowId(campaign.id));
  const subject = { id: campaign.id, fingerprint: `${campaign.status} ${campaign.epoch} ${workflow.state}` };
  if (workflow.state === 'completed') {
    const fingerprint = `${subject.fingerprint} ${campaign.claimed_position}`;
    return [{ ...subject, fingerprint, ...behindWorkflow(doctor, campaign) }];
  }
  if (workflow.state !== 'running') {
    const how =
      workflow.state === 'absent' ? 'has no workflow' : 'has a workflow that was ended by hand or failed';
    return [
      {
        ...subject,
        kind: 'campaign-without-workflow',
        meaning: `the campaign is ${campaign.status} and ${how}: nothing will happen to it`,
        repair: {
          does: `start workflow ${campaignWorkflowId(campaign.id)}, which goes on from the record`,
          run: () => startAgain(doctor, campaign),
        },
      },
    ];
  }
  if (workflow.stuck !== undefined && workflow.unreplayable === true)
    return [{ ...subject, ...beginAnew(doctor, campaign) }];
  if (workflow.failing !== undefined) {
    const meaning = `the campaign is ${campaign.status} and ${workflow.failing}`;
    return [{ ...subject, kind: 'step-failing', meaning }];
  }
  if (workflow.stuck !== undefined) {
    const meaning = `the campaign is ${campaign.status} and ${workflow.stuck}`;
    return [{ ...subject, kind: 'workflow-stuck', meaning }];
  }
  if (workflow.queued === true) {
    const meaning = `the campaign is ${campaign.status} and its next step waits for a worker`;
    return [{ ...subject, kind: 'workflow-queued', meaning }];
  }
  // A workflow publishes no status until its preparation is over, and a step may wait for the provider before it ends.
  if (!campaign.prepared || !campaign.settled) return [];
  const lookAgain = {
    does: 'signal the workflow to read its record',
    run: () => doctor.orchestrator.refreshCampaign(campaign.id),
  };
  const shown = workflow.status ?? campaign.status;
  if (shown === campaign.status && (workflow.pauseReason ?? null) === campaign.pause_reason) {
    const meaning = 'the campaign is due and has not begun';
    return campaign.overdue ? [{ ...subject, kind: 'campaign-overdue', meaning, repair: lookAgain }] : [];
  }
  return [
    {
      ...subject,
      fingerprint: `${subject.fingerprint} ${shown} ${workflow.pauseReason ?? ''}`,
      kind: 'workflow-behind-record',
      meaning: `the campaign is ${campaign.status}, its workflow still says ${shown}: a signal was lost, or no worker runs`,
      repair: lookAgain,
    },
  ];
}

function startAgain({ workflows }: CampaignChecker, campaign: CampaignToCheck): Promise<void> {
  const { id, workspace_id: workspaceId, name } = campaign;
  return workflows.startCampaignAgain({ id, workspaceId, name });
}

/** Restarts a workflow that no build can replay. The new one begins from the record, not from the history. */
function beginAnew(
  checker: CampaignChecker,
  campaign: CampaignToCheck,
): Pick<Finding, 'kind' | 'meaning' | 'repair'> {
  const workflowId = campaignWorkflowId(campaign.id);
  return {
    kind: 'workflow-not-replayable',
    meaning: `the campaign is ${campaign.status} and the code of the workers has not been able to replay its workflow for a minute`,
    repair: {
      does: `terminate workflow ${workflowId} and start it again from the record`,
      run: async () => {
        await checker.workflows.terminate(workflowId, 'its history cannot be replayed by this build');
        await startAgain(checker, campaign);
      },
    },
  };
}

/** The workflow has completed but the record has not: Postgres was restored to an earlier time. */
function behindWorkflow(
  { database }: CampaignChecker,
  campaign: CampaignToCheck,
): Pick<Finding, 'kind' | 'meaning' | 'repair'> {
  const kind = 'record-behind-workflow';
  const meaning =
    `the campaign is ${campaign.status}, but its workflow has completed: the database was restored from a backup; ` +
    'run doctor with --backup-at and --stopped-at before it is started again';
  if (nextCampaignStatus(campaign.status, 'pause') === undefined) return { kind, meaning };
  return {
    kind,
    meaning,
    repair: {
      does: 'pause the campaign; --backup-at and --stopped-at settle the recipients that may have been sent to',
      run: () => pauseRestored(database, campaign.id),
    },
  };
}

/** Does nothing if the campaign cannot be paused. */
export function pauseRestored(database: Doctor['database'], campaignId: string): Promise<void> {
  return database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (nextCampaignStatus(campaign.status, 'pause') === undefined) return;
    await moveCampaignAndNotify(transaction, campaign, 'pause', 'RECORD_RESTORED');
  });
}

const finished = campaignStatuses.filter(isFinished);

/** Every running campaign workflow has a campaign that is not finished. */
async function* checkCampaignWorkflows(doctor: Doctor, again?: readonly string[]): AsyncIterable<Finding> {
  const pages = again === undefined ? doctor.workflows.listCampaigns(isRunning) : [again];
  for await (const ids of pages) {
    const states = new Map(
      (await findCampaignStates(doctor.database, { ids, finished, seconds: doctor.slackSeconds })).map(
        (state) => [state.id, state],
      ),
    );
    for (const id of ids) {
      const state = states.get(id);
      if (state !== undefined && (!state.finished || !state.settled)) continue;
      // The list lags behind, so the workflow may have ended a moment ago.
      if ((await doctor.workflows.describe(campaignWorkflowId(id))).state !== 'running') continue;
      yield state === undefined ? withoutCampaign(doctor, id) : afterTheEnd(doctor, state);
    }
  }
}

function withoutCampaign({ workflows }: Doctor, id: string): Finding {
  return {
    kind: 'workflow-without-campaign',
    id,
    fingerprint: '',
    meaning: `workflow ${campaignWorkflowId(id)} runs for a campaign that has no record: it was created after the backup, or deleted`,
    repair: {
      does: 'terminate the workflow',
      run: () => workflows.terminate(campaignWorkflowId(id), 'doctor: the campaign has no record'),
    },
  };
}

function afterTheEnd(
  { orchestrator }: Doctor,
  { id, fingerprint }: { readonly id: string; readonly fingerprint: string },
): Finding {
  return {
    kind: 'finished-campaign-with-workflow',
    id,
    fingerprint,
    meaning: `the campaign is over (${fingerprint.split(' ')[0]}) and its workflow still runs`,
    repair: {
      does: 'signal the workflow to read its record, and thereby to end',
      run: () => orchestrator.refreshCampaign(id),
    },
  };
}

export const everyCheck: readonly Check[] = [checkOpenCampaigns, checkCampaignWorkflows, checkBooks];
