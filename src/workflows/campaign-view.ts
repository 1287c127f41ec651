/** What operators read in the Temporal Web UI: pure text of a campaign's standing. No names, no numbers of people. */
import type { CampaignStanding } from '../domain/campaigns/standing.ts';

/** Markdown for the workflow's current details. */
export function describeStanding(standing: CampaignStanding): string {
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

function headline({
  status,
  pauseReason,
  prepared,
  preparationError,
  scheduledAt,
}: CampaignStanding): string {
  if (preparationError !== null) return `FAILED in preparation: ${preparationError}`;
  if (pauseReason !== null) return `PAUSED because ${pauseReason}; signal \`resume\` continues`;
  if (!prepared) return `${status}, preparing`;
  if (status === 'SCHEDULED') return `SCHEDULED for ${scheduledAt ?? 'now'}`;
  return status;
}
