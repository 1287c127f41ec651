/** A campaign's snapshot as text for the Temporal Web UI. No names, no phone numbers. */
import type { WaitingReason } from '../domain/campaigns/campaign.ts';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';

/** Markdown for the workflow's current details. */
export function describeSnapshot(snapshot: CampaignSnapshot | undefined): string {
  if (snapshot === undefined) return `**waits ${waits.PREPARATION}**`;
  const { counts } = snapshot;
  const lines = [`**${headline(snapshot)}**`];
  if (snapshot.prepared) {
    lines.push(
      `- prepared ${counts.total}, skipped ${counts.skipped}`,
      `- sent ${counts.accepted} of ${counts.total}, failed ${counts.failed}, unknown ${counts.unknown}`,
      `- pending ${counts.pending}, claimed ${counts.claimed}`,
    );
  }
  return lines.join('\n');
}

function headline(snapshot: CampaignSnapshot): string {
  const { status, pauseReason, prepared, preparationError, scheduledAt } = snapshot;
  if (preparationError !== null) return `FAILED in preparation: ${preparationError}`;
  if (pauseReason !== null) return `PAUSED because ${pauseReason}; signal \`resume\` continues`;
  if (!prepared) return `${status}, waits ${waits.PREPARATION}`;
  if (status === 'SCHEDULED') return `SCHEDULED for ${scheduledAt ?? 'now'}`;
  const wait = describeWait(snapshot);
  return wait === undefined ? status : `${status}, waits ${wait}`;
}

const waits: Readonly<Record<WaitingReason, string>> = {
  TURN: 'for its turn on the channel',
  CHANNEL_TROUBLE: 'until the provider answers the channel again',
  CHANNEL_THROTTLE: 'because the provider asked for silence',
  MESSAGING_LIMIT: 'until the messaging limit allows further recipients',
  SENDING_WINDOW: 'for its sending window to open',
  PREPARATION: 'for its audience to be prepared',
  QUEUED: 'for a worker: all of them are busy',
  WORKFLOW_STUCK: 'for its workflow, which is stuck',
};

/** Describes why a RUNNING campaign waits, for the summary of its timer; undefined while it sends. */
export function describeWait({ waitingFor, waitingUntil }: CampaignSnapshot): string | undefined {
  if (waitingFor === null) return undefined;
  return `${waits[waitingFor]}${waitingUntil === null ? '' : `, ${waitingUntil}`}`;
}
