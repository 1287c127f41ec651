/**
 * Nothing hangs unseen: asks Temporal about campaigns that should move and do not, and does what `doctor --repair` does where
 * nobody has to decide. Any number of workers call it; one of them at a time has the turn.
 */
import { listOpenCampaigns, type CampaignToCheck } from '../../records/operations/doctor-campaigns.ts';
import {
  clearStandstills,
  endWatch,
  markStandstill,
  suspectCampaigns,
  takeSuspects,
  takeWatch,
} from '../../records/operations/standstill.ts';
import { judgeCampaign, type CampaignJudge } from './check-campaigns.ts';

const suspectsOfRound = 100;
const endedOfRound = 500;
const callsAtOnce = 8;
// Temporal's lists lag behind, and a worker's clock may be off.
const overlapMs = 300_000;
const firstLookMs = 86_400_000;
const settledSeconds = 15;
const safeRepairs = new Set(['campaign-without-workflow', 'workflow-behind-record', 'campaign-overdue']);

/** True when this process had the turn. */
export async function watchCampaigns(judge: CampaignJudge): Promise<boolean> {
  const { database } = judge;
  const startedAt = judge.now();
  const turn = await takeWatch(database);
  if (turn === undefined) return false;
  await suspectCampaigns(database);
  const since =
    turn.lookedAt === null ? startedAt.getTime() - firstLookMs : turn.lookedAt.getTime() - overlapMs;
  const ended = await listEnded(judge, new Date(since));
  const ids = [...new Set([...ended, ...(await takeSuspects(database, suspectsOfRound))])];
  const open = await listOpenCampaigns(database, { ids, settledSeconds });
  const found = new Set<string>();
  for (let first = 0; first < open.length; first += callsAtOnce) {
    const group = open.slice(first, first + callsAtOnce);
    const standing = await Promise.all(group.map((campaign) => lookAt(judge, campaign)));
    for (const [index, stands] of standing.entries()) if (stands) found.add(group[index]?.id ?? '');
  }
  await clearStandstills(
    database,
    ids.filter((id) => !found.has(id)),
  );
  await endWatch(database, startedAt);
  return true;
}

/** Campaigns whose workflow was terminated or failed: rare, unlike those that have ended well. */
async function listEnded({ workflows }: CampaignJudge, since: Date): Promise<readonly string[]> {
  const condition = `ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut') AND CloseTime > '${since.toISOString()}'`;
  const ids: string[] = [];
  for await (const page of workflows.list('campaign', condition)) {
    ids.push(...page);
    if (ids.length >= endedOfRound) break;
  }
  return ids;
}

/** True when its workflow is missing or cannot go on. */
async function lookAt(judge: CampaignJudge, campaign: CampaignToCheck): Promise<boolean> {
  const { database, logger } = judge;
  const campaignId = campaign.id;
  let stands = false;
  for (const { kind, meaning, repair } of await judgeCampaign(judge, campaign)) {
    if (kind === 'workflow-stuck' || kind === 'campaign-without-workflow') {
      stands = true;
      const standstill = kind === 'workflow-stuck' ? 'stuck' : 'without_workflow';
      const news = await markStandstill(database, campaignId, standstill);
      if (news) logger.error({ campaignId, kind, meaning }, 'campaign stands still');
    }
    if (repair === undefined || !safeRepairs.has(kind)) continue;
    await repair.run();
    logger.warn({ campaignId, kind, repair: repair.does }, 'campaign mended');
  }
  return stands;
}
