/** The header that all parts of a campaign's page share: its name, state and actions, and the tabs. */
import { Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, client } from '../../client.ts';
import { LinkTabs } from '../../parts/controls/link-tabs.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { Status } from '../../parts/display/status.tsx';
import { colourOf } from '../campaigns/rates.ts';
import { Actions } from './actions.tsx';
import { RenameButton } from './rename-button.tsx';

export const useCampaign = (id: string) =>
  useQuery({
    queryKey: ['campaign', id],
    queryFn: async () => (await api.getCampaign(client, id)).data,
    refetchInterval: 30_000,
  });

interface CampaignFrameProps {
  readonly id: string;
  /** Undefined until it is loaded. */
  readonly campaign: api.CampaignDetail | undefined;
  readonly children: ReactNode;
  /** Names the part in the browser's title. */
  readonly part?: string;
}

export function CampaignFrame({ id, campaign, part, children }: CampaignFrameProps) {
  const name = campaign?.name ?? 'Campaign';
  const colour = campaign && colourOf(campaign);
  const to = `/campaigns/${id}`;
  return (
    <Screen
      title={name}
      documentTitle={part === undefined ? name : `${part}: ${name}`}
      badge={
        campaign && (
          <>
            <RenameButton campaign={campaign} />
            <Status state={campaign.status} {...(colour && { colour })} />
          </>
        )
      }
      lead={campaign?.description && <span dir="auto">{campaign.description}</span>}
      path={[
        <TextLink key="all" size="sm" to="/campaigns">
          All campaigns
        </TextLink>,
      ]}
      actions={campaign && <Actions campaign={campaign} />}
    >
      <LinkTabs
        label="Campaign"
        tabs={[
          { label: 'Summary', to },
          { label: 'Recipients', to: `${to}/recipients` },
          { label: 'Replies', to: `${to}/replies` },
          { label: 'Activity', to: `${to}/activity` },
        ]}
      />
      {children}
    </Screen>
  );
}

interface CampaignPartProps {
  readonly id: string;
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of the page besides the summary. */
export function CampaignPart({ id, title, actions, children }: CampaignPartProps) {
  const { data } = useCampaign(id);
  return (
    <CampaignFrame id={id} campaign={data} part={title}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </CampaignFrame>
  );
}
