/** The audit log as a table: which key or command did what, and when. */
import { Code, Stack, Text } from '@mantine/core';
import { IconHistory, IconSearchOff } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auditObjects } from '../../../../src/domain/operations/audit.ts';
import { api, client } from '../../client.ts';
import { instantsOf } from '../../days.ts';
import { useCurrency } from '../../account.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { Time } from '../../parts/display/time.tsx';
import { actionName, changesOf } from './actions.ts';
import { ActivityFilters, isFiltered, type FilterProps } from './filters.tsx';

const columnsOf = (currency: string): readonly Column<api.AuditEntry>[] => [
  {
    key: 'action',
    title: 'Action',
    cell: ({ action, details }) => (
      <>
        <Text size="sm">{actionName(action)}</Text>
        {changesOf(details, currency).map((change) => (
          <Text key={change} size="xs" c="dimmed" dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {change}
          </Text>
        ))}
      </>
    ),
  },
  { key: 'object', title: 'What', cell: (entry) => <What entry={entry} /> },
  {
    key: 'by',
    title: 'By',
    cell: ({ key_id, command }) => (key_id ? `Key mc_${key_id}` : (command ?? 'The service')),
    width: 180,
  },
  { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} />, width: 116 },
];

const linked: Readonly<Record<string, string>> = { campaign: '/campaigns/$id', contact: '/contacts/$id' };
const screens: Readonly<Record<string, string>> = {
  webhook: '/webhooks',
  channel: '/channels',
  wallet: '/wallet',
};

/** The record by its name, as a link where it has a screen. */
function What({ entry: { action, object_id: id, object_name: name } }: { entry: api.AuditEntry }) {
  const kind = action.slice(0, action.indexOf('.'));
  const isGone = /\.(delete|erase)$/.test(action);
  const label = name ?? (kind === 'contact' ? 'Contact' : undefined);
  const to = linked[kind] ?? screens[kind];
  if (label === undefined) return <Code>{id}</Code>;
  if (to === undefined || isGone)
    return (
      <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
        {label}
      </Text>
    );
  return (
    <TextLink to={to} params={{ id } as never} size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
      {label}
    </TextLink>
  );
}

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
  const all = columnsOf(useCurrency());
  // The object is the same in each row.
  const columns = isOfOne ? all.filter(({ key }) => key !== 'object') : all;
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const entries = pages.flatMap(({ data }) => data);
        if (entries.length === 0) {
          return isNarrowed ? (
            <EmptyFace title="No entry matches" icon={IconSearchOff}>
              Clear a filter.
            </EmptyFace>
          ) : (
            <EmptyFace title="No activity yet" icon={IconHistory}>
              Who created, started, paused, recharged or changed something appears here.
            </EmptyFace>
          );
        }
        return (
          <Stack>
            <DataTable label="Audit log" columns={columns} rows={entries} keyOf={({ id }) => id} />
            <ShowMore list={list} />
          </Stack>
        );
      }}
    </Loaded>
  );
}
