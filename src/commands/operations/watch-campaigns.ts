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
/** One line a poll, however many campaigns it is about; the others are in `find-campaigns`. */
const mostLogged = 10;
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
  const seen: Sighting = { standing: new Set(), news: [], repaired: [] };
  for (let first = 0; first < open.length; first += callsAtOnce) {
    const group = open.slice(first, first + callsAtOnce);
    await Promise.all(group.map((campaign) => lookAt(judge, campaign, seen)));
  }
  const { news, repaired, standing } = seen;
  if (news.length > 0)
    judge.logger.error({ count: news.length, campaigns: news.slice(0, mostLogged) }, 'campaigns stand still');
  if (repaired.length > 0)
    judge.logger.warn(
      { count: repaired.length, campaigns: repaired.slice(0, mostLogged) },
      'campaigns repaired',
    );
  await clearStandstills(
    database,
    ids.filter((id) => !standing.has(id)),
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

/** What one poll found; `news`: standstills that no poll before had found. */
interface Sighting {
  readonly standing: Set<string>;
  readonly news: { readonly campaignId: string; readonly kind: string; readonly meaning: string }[];
  readonly repaired: { readonly campaignId: string; readonly kind: string; readonly repair: string }[];
}

const standstillOf: Readonly<Record<string, 'stuck' | 'without_workflow' | 'queued'>> = {
  'workflow-stuck': 'stuck',
  'campaign-without-workflow': 'without_workflow',
  'workflow-queued': 'queued',
};

async function lookAt(judge: CampaignJudge, campaign: CampaignToCheck, seen: Sighting): Promise<void> {
  const campaignId = campaign.id;
  for (const { kind, meaning, repair } of await judgeCampaign(judge, campaign)) {
    const standstill = standstillOf[kind];
    if (standstill !== undefined) {
      seen.standing.add(campaignId);
      const isNew = await markStandstill(judge.database, campaignId, standstill);
      // A backlog behind living workers needs no repair.
      if (isNew && standstill !== 'queued') seen.news.push({ campaignId, kind, meaning });
    }
    if (repair === undefined || !safeRepairs.has(kind)) continue;
    await repair.run();
    seen.repaired.push({ campaignId, kind, repair: repair.does });
  }
}
