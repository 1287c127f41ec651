/** The figures of a campaign, and what it was created with. */
import { Card, Group, SimpleGrid, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { allOf, api, client } from '../../client.ts';
import { counted, number, span, words } from '../../format.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Money } from '../../parts/display/money.tsx';
import { PlannedTime, Time } from '../../parts/display/time.tsx';
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
        note={limit === undefined || ended ? '' : `up to ${number(limit)} / s`}
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
        value={<Money amount={campaign.charged} currency={wallet.data?.currency} />}
        note={paid === 0 ? 'nothing charged' : `for ${counted(paid, 'message')}`}
      />
      <Figure
        name="Delivered"
        value={number(seen)}
        note={out === 0 ? 'no receipts yet' : `${number(counters.read)} read`}
      />
    </SimpleGrid>
  );
}

function Figure({ name, value, note }: { name: string; value: ReactNode; note: ReactNode }) {
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
  all_contacts: 'All contacts',
  segmented: 'Segments',
  quick_contacts: 'Typed numbers',
  csv_contacts: 'A CSV file',
  failed_contacts: 'People a campaign did not reach',
};

export function CampaignDetails({ campaign }: { campaign: api.CampaignDetail }) {
  const channel = useChannel(campaign.channel_id);
  const rows: readonly (readonly [string, ReactNode])[] = [
    [
      'Template',
      `${campaign.template.name} (${campaign.template.language}, ${words(campaign.template.category)})`,
    ],
    ['Audience', <Audience key="audience" campaign={campaign} />],
    ['Skipped', number(campaign.total_contacts_skipped)],
    ['Sending number', channel.data?.display_phone_number ?? campaign.phone_number_id],
    ['Schedule', campaign.scheduled_at ? <PlannedTime key="at" at={campaign.scheduled_at} /> : 'Immediately'],
    ['Sending window', <CampaignWindow key="window" campaign={campaign} />],
    ['Created', <Time key="at" at={campaign.created_at} />],
    ['Ended', <Time key="at" at={campaign.completed_at} />],
  ];
  const technical: readonly (readonly [string, ReactNode])[] = [
    ['Campaign id', campaign.id],
    ['Created by', `Key mc_${campaign.created_by}`],
    ['Workflow', <WorkflowLink key="workflow" campaignId={campaign.id} />],
  ];
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Details
        </Title>
      </Group>
      <Rows rows={rows} />
      <Text component="details" size="sm" mt="xs">
        <summary>For developers</summary>
        <Rows rows={technical} />
      </Text>
    </Card>
  );
}

const Rows = ({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) => (
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
);

/** The names of the segments as links, and what else is known about where the people come from. */
function Audience({ campaign }: { campaign: api.CampaignDetail }) {
  const { contact_selection_type: kind, audience } = campaign;
  const ids =
    kind === 'segmented' && Array.isArray(audience['segments']) ? audience['segments'].map(String) : [];
  const segments = useQuery({
    queryKey: ['segments'],
    queryFn: () => allOf((place) => api.listSegments(client, { limit: 100, ...place })),
    enabled: ids.length > 0,
    staleTime: 60_000,
  });
  const named = segments.data?.filter(({ id }) => ids.includes(id)) ?? [];
  if (named.length === 0) return audiences[kind] ?? words(kind);
  return (
    <>
      {named.map(({ id, name }) => (
        <TextLink key={id} to="/segments" search={{ segment: id }} display="block" size="sm" dir="auto">
          {name}
        </TextLink>
      ))}
    </>
  );
}
