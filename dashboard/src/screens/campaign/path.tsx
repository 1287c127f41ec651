/** Breadcrumbs of the pages below a campaign: all campaigns, then the campaign. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, client } from '../../client.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';

export const useCampaign = (id: string) =>
  useQuery({
    queryKey: ['campaign', id],
    queryFn: async () => (await api.getCampaign(client, id)).data,
    refetchInterval: 30_000,
  });

export function useCampaignPath(id: string): readonly ReactNode[] {
  const { data } = useCampaign(id);
  return [
    <TextLink key="all" size="sm" to="/campaigns">
      All campaigns
    </TextLink>,
    <TextLink key="one" size="sm" dir="auto" truncate maw={320} pb={2} to="/campaigns/$id" params={{ id }}>
      {data?.name ?? 'Campaign'}
    </TextLink>,
  ];
}
