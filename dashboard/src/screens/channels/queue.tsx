import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { waitingSentence } from '../../../../src/domain/campaigns/diagnosis.ts';
import { api, client } from '../../client.ts';
import { number } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { WorkflowLink } from '../../parts/controls/workflow-link.tsx';
import { waits } from '../../reasons.ts';

/** Lists the running campaigns of a channel, each with its number of pending recipients. */
export function Queue({ channel: { id, running_campaigns: total } }: { channel: api.Channel }) {
  const list = useQuery({
    queryKey: ['campaigns', 'running'],
    queryFn: async () => (await api.listCampaigns(client, { limit: 100, status: ['RUNNING'] })).data,
    enabled: total > 0,
    refetchInterval: 10_000,
  });
  if (total === 0)
    return (
      <Text size="sm" mt="sm">
        Not in use.
      </Text>
    );
  return (
    <Stack gap={4} mt="sm">
      <Text size="sm">{total === 1 ? '1 campaign sends' : `${number(total)} campaigns send`} on it:</Text>
      <Loaded query={list}>
        {(running) => (
          <Stack component="ul" gap={4} m={0} pl="md">
            {running
              .filter((campaign) => campaign.channel_id === id)
              .map((campaign) => (
                <Text key={campaign.id} component="li" size="sm" style={{ overflowWrap: 'anywhere' }}>
                  <TextLink
                    to="/campaigns/$id"
                    params={{ id: campaign.id }}
                    dir="auto"
                    fz="inherit"
                    underline="always"
                  >
                    {campaign.name}
                  </TextLink>
                  {`: ${waitingSentence(campaign.counters.pending) || 'The last ones are under way.'} `}
                  {campaign.waiting_for && `Waits: ${waits[campaign.waiting_for]}. `}
                  <WorkflowLink campaignId={campaign.id} label="In Temporal" />
                </Text>
              ))}
          </Stack>
        )}
      </Loaded>
    </Stack>
  );
}
