/** The requests of the workspace's API keys as a table. */
import { Stack, Text } from '@mantine/core';
import { IconSearchOff, IconTransfer } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { instantsOf } from '../../days.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Time } from '../../parts/display/time.tsx';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { ActivityFilters, isFiltered, type FilterProps } from './filters.tsx';

const small = (text: string) => (
  <Text ff="monospace" fz="xs">
    {text}
  </Text>
);

const columns: readonly Column<api.LoggedRequest>[] = [
  { key: 'path', title: 'Request', cell: ({ method, path }) => small(`${method} ${path}`) },
  {
    key: 'status',
    title: 'Answer',
    cell: ({ status, error_code }) => (error_code === null ? status : `${status} ${error_code}`),
  },
  { key: 'duration', title: 'Took', cell: ({ duration_ms }) => `${duration_ms} ms` },
  { key: 'by', title: 'By', cell: ({ key_id }) => `key ${key_id}` },
  { key: 'id', title: 'Request id', cell: ({ request_id }) => small(request_id) },
  { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
];

export function RequestLog({ filter, onFilter }: FilterProps) {
  const query = {
    ...instantsOf(filter),
    key_id: filter.actor,
    ...(filter.kind === 'failed' && { failed: 'true' as const }),
  };
  const list = useInfiniteQuery({
    queryKey: ['requests', query],
    queryFn: ({ pageParam }) => api.listRequests(client, { ...query, cursor: pageParam, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const found = (list.data?.pages ?? []).flatMap(({ data }) => data.map(({ key_id }) => key_id));
  const actors = [...new Set([...found, ...(filter.actor === undefined ? [] : [filter.actor])])];
  return (
    <>
      <ActivityFilters kinds={['failed']} actors={actors} filter={filter} onFilter={onFilter} />
      <Loaded query={list}>
        {({ pages }) => {
          const requests = pages.flatMap(({ data }) => data);
          if (requests.length === 0) {
            return isFiltered(filter) ? (
              <EmptyFace title="No request matches" icon={IconSearchOff}>
                Clear a filter.
              </EmptyFace>
            ) : (
              <EmptyFace title="No requests yet" icon={IconTransfer}>
                Requests of API keys are kept here for seven days.
              </EmptyFace>
            );
          }
          return (
            <Stack>
              <DataTable label="Requests" columns={columns} rows={requests} keyOf={({ id }) => id} />
              <ShowMore list={list} />
            </Stack>
          );
        }}
      </Loaded>
    </>
  );
}
