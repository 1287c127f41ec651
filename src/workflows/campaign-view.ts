/** What operators read in the Temporal Web UI: pure text of a campaign's standing. No names, no numbers of people. */
import type { WaitingReason } from '../domain/campaigns/campaign.ts';
import type { CampaignStanding } from '../domain/campaigns/snapshot.ts';

/** Markdown for the workflow's current details. */
export function describeStanding(standing: CampaignStanding | undefined): string {
  if (standing === undefined) return `**waits ${waits.PREPARATION}**`;
  const { counts } = standing;
  const lines = [`**${headline(standing)}**`];
  if (standing.prepared) {
    lines.push(
      `- prepared ${counts.total}, skipped ${counts.skipped}`,
      `- sent ${counts.accepted} of ${counts.total}, failed ${counts.failed}, unknown ${counts.unknown}`,
      `- waiting ${counts.pending}, on the way ${counts.claimed}`,
    );
  }
  return lines.join('\n');
}

function headline(standing: CampaignStanding): string {
  const { status, pauseReason, prepared, preparationError, scheduledAt } = standing;
  if (preparationError !== null) return `FAILED in preparation: ${preparationError}`;
  if (pauseReason !== null) return `PAUSED because ${pauseReason}; signal \`resume\` continues`;
  if (!prepared) return `${status}, waits ${waits.PREPARATION}`;
  if (status === 'SCHEDULED') return `SCHEDULED for ${scheduledAt ?? 'now'}`;
  const wait = describeWait(standing);
  return wait === undefined ? status : `${status}, waits ${wait}`;
}

const waits: Readonly<Record<WaitingReason, string>> = {
  TURN: 'for its turn on the channel',
  CHANNEL_TROUBLE: 'until the provider answers the channel again',
  CHANNEL_THROTTLE: 'because the provider asked for silence',
  MESSAGING_LIMIT: 'until the messaging limit has room',
  PREPARATION: 'for its audience to be prepared',
  QUEUED: 'for a worker: all of them are busy',
  WORKFLOW_STUCK: 'for its workflow, which is stuck',
};

/** What a RUNNING campaign waits for, also as the summary of its timer; undefined while it sends. */
export function describeWait({ waitingFor, waitingUntil }: CampaignStanding): string | undefined {
  if (waitingFor === undefined || waitingFor === null) return undefined;
  return `${waits[waitingFor]}${typeof waitingUntil === 'string' ? `, ${waitingUntil}` : ''}`;
}
