/** All contacts of the workspace: search, filters in the address, new ones and imports. */
import { Alert, Badge, Button, Group, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearchOff, IconUpload, IconUsers } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouterState } from '@tanstack/react-router';
import { allOf, api, client } from '../../client.ts';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { EmptyFace, ErrorFace, KeptRows } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { SearchField } from '../../parts/forms/search-field.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { useBulk } from '../../parts/tables/use-bulk.ts';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import { ContactBulk } from './bulk.tsx';
import { ConsentBadge } from './consent-badge.tsx';
import { contactDraft, ContactForm } from './contact-form.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { nameOf, numberOf } from './name.ts';
import { useTags } from '../../tags.ts';

const route = getRouteApi('/inside/contacts');

/** The filter of the API for each choice of the address. */
const subscribedBy: Readonly<Record<string, 'true' | 'false'>> = { subscribed: 'true', 'opted-out': 'false' };

const contactColumns = (tagName: ReadonlyMap<string, string>): readonly Column<api.Contact>[] => [
  {
    key: 'name',
    title: 'Name',
    cell: (contact) => (
      <TextLink to="/contacts/$id" params={{ id: contact.id }} size="sm" fw={600} dir="auto">
        {nameOf(contact)}
      </TextLink>
    ),
  },
  { key: 'number', title: 'Number', cell: numberOf, width: 150 },
  { key: 'email', title: 'Email', cell: ({ email }) => email || '—' },
  {
    key: 'tags',
    title: 'Tags',
    cell: ({ tagsId }) =>
      tagsId.map((id) => (
        <Badge key={id} variant="light" tt="none" mr={4}>
          {tagName.get(id) ?? 'tag'}
        </Badge>
      )),
  },
  {
    key: 'consent',
    title: 'Consent',
    // The exceptions alone: a badge in every row would say nothing.
    cell: ({ consent }) => (consent === 'all' ? 'Subscribed' : <ConsentBadge consent={consent} />),
    width: 136,
  },
  { key: 'created', title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 116 },
];

export function Contacts() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [creating, create] = useDisclosure(hasDraft(contactDraft()));
  const [importing, importThem] = useDisclosure();
  const erased = useRouterState({ select: ({ location }) => location.state.erased });
  const narrow = (next: typeof search) => void navigate({ search: (old) => ({ ...old, ...next }) });
  const tags = useTags();
  const segments = useQuery({
    queryKey: ['segments', 'all'],
    queryFn: () => allOf((place) => api.listSegments(client, { ...place, limit: 100 })),
  });
  const { search: text, tag, segment, consent } = search;
  const list = useInfiniteQuery({
    queryKey: ['contacts', { text, tag, segment, consent }],
    queryFn: ({ pageParam }) =>
      api.listContacts(client, {
        search: text,
        tag,
        segment,
        subscribed: consent === undefined ? undefined : subscribedBy[consent],
        cursor: pageParam,
        limit: 50,
      }),
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data);
  const bulk = useBulk(['contacts'], rows);
  const isFiltered = [text, tag, segment, consent].some((one) => one !== undefined);
  const tagName = new Map(tags.data?.map(({ tagId, name }) => [tagId, name]));
  return (
    <Screen
      title="Contacts"
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconUpload size={16} aria-hidden />}
            onClick={importThem.open}
          >
            Import contacts
          </Button>
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={create.open}>
            New contact
          </Button>
        </>
      }
    >
      {erased === true && (
        <Alert color="teal" variant="light" role="status" py="xs">
          The contact was erased.
        </Alert>
      )}
      <Group align="flex-end" gap="sm">
        <SearchField
          label="Search contacts"
          placeholder="Name, email or number"
          given={text}
          onSearch={(next) => narrow({ search: next })}
          w={240}
        />
        <Select
          label="Tag"
          placeholder="Any"
          clearable
          searchable
          limit={100}
          data={tags.data?.map(({ tagId, name }) => ({ value: tagId, label: name })) ?? []}
          value={tag ?? null}
          onChange={(next) => narrow({ tag: next ?? undefined })}
          w={170}
        />
        <Select
          label="Segment"
          placeholder="Any"
          clearable
          searchable
          data={segments.data?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          value={segment ?? null}
          onChange={(next) => narrow({ segment: next ?? undefined })}
          w={190}
        />
        <Select
          label="Consent"
          placeholder="Any"
          clearable
          data={[
            { value: 'subscribed', label: 'Subscribed' },
            { value: 'opted-out', label: 'Opted out' },
          ]}
          value={consent ?? null}
          onChange={(next) => narrow({ consent: next ?? undefined })}
          w={150}
        />
      </Group>
      {list.error && <ErrorFace error={list.error} retry={() => void list.refetch()} />}
      {rows?.length === 0 && !list.isPlaceholderData && isFiltered && (
        <EmptyFace title="Nobody matches" icon={IconSearchOff}>
          Clear a filter. A number is found in any form, such as 0151 66131026 or +49 151 66131026.
        </EmptyFace>
      )}
      {rows?.length === 0 && !list.isPlaceholderData && !isFiltered && (
        <EmptyFace title="No contact yet" icon={IconUsers}>
          Contacts are also added when you upload a list or someone writes to you.
        </EmptyFace>
      )}
      {!list.error && rows?.length !== 0 && (
        <KeptRows query={list}>
          <ContactBulk bulk={bulk} />
          <DataTable
            label="Contacts"
            columns={contactColumns(tagName)}
            rows={rows}
            keyOf={({ id }) => id}
            selection={{ ...bulk, nameOf }}
          />
        </KeptRows>
      )}
      <ShowMore list={list} />
      <ContactForm opened={creating} onClose={create.close} />
      <ImportDialog opened={importing} onClose={importThem.close} />
    </Screen>
  );
}
