/** The audit log as a table: which key or command did what, and when. */
import { Stack, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { words } from '../../format.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyFace, Loaded } from '../../parts/faces.tsx';
import { ShowMore } from '../../parts/show-more.tsx';
import { Time } from '../../parts/time.tsx';

const columns: readonly Column<api.AuditEntry>[] = [
  { key: 'action', title: 'Action', cell: ({ action }) => words(action.replaceAll('.', ' ')) },
  {
    key: 'object',
    title: 'What',
    cell: ({ object_id }) => (
      <Text ff="monospace" fz="xs">
        {object_id}
      </Text>
    ),
  },
  { key: 'by', title: 'By', cell: ({ key_id, command }) => (key_id ? `key ${key_id}` : (command ?? '—')) },
  { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
];

/** Without the object, which is the same in each row. */
const columnsOfOne = columns.filter(({ key }) => key !== 'object');

/** The entries of the whole workspace, or those of one object. */
export function Audit({ objectId }: { objectId?: string }) {
  const list = useInfiniteQuery({
    queryKey: ['audit', objectId],
    queryFn: ({ pageParam }) =>
      api.listAuditEntries(client, { cursor: pageParam, limit: 100, object_id: objectId }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const entries = pages.flatMap(({ data }) => data);
        if (entries.length === 0) {
          return (
            <EmptyFace title="Nothing was done yet" icon={IconHistory}>
              Creations, starts, pauses, recharges, keys and changes of webhooks are kept here.
            </EmptyFace>
          );
        }
        return (
          <Stack>
            <DataTable
              label="Who did what"
              columns={objectId === undefined ? columns : columnsOfOne}
              rows={entries}
              keyOf={({ id }) => id}
            />
            <ShowMore list={list} />
          </Stack>
        );
      }}
    </Loaded>
  );
}
