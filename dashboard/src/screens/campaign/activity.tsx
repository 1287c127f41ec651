/** The audit log of one campaign: actions of API keys and admin commands. */
import { getRouteApi } from '@tanstack/react-router';
import { AuditOfObject } from '../activity/audit.tsx';
import { CampaignPart } from './frame.tsx';

const route = getRouteApi('/inside/campaigns/$id/activity');

export function CampaignActivity() {
  const { id } = route.useParams();
  return (
    <CampaignPart id={id} title="Activity">
      <AuditOfObject id={id} />
    </CampaignPart>
  );
}
