/** Each change of the balance, newest first. */
import { Card, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { IconReceipt } from '@tabler/icons-react';
import { api, client } from '../../client.ts';
import { counted, money, words } from '../../format.ts';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { EmptyFace, ErrorFace } from '../../parts/display/load-states.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';

const columnsOf = (currency: string): readonly Column<api.LedgerEntry>[] => [
  { key: 'at', title: 'When', cell: ({ created_at: at }) => <Time at={at} />, width: 88 },
  { key: 'kind', title: 'What', cell: (entry) => <What entry={entry} /> },
  {
    key: 'amount',
    title: 'Amount',
    isNumber: true,
    width: 160,
    cell: ({ amount }) => (
      <Text span inherit c={amount.startsWith('-') ? undefined : 'var(--mantine-color-teal-light-color)'}>
        {amount.startsWith('-') ? '' : '+'}
        {money(amount, currency)}
      </Text>
    ),
  },
];

export function Ledger({ channelId, currency }: { channelId: string; currency: string }) {
  const list = useInfiniteQuery({
    queryKey: ['ledger', channelId],
    queryFn: ({ pageParam }) =>
      api.listWalletEntries(client, { channel_id: channelId, cursor: pageParam, limit: 25 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data);
  return (
    // A card hides what overflows, and the table's header would stick to it instead of the page.
    <Card withBorder style={{ overflow: 'visible' }}>
      <Stack>
        <Title order={2} size="h4">
          Ledger
        </Title>
        {list.error && rows === undefined ? (
          <ErrorFace error={list.error} retry={() => void list.refetch()} />
        ) : (
          rows?.length !== 0 && (
            <DataTable label="Ledger" columns={columnsOf(currency)} rows={rows} keyOf={({ id }) => id} />
          )
        )}
        {rows?.length === 0 && (
          <EmptyFace title="Nothing was added or charged yet" icon={IconReceipt}>
            Each recharge, charge and refund appears here.
          </EmptyFace>
        )}
        <ShowMore list={list} />
      </Stack>
    </Card>
  );
}

function What({
  entry: { kind, campaign_id: campaignId, message_count: count, reason },
}: {
  entry: api.LedgerEntry;
}) {
  return (
    <>
      <Text size="sm">
        {words(kind)}
        {count !== null && ` for ${counted(count, 'message')}`}
        {campaignId !== null && (
          <>
            {' of '}
            <TextLink to="/campaigns/$id" params={{ id: campaignId }} fz="inherit" underline="always">
              a campaign
            </TextLink>
          </>
        )}
      </Text>
      {reason && (
        <Text size="xs" c="dimmed" dir="auto">
          {reason}
        </Text>
      )}
    </>
  );
}
