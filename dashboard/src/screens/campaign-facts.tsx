/** The figures of a campaign, and what it was created with. */
import { Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, client } from '../client.ts';
import { money, number, span, words } from '../format.ts';
import { Time } from '../parts/time.tsx';
import type { Detail } from './campaign.tsx';

interface FiguresProps {
  readonly campaign: Detail;
  readonly rate: number;
  readonly etaSeconds: number | null;
}

export function Figures({ campaign, rate, etaSeconds }: FiguresProps) {
  const { channel_id: channelId, status, counters } = campaign;
  const channel = useQuery({
    queryKey: ['channel', channelId],
    queryFn: async () => (await api.getChannel(client, channelId)).data,
    refetchInterval: 15_000,
  });
  const wallet = useQuery({
    queryKey: ['wallet', channelId],
    queryFn: async () => (await api.getWallet(client, { channel_id: channelId })).data,
    refetchInterval: 15_000,
  });
  const limit = channel.data?.messages_per_second;
  const seen = counters.delivered + counters.read;
  const out = seen + counters.sent + counters.accepted;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Figure
        name="Rate now"
        value={status === 'RUNNING' ? `${number(rate)} / s` : '—'}
        note={limit === undefined ? '' : `of ${number(limit)} / s the channel may send`}
      />
      <Figure
        name="Time left"
        value={etaSeconds === null ? '—' : span(etaSeconds)}
        note={
          campaign.started_at ? (
            <>
              started <Time at={campaign.started_at} />
            </>
          ) : (
            'not started'
          )
        }
      />
      <Figure
        name="Cost so far"
        value={money(campaign.charged, wallet.data?.currency ?? '')}
        note={out === 0 ? 'nothing was charged' : `for ${number(out)} messages`}
      />
      <Figure
        name="Arrived"
        value={number(seen)}
        note={out === 0 ? 'no receipts yet' : `${number(counters.read)} of them read`}
      />
    </SimpleGrid>
  );
}

function Figure({ name, value, note }: { name: string; value: string; note: ReactNode }) {
  return (
    <Card withBorder padding="md">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz={24} fw={700} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {note}
      </Text>
    </Card>
  );
}

export function CampaignDetails({ campaign }: { campaign: Detail }) {
  const rows: readonly (readonly [string, ReactNode])[] = [
    [
      'Template',
      `${campaign.template.name} (${campaign.template.language}, ${words(campaign.template.category)})`,
    ],
    ['Audience', words(campaign.contact_selection_type)],
    ['Skipped', number(campaign.total_contacts_skipped)],
    ['Sending number', campaign.phone_number_id],
    ['Scheduled for', campaign.scheduled_at ? <Time at={campaign.scheduled_at} /> : 'at once'],
    ['Created', <Time key="at" at={campaign.created_at} />],
    ['Ended', <Time key="at" at={campaign.completed_at} />],
    ['Id', campaign.id],
  ];
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Details
        </Title>
      </Group>
      <Stack>
        <Table variant="vertical" layout="fixed" mt="sm" withRowBorders={false}>
          <Table.Tbody>
            {rows.map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th w={150} fw={500}>
                  {name}
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Card>
  );
}
