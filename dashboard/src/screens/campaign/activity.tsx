/** The audit log of one campaign: actions of API keys and admin commands. */
import { getRouteApi } from '@tanstack/react-router';
import { Screen } from '../../parts/display/screen.tsx';
import { AuditOfObject } from '../activity/audit.tsx';
import { useCampaignPath } from './path.tsx';
import { CampaignTabs } from './tabs.tsx';

const route = getRouteApi('/inside/campaigns/$id/activity');

export function CampaignActivity() {
  const { id } = route.useParams();
  return (
    <Screen title="Activity of the campaign" path={useCampaignPath(id)}>
      <CampaignTabs id={id} />
      <AuditOfObject id={id} />
    </Screen>
  );
}
