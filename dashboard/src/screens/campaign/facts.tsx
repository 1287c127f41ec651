/** The figures of a campaign, and what it was created with. */
import { Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, client } from '../../client.ts';
import { counted, money, number, plannedTime, span, words } from '../../format.ts';
import { Time } from '../../parts/display/time.tsx';
import { WorkflowLink } from '../../parts/controls/workflow-link.tsx';
import { CampaignWindow } from './window.tsx';

interface FiguresProps {
  readonly campaign: api.CampaignDetail;
  /** Number of messages that `charged` paid for; both figures are from the same moment. */
  readonly paid: number;
  readonly rate: number;
  readonly etaSeconds: number | null;
}

function useChannel(id: string) {
  return useQuery({
    queryKey: ['channel', id],
    queryFn: async () => (await api.getChannel(client, id)).data,
  });
}

export function Figures({ campaign, paid, rate, etaSeconds }: FiguresProps) {
  const { channel_id: channelId, status, counters, started_at: started, completed_at: ended } = campaign;
  const channel = useChannel(channelId);
  const wallet = useQuery({
    queryKey: ['wallet', channelId],
    queryFn: async () => (await api.getWallet(client, { channel_id: channelId })).data,
  });
  const took = started && ended ? (Date.parse(ended) - Date.parse(started)) / 1000 : null;
  const limit = channel.data?.messages_per_second;
  const seen = counters.delivered + counters.read;
  const out = seen + counters.sent + counters.accepted;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Figure
        name="Rate now"
        value={status === 'RUNNING' ? `${number(rate)} / s` : '—'}
        note={limit === undefined ? '' : `the channel may send ${number(limit)} / s`}
      />
      <Figure
        name={took === null ? 'Time left' : 'Took'}
        value={span(took ?? etaSeconds)}
        note={
          started ? (
            <>
              started <Time at={started} />
            </>
          ) : (
            'not started'
          )
        }
      />
      <Figure
        name={ended ? 'Cost' : 'Cost so far'}
        value={money(campaign.charged, wallet.data?.currency ?? '')}
        note={paid === 0 ? 'nothing was charged' : `for ${counted(paid, 'message')}`}
      />
      <Figure
        name="Delivered"
        value={number(seen)}
        note={out === 0 ? 'no receipts yet' : `${number(counters.read)} of them read`}
      />
    </SimpleGrid>
  );
}

function Figure({ name, value, note }: { name: string; value: string; note: ReactNode }) {
  return (
    <Card withBorder padding="sm">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz={17} fw={700} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {note}
      </Text>
    </Card>
  );
}

const audiences: Readonly<Record<string, string>> = {
  quick_contacts: 'Numbers that were typed in',
  csv_contacts: 'A CSV file',
  failed_contacts: 'Those that failed in another campaign',
};

export function CampaignDetails({ campaign }: { campaign: api.CampaignDetail }) {
  const channel = useChannel(campaign.channel_id);
  const rows: readonly (readonly [string, ReactNode])[] = [
    [
      'Template',
      `${campaign.template.name} (${campaign.template.language}, ${words(campaign.template.category)})`,
    ],
    ['Audience', audiences[campaign.contact_selection_type] ?? words(campaign.contact_selection_type)],
    ['Skipped', number(campaign.total_contacts_skipped)],
    ['Sending number', channel.data?.display_phone_number ?? campaign.phone_number_id],
    ['Sending', campaign.scheduled_at ? plannedTime(new Date(campaign.scheduled_at)) : 'immediately'],
    ['Sending window', <CampaignWindow key="window" campaign={campaign} />],
    ['Created', <Time key="at" at={campaign.created_at} />],
    ['Created by', `key mc_${campaign.created_by}`],
    ['Ended', <Time key="at" at={campaign.completed_at} />],
    ['Id', campaign.id],
    ['In Temporal', <WorkflowLink key="workflow" campaignId={campaign.id} />],
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
                <Table.Th w={{ base: 110, sm: 150, lg: 116 }} fw={500}>
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
