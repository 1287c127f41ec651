import { Alert, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, client } from '../../client.ts';
import { words } from '../../format.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { EmptyFace, Loaded } from '../../parts/faces.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Phone } from '../../parts/phone.tsx';
import { ShowMore } from '../../parts/show-more.tsx';
import { Status } from '../../parts/status.tsx';
import { Screen } from '../../parts/screen.tsx';

const route = getRouteApi('/inside/templates');

export function Templates() {
  const { search } = route.useSearch();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: ['templates', { search }],
    queryFn: ({ pageParam: page }) => api.listTemplates(client, { limit: 30, page, search }),
    initialPageParam: 1,
    getNextPageParam: ({ pagination: { page, totalPages } }) => (page < totalPages ? page + 1 : undefined),
  });
  const sync = useMutation({
    mutationFn: () => api.syncTemplates(client),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['templates'] }),
  });
  return (
    <Screen
      title="Templates"
      actions={
        <ActionButton variant="default" loading={sync.isPending} onClick={() => sync.mutate()}>
          Sync with the provider
        </ActionButton>
      }
    >
      {sync.error && <Alert color="red">{sync.error.message}</Alert>}
      <SearchField
        aria-label="Search by name"
        placeholder="Search by name"
        given={search}
        look={(text) => navigate({ search: { search: text }, replace: true })}
      />
      <Loaded query={list}>
        {({ pages }) =>
          pages[0]?.data.length === 0 ? (
            <EmptyFace title="No template">
              Templates are written at the provider; sync fetches them.
            </EmptyFace>
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xl">
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

function Template({ template }: { template: api.Template }) {
  const { id, name, language, category, status, quality, rejectedReason } = template;
  const preview = useQuery({
    queryKey: ['template-preview', id],
    queryFn: async () => (await api.previewTemplate(client, id, {})).data.message,
    staleTime: 60_000,
  });
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
      <Loaded query={preview}>{(message) => <Phone message={message} />}</Loaded>
    </Stack>
  );
}
