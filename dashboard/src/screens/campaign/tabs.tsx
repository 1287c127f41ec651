import { LinkTabs } from '../../parts/controls/link-tabs.tsx';

/** The parts of a campaign's page. */
export function CampaignTabs({ id }: { id: string }) {
  const to = `/campaigns/${id}`;
  return (
    <LinkTabs
      label="Campaign"
      tabs={[
        { label: 'Summary', to },
        { label: 'Recipients', to: `${to}/recipients` },
        { label: 'Replies', to: `${to}/replies` },
        { label: 'Activity', to: `${to}/activity` },
      ]}
    />
  );
}
