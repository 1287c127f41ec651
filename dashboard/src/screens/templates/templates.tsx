import { Alert, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconSearchOff, IconTemplate } from '@tabler/icons-react';
import { useMemo } from 'react';
import { previewMessage } from '../../../../src/domain/templates/preview.ts';
import { api, client } from '../../client.ts';
import { useAllTemplates } from '../../all-templates.ts';
import { words } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { SearchField } from '../../parts/forms/search-field.tsx';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { Phone } from '../../parts/display/phone.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { Status } from '../../parts/display/status.tsx';
import { Screen } from '../../parts/display/screen.tsx';

const statuses = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'];
const categories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'];
const route = getRouteApi('/inside/templates');

export function Templates() {
  const { search, status, category, language } = route.useSearch();
  const navigate = route.useNavigate();
  const narrow = (next: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }) });
  const queryClient = useQueryClient();
  const all = useAllTemplates();
  const languages = [
    ...new Set([...(language ? [language] : []), ...(all.data ?? []).map((one) => one.language)]),
  ];
  const list = useInfiniteQuery({
    queryKey: ['templates', { search, status, category, language }],
    queryFn: ({ pageParam: page }) =>
      api.listTemplates(client, {
        limit: 30,
        page,
        search,
        category,
        language,
        ...(status !== undefined && { status: [status] }),
      }),
    initialPageParam: 1,
    placeholderData: keepPreviousData,
    getNextPageParam: ({ pagination: { page, totalPages } }) => (page < totalPages ? page + 1 : undefined),
  });
  const sync = useMutation({
    mutationFn: () => api.syncTemplates(client),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['templates'] }),
  });
  const isFiltered = [search, status, category, language].some((one) => one !== undefined);
  return (
    <Screen
      title="Templates"
      actions={
        <ActionButton variant="default" loading={sync.isPending} onClick={() => sync.mutate()}>
          Sync with WhatsApp
        </ActionButton>
      }
    >
      {sync.error && <Alert color="red">{sync.error.message}</Alert>}
      <Group align="flex-end">
        <SearchField
          label="Search by name"
          given={search}
          onSearch={(text) => navigate({ search: (old) => ({ ...old, search: text }), replace: true })}
          style={{ flex: '1 1 220px' }}
        />
        <Select
          label="Status"
          placeholder="Any"
          clearable
          data={statuses.map((value) => ({ value, label: stateWord(value) }))}
          value={status ?? null}
          onChange={(value) => narrow({ status: value ?? undefined })}
          w={{ base: '47%', xs: 160 }}
        />
        <Select
          label="Category"
          placeholder="Any"
          clearable
          data={categories.map((value) => ({ value, label: words(value) }))}
          value={category ?? null}
          onChange={(value) => narrow({ category: value ?? undefined })}
          w={{ base: '47%', xs: 170 }}
        />
        <Select
          label="Language"
          placeholder="Any"
          clearable
          searchable
          data={languages}
          value={language ?? null}
          onChange={(value) => narrow({ language: value ?? undefined })}
          w={{ base: '47%', xs: 150 }}
        />
      </Group>
      <Loaded query={list}>
        {({ pages }) =>
          pages[0]?.data.length === 0 ? (
            <NoTemplates isFiltered={isFiltered} />
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg">
              {pages
                .flatMap(({ data }) => data)
                .map((template) => (
                  <Template key={template.id} template={template} />
                ))}
            </SimpleGrid>
          )
        }
      </Loaded>
      <ShowMore list={list} />
    </Screen>
  );
}

function NoTemplates({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyFace title="Nothing matches" icon={IconSearchOff}>
        Clear a filter, or search for another name.
      </EmptyFace>
    );
  return (
    <EmptyFace title="No template" icon={IconTemplate}>
      Templates are written in WhatsApp Manager; sync fetches them.
    </EmptyFace>
  );
}

function Template({ template }: { template: api.Template }) {
  const { id, name, language, category, status, quality, rejectedReason } = template;
  // Drawn from the record of the list: a request for each template would be too many.
  const message = useMemo(() => previewMessage(template, []), [template]);
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Status state={status} />
      </Group>
      <Text size="sm" c="dimmed">
        {language} · {words(category)}
        {quality && quality !== 'UNKNOWN' ? ` · quality ${quality.toLowerCase()}` : ''}
      </Text>
      {rejectedReason && rejectedReason !== 'NONE' && (
        <Text size="sm" c="red">
          Rejected: {words(rejectedReason)}
        </Text>
      )}
      <Phone message={message} />
      {status === 'APPROVED' && (
        <ButtonLink to="/campaigns/new" search={{ template: id }} variant="default" size="xs">
          Use this template
        </ButtonLink>
      )}
    </Stack>
  );
}
