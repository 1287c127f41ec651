/** The audit log as a table: which key or command did what, and when. */
import { Stack, Text } from '@mantine/core';
import { IconHistory, IconSearchOff } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auditObjects } from '../../../../src/domain/operations/audit.ts';
import { api, client } from '../../client.ts';
import { instantsOf } from '../../days.ts';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { Time } from '../../parts/display/time.tsx';
import { actionName } from './actions.ts';
import { ActivityFilters, isFiltered, type FilterProps } from './filters.tsx';

const columns: readonly Column<api.AuditEntry>[] = [
  { key: 'action', title: 'Action', cell: ({ action }) => actionName(action) },
  {
    key: 'object',
    title: 'What',
    cell: ({ object_id }) => (
      <Text ff="monospace" fz="xs">
        {object_id}
      </Text>
    ),
  },
  {
    key: 'by',
    title: 'By',
    cell: ({ key_id, command }) => (key_id ? `key ${key_id}` : (command ?? 'the service')),
  },
  { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
];

/** Without the object, which is the same in each row. */
const columnsOfOne = columns.filter(({ key }) => key !== 'object');

type AuditQuery = Omit<NonNullable<Parameters<typeof api.listAuditEntries>[1]>, 'cursor' | 'limit'>;

const useAudit = (query: AuditQuery) =>
  useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ pageParam }) => api.listAuditEntries(client, { ...query, cursor: pageParam, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });

/** The entries of the whole workspace, with filters. */
export function AuditLog({ filter, onFilter }: FilterProps) {
  const object = auditObjects.find((known) => known === filter.kind);
  const list = useAudit({ ...instantsOf(filter), object, key_id: filter.actor });
  const [seen, setSeen] = useState<readonly string[]>([]);
  const found = (list.data?.pages ?? []).flatMap(({ data }) => data.flatMap(({ key_id }) => key_id ?? []));
  const actors = [...new Set([...seen, ...found, ...(filter.actor === undefined ? [] : [filter.actor])])];
  return (
    <>
      <ActivityFilters
        kinds={auditObjects}
        actors={actors}
        filter={filter}
        onFilter={(change) => {
          // A list filtered by a key names no other key: keeps the others, so that they can still be chosen.
          setSeen(actors);
          onFilter(change);
        }}
      />
      <Entries list={list} isFiltered={isFiltered(filter)} />
    </>
  );
}

/** The entries of one object. */
export const AuditOfObject = ({ id }: { id: string }) => (
  <Entries list={useAudit({ object_id: id })} isOfOne />
);

interface EntriesProps {
  readonly list: ReturnType<typeof useAudit>;
  readonly isFiltered?: boolean;
  readonly isOfOne?: boolean;
}

function Entries({ list, isFiltered: isNarrowed = false, isOfOne = false }: EntriesProps) {
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const entries = pages.flatMap(({ data }) => data);
        if (entries.length === 0) {
          return isNarrowed ? (
            <EmptyFace title="No entry matches" icon={IconSearchOff}>
              Remove a filter.
            </EmptyFace>
          ) : (
            <EmptyFace title="No activity yet" icon={IconHistory}>
              Creations, starts, pauses, recharges, keys and changes of webhooks are kept here.
            </EmptyFace>
          );
        }
        return (
          <Stack>
            <DataTable
              label="Audit log"
              columns={isOfOne ? columnsOfOne : columns}
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
