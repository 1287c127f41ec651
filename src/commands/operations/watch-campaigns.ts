/**
 * Finds campaigns that should make progress and do not, asks Temporal about them, and makes the repairs of `doctor --repair`
 * that need no human decision. Every worker calls it; the row in `campaign_watch` lets one at a time do the check.
 */
import { listOpenCampaigns, type CampaignToCheck } from '../../records/operations/doctor-campaigns.ts';
import {
  clearStandstills,
  endWatch,
  markStandstill,
  suspectCampaigns,
  takeSuspects,
  takeWatch,
  type Standstill,
} from '../../records/operations/standstill.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { compareCampaign, type CampaignChecker } from './check-campaigns.ts';

const mostSuspects = 100;
const mostEnded = 500;
const callsAtOnce = 8;
/** A poll logs one line with at most this many campaigns; `find-campaigns` lists all. */
const mostLogged = 10;
// 5 min: Temporal's lists lag behind, and its clock may differ from Postgres'.
const overlapMs = 300_000;
const firstPeriodMs = 86_400_000;
const settledSeconds = 15;
const safeRepairs = new Set([
  'campaign-without-workflow',
  'workflow-behind-record',
  'campaign-overdue',
  'workflow-not-replayable',
]);

/** Returns true if this process did the check. */
export async function watchCampaigns(
  checker: CampaignChecker & { readonly logger: Logger },
): Promise<boolean> {
  const { database } = checker;
  const watch = await takeWatch(database);
  if (watch === undefined) return false;
  await suspectCampaigns(database);
  const { lookedAt, startedAt } = watch;
  const since =
    lookedAt === null
      ? startedAt.getTime() - firstPeriodMs
      : Math.min(lookedAt.getTime(), startedAt.getTime()) - overlapMs;
  const ended = await listEnded(checker, new Date(since));
  const ids = [...new Set([...ended, ...(await takeSuspects(database, mostSuspects))])];
  const open = await listOpenCampaigns(database, { ids, settledSeconds });
  const result: CheckResult = { stalledIds: new Set(), news: [], repaired: [] };
  for (let first = 0; first < open.length; first += callsAtOnce) {
    const group = open.slice(first, first + callsAtOnce);
    await Promise.all(group.map((campaign) => checkCampaign(checker, campaign, result)));
  }
  const { news, repaired, stalledIds } = result;
  if (news.length > 0)
    checker.logger.error(
      { count: news.length, campaigns: news.slice(0, mostLogged) },
      'campaigns stand still',
    );
  if (repaired.length > 0)
    checker.logger.warn(
      { count: repaired.length, campaigns: repaired.slice(0, mostLogged) },
      'campaigns repaired',
    );
  await clearStandstills(
    database,
    ids.filter((id) => !stalledIds.has(id)),
  );
  await endWatch(database, startedAt);
  return true;
}

/** Lists campaigns whose workflow was terminated, failed or timed out: few, unlike those that completed. */
async function listEnded({ workflows }: CampaignChecker, since: Date): Promise<readonly string[]> {
  const condition = `ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut') AND CloseTime > '${since.toISOString()}'`;
  const ids: string[] = [];
  for await (const page of workflows.listCampaigns(condition)) {
    ids.push(...page);
    if (ids.length >= mostEnded) break;
  }
  return ids;
}

/** The results of one check; `news` has the stalled campaigns that no earlier check recorded. */
interface CheckResult {
  readonly stalledIds: Set<string>;
  readonly news: { readonly campaignId: string; readonly kind: string; readonly meaning: string }[];
  readonly repaired: { readonly campaignId: string; readonly kind: string; readonly repair: string }[];
}

const standstillOf: Readonly<Record<string, Standstill>> = {
  'workflow-stuck': 'stuck',
  'campaign-without-workflow': 'without_workflow',
  'workflow-not-replayable': 'stuck',
  'step-failing': 'failing',
  'workflow-queued': 'queued',
};

async function checkCampaign(
  checker: CampaignChecker,
  campaign: CampaignToCheck,
  result: CheckResult,
): Promise<void> {
  const campaignId = campaign.id;
  for (const { kind, meaning, repair } of await compareCampaign(checker, campaign)) {
    const standstill = standstillOf[kind];
    if (standstill !== undefined) {
      result.stalledIds.add(campaignId);
      const isNew = await markStandstill(checker.database, campaignId, standstill);
      // A queued task is not reported: workers are running and will take it.
      if (isNew && standstill !== 'queued') result.news.push({ campaignId, kind, meaning });
    }
    if (repair === undefined || !safeRepairs.has(kind)) continue;
    await repair.run();
    result.repaired.push({ campaignId, kind, repair: repair.does });
  }
}
