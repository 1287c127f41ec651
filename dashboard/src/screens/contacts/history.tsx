/** Messages to and from one contact, newest first. */
import { Text } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { words } from '../../format.ts';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { EmptyFace, ErrorFace } from '../../parts/display/load-states.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';

const columns: readonly Column<api.HistoryItem>[] = [
  {
    key: 'message',
    title: 'Message',
    cell: ({ direction, text, type, template, campaign }) => (
      <>
        <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
          {direction === 'inbound' ? (text ?? words(type)) : `Template ${template?.name ?? ''}`}
        </Text>
        {campaign && (
          <TextLink
            to="/campaigns/$id"
            params={{ id: campaign.id }}
            size="xs"
            dir="auto"
            style={{ overflowWrap: 'anywhere' }}
          >
            {campaign.name}
          </TextLink>
        )}
      </>
    ),
  },
  {
    key: 'state',
    title: 'State',
    cell: ({ direction, state }) => (direction === 'inbound' ? 'Received' : <Status state={state} />),
  },
  { key: 'reason', title: 'Reason', cell: ({ reason }) => (reason === null ? '—' : words(reason)) },
  { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
];

export function History({ contactId }: { readonly contactId: string }) {
  const list = useInfiniteQuery({
    queryKey: ['contact', contactId, 'history'],
    queryFn: ({ pageParam }) => api.listContactHistory(client, contactId, { cursor: pageParam, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data);
  if (list.error) return <ErrorFace error={list.error} retry={() => void list.refetch()} />;
  if (rows?.length === 0) {
    return (
      <EmptyFace title="Nothing yet" icon={IconMessages}>
        Messages of campaigns, single messages and replies will appear here.
      </EmptyFace>
    );
  }
  return (
    <>
      <DataTable label="History" columns={columns} rows={rows} keyOf={({ id }) => id} />
      <ShowMore list={list} />
    </>
  );
}
