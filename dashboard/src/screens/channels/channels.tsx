/** The sending numbers: quality, rate and daily limit, and the campaigns that send on each. */
import { Badge, Box, Card, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconPhone } from '@tabler/icons-react';
import { api, client } from '../../client.ts';
import { number, words } from '../../format.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Status } from '../../parts/display/status.tsx';
import { Time } from '../../parts/display/time.tsx';
import { waits } from '../../reasons.ts';
import { Screen } from '../../parts/display/screen.tsx';
import { Queue } from './queue.tsx';

export function Channels() {
  const list = useQuery({
    queryKey: ['channels'],
    queryFn: async () => (await api.listChannels(client)).data,
    refetchInterval: 10_000,
  });
  return (
    <Screen title="Channels">
      <Loaded query={list}>
        {(channels) =>
          channels.length === 0 ? (
            <EmptyFace title="No channel" icon={IconPhone}>
              The operator of this service adds sending numbers with `admin create-channel`.
            </EmptyFace>
          ) : (
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
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
  const { messaging_limit: mostPeople, messaging_used: people } = channel;
  return (
    <Card withBorder component="section" aria-label={name}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {name}
        </Title>
        <Group gap="xs">
          <Quality quality={channel.quality} />
          <Status state={status} />
        </Group>
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }} mt="md">
        <Meter
          label="Speed"
          text={`Up to ${number(limit)} messages/s`}
          {...(rate < limit * 0.95 && {
            value: rate,
            most: limit,
            note: `WhatsApp asked to slow down: ${number(rate)} messages/s now.`,
          })}
        />
        {mostPeople === null ? (
          <Meter label="Used today" text="No daily limit reported" />
        ) : (
          <Meter
            label="Used today"
            value={people ?? 0}
            most={mostPeople}
            text={`${number(people ?? 0)} of ${number(mostPeople)} people in 24 hours`}
            note={
              channel.messaging_room_at && (
                <>
                  Used up until <Time at={channel.messaging_room_at} />.
                </>
              )
            }
          />
        )}
      </SimpleGrid>
      <Stack gap={4} mt="md">
        <Trouble channel={channel} />
        <Notice notice={channel.account_notice} />
        {channel.blocked_countries.length > 0 && (
          <Text size="sm">Never sends to {channel.blocked_countries.join(', ')}.</Text>
        )}
      </Stack>
      <Queue channel={channel} />
      <Text component="details" size="xs" c="dimmed" mt="md">
        <summary>For developers</summary>
        Number id {channel.phone_number_id}, account {channel.business_account_id}
      </Text>
    </Card>
  );
}

interface MeterProps {
  readonly label: string;
  readonly text: string;
  readonly value?: number;
  readonly most?: number;
  readonly note?: ReactNode;
}

/** How much of a limit is used; without a limit the text alone. */
function Meter({ label, text, value, most, note }: MeterProps) {
  return (
    <Box>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {text}
      </Text>
      {value !== undefined && most !== undefined && (
        <Progress
          value={most === 0 ? 0 : Math.min(100, (value / most) * 100)}
          mt={6}
          size="sm"
          aria-label={text}
        />
      )}
      {note && (
        <Text size="xs" c="dimmed" mt={4} component="div">
          {note}
        </Text>
      )}
    </Box>
  );
}

function Quality({ quality }: { quality: api.Channel['quality'] }) {
  if (quality === null) return null;
  return (
    <Badge variant="light" radius="sm" tt="none" color={quality === 'LOW' ? 'red' : 'teal'}>
      {words(quality)} quality
    </Badge>
  );
}

/** The reason why a channel does not send, with advice. */
function Trouble({ channel }: { channel: api.Channel }) {
  return (
    <>
      {channel.block_reason && <Text c="red">Blocked: {words(channel.block_reason)}</Text>}
      {channel.blocked_until && (
        <Text size="sm">
          The restriction ends <Time at={channel.blocked_until} />.
        </Text>
      )}
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
      {channel.quality === 'LOW' && (
        <Text size="sm" c="red">
          The provider flagged the number and may lower its limit. Write to fewer people, and to those who
          asked for it.
        </Text>
      )}
    </>
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
