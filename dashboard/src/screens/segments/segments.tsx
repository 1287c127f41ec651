/** Segments: saved filters of contacts, with a live count while they are written; and the tags that they can use. */
import { Alert, Button, Group, Pagination } from '@mantine/core';
import { IconPlus, IconUsersGroup } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api, client } from '../../client.ts';
import { counted, number } from '../../format.ts';
import { ConfirmButton } from '../../parts/controls/confirm.tsx';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { BeyondEnd, EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { SegmentForm } from './segment-form.tsx';
import { Tags } from './tags.tsx';

const route = getRouteApi('/inside/segments');
const pageSize = 25;

const segmentColumns = (remove: (id: string) => void): readonly Column<api.Segment>[] => [
  {
    key: 'name',
    title: 'Segment',
    cell: ({ id, name }) => (
      <TextLink to="/segments" search={{ segment: id }} size="sm" fw={600} dir="auto">
        {name}
      </TextLink>
    ),
  },
  {
    key: 'conditions',
    title: 'Conditions',
    cell: ({ match, conditions: { length } }) =>
      length < 2 ? counted(length, 'condition') : `${match} of ${number(length)} conditions`,
  },
  {
    key: 'contacts',
    title: 'Contacts',
    cell: ({ id, name }) => (
      <TextLink to="/contacts" search={{ segment: id }} size="sm" aria-label={`Show the contacts of ${name}`}>
        Show
      </TextLink>
    ),
  },
  { key: 'updated', title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
  {
    key: 'actions',
    title: '',
    cell: ({ id, name }) => (
      <ConfirmButton
        size="compact-xs"
        variant="subtle"
        color="red"
        label="Delete"
        question={`Delete ${name}?`}
        consequence="Campaigns that were prepared with it stay as they are. No contact is deleted."
        confirmation="Delete segment"
        onConfirm={() => remove(id)}
      />
    ),
  },
];

export function Segments() {
  const { segment: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const [page, setPage] = useState(1);
  const queryClient = useQueryClient();
  const choose = (segment: string | undefined) => void navigate({ search: { segment } });
  const list = useQuery({
    queryKey: ['segments', page],
    queryFn: () => api.listSegments(client, { page, limit: pageSize }),
    placeholderData: keepPreviousData,
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.deleteSegment(client, id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['segments'] }),
  });
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => choose('new')}>
      New segment
    </Button>
  );
  return (
    <Screen
      title="Segments"
      lead="A segment is a saved filter. Each campaign uses whoever matches at that moment."
      actions={create}
    >
      {chosen !== undefined && (
        <SegmentForm
          key={chosen}
          id={chosen === 'new' ? undefined : chosen}
          onClose={() => choose(undefined)}
        />
      )}
      {remove.error && (
        <Alert color="red" role="alert">
          {remove.error.message}
        </Alert>
      )}
      <Loaded query={list}>
        {({ data, pagination: { totalPages } }) =>
          data.length === 0 ? (
            chosen === undefined && <NoSegments page={page} toFirst={() => setPage(1)} />
          ) : (
            <>
              <DataTable
                label="Segments"
                columns={segmentColumns(remove.mutate)}
                rows={data}
                keyOf={({ id }) => id}
              />
              {totalPages > 1 && (
                <Group>
                  <Pagination
                    total={totalPages}
                    value={page}
                    onChange={setPage}
                    getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                  />
                </Group>
              )}
            </>
          )
        }
      </Loaded>
      <Tags />
    </Screen>
  );
}

function NoSegments({ page, toFirst }: { page: number; toFirst: () => void }) {
  if (page > 1) return <BeyondEnd toFirst={toFirst} />;
  return (
    <EmptyFace title="No segment yet" icon={IconUsersGroup}>
      Choose New segment to save a filter, such as everybody in Berlin who is subscribed.
    </EmptyFace>
  );
}
