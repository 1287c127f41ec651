/** Campaigns of the drill; each has its own numbers, so that the provider's list can be split by campaign. */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { withClient } from '../evidence.ts';
import type { CampaignRecord } from '../../demo/campaign.ts';
import type { Progress } from '../../stack/progress.ts';
import { StackError } from '../../stack/error.ts';
import { createCampaign, type NewRehearsedCampaign, type RehearsedCampaign } from '../create-campaign.ts';
import type { DrillStack } from './stack.ts';

export type DrillCampaign = RehearsedCampaign;

export const createDrillCampaign = (
  { api, templateId }: DrillStack,
  campaign: Omit<NewRehearsedCampaign, 'templateId'>,
): Promise<DrillCampaign> => createCampaign(api, { ...campaign, templateId });

export async function readCampaign({ api }: DrillStack, { id }: DrillCampaign): Promise<CampaignRecord> {
  return (await api.get(`/api/campaigns/${id}`)).data as CampaignRecord;
}

export async function untilCampaign(
  stack: DrillStack,
  campaign: DrillCampaign,
  reached: (record: CampaignRecord) => boolean,
  withinSeconds = 180,
): Promise<CampaignRecord> {
  for (const until = performance.now() + withinSeconds * 1000; ;) {
    const record = await readCampaign(stack, campaign);
    if (reached(record)) return record;
    if (performance.now() > until)
      throw new StackError(`${campaign.name} stands at ${record.status} ${JSON.stringify(record.counters)}`);
    await sleep(200);
  }
}

/** How often the provider took a message to a number. */
export async function providerCounts({ providerUrl }: DrillStack): Promise<ReadonlyMap<string, number>> {
  const { body } = await request(`${new URL(providerUrl).origin}/_simulator/recipients`);
  const lines = (await body.text()).split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.split(',')[0] ?? '', Number(line.split(',')[1])] as const));
}

export interface Tally {
  readonly recipients: number;
  readonly takenOnce: number;
  readonly takenTwice: number;
  /** UNKNOWN recipients: those whose message the provider accepted, and the others. */
  readonly unknownTaken: number;
  readonly unknownNotTaken: number;
  /** PENDING in the record although the provider accepted their message: they would be sent to twice. */
  readonly pendingTaken: number;
  /** ACCEPTED in the record although the provider never received their message. */
  readonly acceptedNotTaken: number;
}

export function tally(
  stack: DrillStack,
  campaign: DrillCampaign,
  taken: ReadonlyMap<string, number>,
): Promise<Tally> {
  return withClient(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<{ phone_number: string; state: string }>(
      'SELECT phone_number, state FROM recipient WHERE campaign_id = $1 AND sendable',
      [campaign.id],
    );
    const stateOf = new Map(rows.map((row) => [row.phone_number, row.state]));
    const count = (matches: (state: string, taken: number) => boolean): number =>
      campaign.numbers.filter((digits) => matches(stateOf.get(digits) ?? '', taken.get(digits) ?? 0)).length;
    return {
      recipients: campaign.numbers.length,
      takenOnce: count((_, times) => times === 1),
      takenTwice: count((_, times) => times > 1),
      unknownTaken: count((state, times) => state === 'UNKNOWN' && times > 0),
      unknownNotTaken: count((state, times) => state === 'UNKNOWN' && times === 0),
      pendingTaken: count((state, times) => state === 'PENDING' && times > 0),
      acceptedNotTaken: count(
        (state, times) => ['ACCEPTED', 'SENT', 'DELIVERED', 'READ'].includes(state) && times === 0,
      ),
    };
  });
}

/** Compares a campaign's final state with the provider's list. */
export async function compareCampaign(
  stack: DrillStack,
  { campaign, taken, progress }: Verdict,
): Promise<{ readonly end: Tally; readonly problems: readonly string[] }> {
  const end = await tally(stack, campaign, taken);
  const { status, counters } = await readCampaign(stack, campaign);
  progress.say(
    `${campaign.name}: ${status} ${JSON.stringify(nonZero(counters))}; ${JSON.stringify(nonZero(end))}`,
  );
  const problems: string[] = [];
  if (end.takenTwice > 0) problems.push(`${end.takenTwice} of "${campaign.name}" were sent twice`);
  if (end.acceptedNotTaken > 0)
    problems.push(`${end.acceptedNotTaken} of "${campaign.name}" were never sent`);
  return { end, problems };
}

interface Verdict {
  readonly campaign: DrillCampaign;
  /** How often the provider took a message to a number. */
  readonly taken: ReadonlyMap<string, number>;
  readonly progress: Progress;
}

function nonZero(counts: object): object {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}
