import { Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { waitingSentence } from '../../../../src/domain/campaigns/diagnosis.ts';
import { api, client } from '../../client.ts';
import { number, words } from '../../format.ts';
import { EmptyFace, Loaded } from '../../parts/faces.tsx';
import { Status } from '../../parts/status.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { Time } from '../../parts/time.tsx';
import { WorkflowLink } from '../../parts/workflow-link.tsx';
import { waits } from '../../reasons.ts';
import { Screen } from '../../parts/screen.tsx';

export function Channels() {
  const list = useQuery({
    queryKey: ['channels'],
    queryFn: async () => (await api.listChannels(client)).data,
    refetchInterval: 5_000,
  });
  return (
    <Screen title="Channels">
      <Loaded query={list}>
        {(channels) =>
          channels.length === 0 ? (
            <EmptyFace title="No channel">
              Who runs this service adds sending numbers with `admin create-channel`.
            </EmptyFace>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {channels.map((channel) => (
                <Channel key={channel.id} channel={channel} />
              ))}
            </SimpleGrid>
          )
        }
      </Loaded>
    </Screen>
  );
}

function Channel({ channel }: { channel: api.Channel }) {
  const { display_phone_number: name, status, messages_per_second: limit, rate_now: rate } = channel;
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Text fw={600}>{name}</Text>
        <Status state={status} />
      </Group>
      <Stack gap={4} mt="sm">
        {channel.block_reason && <Text c="red">Blocked: {words(channel.block_reason)}</Text>}
        <Text size="sm">
          May send {number(rate)} messages a second now
          {rate < limit * 0.95 ? `; the provider throttles it, its limit is ${number(limit)}` : ''}.
        </Text>
        {channel.waiting_for && (
          <Text size="sm" c="red">
            Waits: {waits[channel.waiting_for]}
            {channel.held_until && (
              <>
                {' '}
                (until <Time at={channel.held_until} />)
              </>
            )}
            .
          </Text>
        )}
        <Text size="sm">
          {channel.messaging_limit === null
            ? 'The provider told no limit of people in 24 hours.'
            : `Written to ${number(channel.messaging_used ?? 0)} of the ${number(channel.messaging_limit)} different people that the account may write to in 24 hours.`}
        </Text>
        {channel.blocked_until && (
          <Text size="sm">
            The restriction ends <Time at={channel.blocked_until} />.
          </Text>
        )}
        {channel.quality && (
          <Text size="sm" c={channel.quality === 'LOW' ? 'red' : undefined}>
            {channel.quality === 'LOW'
              ? 'Its quality is low: the provider flagged the number and may lower its limit. Write to fewer people, and to those who asked for it.'
              : 'Its quality is good again, says the provider.'}
          </Text>
        )}
        <Notice notice={channel.account_notice} />
        {channel.blocked_countries.length > 0 && (
          <Text size="sm">Never sends to {channel.blocked_countries.join(', ')}.</Text>
        )}
        <Text size="xs" c="dimmed">
          Number id {channel.phone_number_id}, account {channel.business_account_id}
        </Text>
      </Stack>
      <Queue channel={channel} />
    </Card>
  );
}

/** Lists the running campaigns of a channel, each with its number of pending recipients. */
function Queue({ channel: { id, running_campaigns: total } }: { channel: api.Channel }) {
  const list = useQuery({
    queryKey: ['campaigns', 'running'],
    queryFn: async () => (await api.listCampaigns(client, { limit: 100, status: ['RUNNING'] })).data,
    enabled: total > 0,
    refetchInterval: 5_000,
  });
  if (total === 0)
    return (
      <Text size="sm" mt="sm">
        No campaign sends on it now.
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
                  {campaign.waiting_for === 'TURN' && 'It takes turns with others. '}
                  <WorkflowLink campaignId={campaign.id} label="In Temporal" />
                </Text>
              ))}
          </Stack>
        )}
      </Loaded>
    </Stack>
  );
}

/** Shows the provider's latest event about the channel's business account, such as the result of a review. */
function Notice({ notice }: { notice: api.Channel['account_notice'] }) {
  if (notice === null) return null;
  const { field, event, at } = notice as {
    readonly field?: string;
    readonly event?: string;
    readonly at?: string;
  };
  return (
    <Text size="sm">
      The provider said last: {words(event ?? '').toLowerCase()} ({words(field ?? '').toLowerCase()}),{' '}
      <Time at={at} />.
    </Text>
  );
}
