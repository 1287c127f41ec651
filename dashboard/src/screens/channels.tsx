import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../client.ts';
import { number, words } from '../format.ts';
import { EmptyFace, Loaded } from '../parts/faces.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';

export function Channels() {
  const list = useQuery({
    queryKey: ['channels'],
    queryFn: async () => (await api.listChannels(client)).data,
    refetchInterval: 5_000,
  });
  return (
    <Stack maw={1100}>
      <Title order={1} size="h2">
        Channels
      </Title>
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
    </Stack>
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
        {channel.held_until && (
          <Text size="sm">
            The provider asked for silence until <Time at={channel.held_until} />.
          </Text>
        )}
        <Text size="sm">
          {channel.running_campaigns === 1
            ? '1 campaign sends'
            : `${number(channel.running_campaigns)} campaigns send`}{' '}
          on it.
        </Text>
        {channel.blocked_countries.length > 0 && (
          <Text size="sm">Never sends to {channel.blocked_countries.join(', ')}.</Text>
        )}
        <Text size="xs" c="dimmed">
          Number id {channel.phone_number_id}, account {channel.business_account_id}
        </Text>
      </Stack>
    </Card>
  );
}
