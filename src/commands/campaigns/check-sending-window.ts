/** Checks the sending window of a new campaign, and warns when it delays the start. */
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import type { SendingWindow } from '../../domain/campaigns/sending-window.ts';
import type { FieldProblem } from '../../domain/error.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import type { CampaignContext } from '../../records/campaigns/creation-context.ts';
import { quietHoursRefusal } from './edit-campaign.ts';

/** Quiet hours belong to the workspace: only an operator may exempt a campaign from them. */
export function exceptionProblems(body: CreateCampaign, { scope }: Principal): readonly FieldProblem[] {
  if (body.ignore_quiet_hours !== true || scope === 'operator') return [];
  return [{ field: 'ignore_quiet_hours', message: quietHoursRefusal }];
}

/** Windows that must all be open for the campaign to send: its own, and the workspace's quiet hours for MARKETING templates. */
export function windowsOf(
  { quietHours }: Pick<CampaignContext, 'quietHours'>,
  { category }: { readonly category: string },
  { sending_window: own, ignore_quiet_hours: ignores }: CreateCampaign,
): readonly SendingWindow[] {
  const inherited = category === 'MARKETING' && ignores !== true ? quietHours : null;
  return [own ?? null, inherited].filter((window) => window !== null);
}

/** Warns with the actual start of sending when the windows delay it. */
export function windowWarnings(scheduledAt: Date | null, opensAt: Date, now: Date): readonly FieldProblem[] {
  if (opensAt.getTime() === (scheduledAt ?? now).getTime()) return [];
  const when = `sending begins at ${opensAt.toISOString()}`;
  return scheduledAt === null
    ? [{ field: 'sending_window', message: `The sending window is closed now: ${when}` }]
    : [{ field: 'scheduled_at', message: `scheduled_at is outside the sending window: ${when}` }];
}
