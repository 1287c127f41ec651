/** Where our charges differ from the provider's figures. */
import { Card, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { counted, dayOf, money, words } from '../../format.ts';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';

const causes: Readonly<Record<NonNullable<api.ComparisonLine['likely_cause']>, string>> = {
  OTHER_SENDERS: 'Another app sends on the number',
  TIER: 'Volume tier',
  AUTHENTICATION_INTERNATIONAL: 'International authentication',
  MAX_PRICE: 'Maximum price for marketing',
};

function Side({ figures, currency }: { figures: api.ComparedFigures | null; currency: string }) {
  if (figures === null) return <>—</>;
  return (
    <>
      <Text size="sm">{money(figures.cost, currency)}</Text>
      <Text size="xs" c="dimmed">
        {counted(figures.messages, 'message')}
      </Text>
    </>
  );
}

const columnsOf = (currency: string): readonly Column<api.ComparisonLine>[] => [
  { key: 'day', title: 'Day', cell: ({ day }) => dayOf(new Date(`${day}T12:00:00`)), width: 110 },
  {
    key: 'what',
    title: 'What',
    cell: ({ state, category, country, pricing_type: type, details }) =>
      state === 'NOT_COMPARED'
        ? `Not compared: ${details ?? 'no answer'}`
        : [words(category ?? ''), country, type === 'FREE' ? 'free' : ''].filter(Boolean).join(' · '),
  },
  {
    key: 'ours',
    title: 'Ours',
    isNumber: true,
    cell: ({ ours }) => <Side figures={ours} currency={currency} />,
  },
  {
    key: 'theirs',
    title: 'Provider',
    isNumber: true,
    cell: ({ theirs }) => <Side figures={theirs} currency={currency} />,
  },
  {
    key: 'difference',
    title: 'Charged too much',
    isNumber: true,
    cell: ({ difference, booked_at: bookedAt }) => (
      <>
        <Text size="sm">{difference === null ? '—' : money(difference, currency)}</Text>
        {bookedAt !== null && (
          <Text size="xs" c="dimmed">
            booked
          </Text>
        )}
      </>
    ),
  },
  {
    key: 'cause',
    title: 'Likely cause',
    cell: ({ state, likely_cause: cause }) => {
      if (state === 'NOT_COMPARED') return '';
      return cause === null ? 'Not known' : causes[cause];
    },
  },
];

export function Figures({ channelId, currency }: { channelId: string; currency: string }) {
  const list = useInfiniteQuery({
    queryKey: ['comparison', channelId],
    queryFn: ({ pageParam }) =>
      api.listWalletComparison(client, { channel_id: channelId, cursor: pageParam, limit: 25 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  if (rows.length === 0) return null;
  return (
    <Card withBorder style={{ overflow: 'visible' }}>
      <Stack>
        <Title order={2} size="h4">
          Provider’s figures
        </Title>
        <Text size="sm" c="dimmed">
          Each night charges are compared with what the provider billed. Nothing is booked by itself.
        </Text>
        <DataTable
          label="Provider’s figures"
          columns={columnsOf(currency)}
          rows={rows}
          keyOf={({ id }) => id}
        />
        <ShowMore list={list} />
      </Stack>
    </Card>
  );
}
