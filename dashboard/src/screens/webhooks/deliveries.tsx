/** The log of deliveries, and one of them in full. */
import { Code, Group, SegmentedControl, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core';
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { memo } from 'react';
import { deliveryStates } from '../../../../src/domain/webhooks/delivery.ts';
import { allOf, api, client } from '../../client.ts';
import { exactTime, number, words } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { EmptyFace, ErrorFace, KeptRows, Loaded, LoadingFace } from '../../parts/display/load-states.tsx';
import { PanelLink } from '../../parts/tables/panel-link.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { SidePanel } from '../../parts/controls/side-panel.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { Status } from '../../parts/display/status.tsx';
import { Time } from '../../parts/display/time.tsx';

const route = getRouteApi('/inside/webhooks');

export function Log() {
  const { state, delivery } = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = deliveryStates.find((known) => known === state);
  const webhooks = useQuery({
    queryKey: ['webhooks', 'all'],
    queryFn: () => allOf((place) => api.listWebhooks(client, { limit: 100, ...place })),
    staleTime: 60_000,
  });
  const titles = new Map(webhooks.data?.map(({ id, title }) => [id, title]));
  const list = useInfiniteQuery({
    queryKey: ['deliveries', chosen],
    queryFn: ({ pageParam }) =>
      api.listDeliveries(client, {
        state: chosen === undefined ? undefined : [chosen],
        cursor: pageParam,
        limit: 100,
      }),
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
    // Polls only while one page is loaded: new rows would move the list under a reader further down.
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 1) === 1 ? 10_000 : false),
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Deliveries
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="State"
          maw="100%"
          style={{ overflowX: 'auto' }}
          value={chosen ?? 'all'}
          onChange={(value) => void navigate({ search: { state: value === 'all' ? undefined : value } })}
          data={[
            { value: 'all', label: 'All' },
            ...deliveryStates.map((value) => ({ value, label: stateWord(value) })),
          ]}
        />
      </Group>
      {list.isPending && <LoadingFace />}
      {list.error && <ErrorFace error={list.error} retry={() => void list.refetch()} />}
      {list.data && rows.length === 0 && !list.isPlaceholderData && (
        <EmptyFace title={chosen === undefined ? 'No delivery' : 'Nothing matches'}>
          {chosen === undefined ? 'Events are delivered as they happen.' : 'Choose another state.'}
        </EmptyFace>
      )}
      {rows.length > 0 && (
        <KeptRows query={list}>
          <Table.ScrollContainer minWidth={680}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Event</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th>Answer</Table.Th>
                  <Table.Th>When</Table.Th>
                  <Table.Th>To</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>Action</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((row) => (
                  <Delivery key={row.id} delivery={row} title={titles.get(row.webhookId) ?? '—'} />
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </KeptRows>
      )}
      <ShowMore list={list} />
      <SidePanel
        label="Delivery"
        opened={delivery !== undefined}
        onClose={() => void navigate({ search: (old) => ({ ...old, delivery: undefined }) })}
      >
        {delivery !== undefined && <Detail place={delivery} titles={titles} />}
      </SidePanel>
    </Stack>
  );
}

function Resend({ webhookId, id }: { webhookId: string; id: string }) {
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: () => api.resendWebhookDelivery(client, webhookId, id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  return (
    <>
      <ActionButton
        size="compact-xs"
        variant="default"
        loading={resend.isPending}
        onClick={() => resend.mutate()}
      >
        {resend.isSuccess ? 'Queued' : 'Resend'}
      </ActionButton>
      {resend.error && (
        <Text c="red" size="xs" role="alert">
          {resend.error.message}
        </Text>
      )}
    </>
  );
}

const Delivery = memo(function Delivery({ delivery, title }: { delivery: api.Delivery; title: string }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PanelLink name="delivery" id={`${delivery.webhookId}.${delivery.id}`}>
          {delivery.eventKey}
        </PanelLink>
      </Table.Td>
      <Table.Td>
        <Status state={delivery.state} />
      </Table.Td>
      <Table.Td title={delivery.responseExcerpt ?? undefined}>{answerOf(delivery) || '—'}</Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time at={delivery.createdAt} />
      </Table.Td>
      <Table.Td>
        <Text size="sm" lineClamp={1} dir="auto" title={title}>
          {title}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <Resend webhookId={delivery.webhookId} id={delivery.id} />
      </Table.Td>
    </Table.Tr>
  );
});

/** Returns the HTTP status of the answer, and the error where the status does not explain it. */
const answerOf = ({
  responseStatus,
  errorCode,
}: Pick<api.Delivery, 'responseStatus' | 'errorCode'>): string =>
  [responseStatus, errorCode && errorCode !== 'non_2xx' && words(errorCode)].filter(Boolean).join(' · ');

/** Shows one delivery in full: the request, and the receiver's answer. */
function Detail({ place, titles }: { place: string; titles: ReadonlyMap<string, string> }) {
  const [webhookId = '', id = ''] = place.split('.');
  const query = useQuery({
    queryKey: ['delivery', id],
    queryFn: async () => (await api.getWebhookDelivery(client, webhookId, id)).data,
    refetchInterval: 15_000,
  });
  return (
    <Loaded query={query}>
      {({
        eventKey,
        state,
        attemptedAt,
        durationMs,
        responseStatus,
        responseExcerpt,
        errorCode,
        payload,
      }) => (
        <Stack>
          <Group justify="space-between">
            <Text fw={700}>Event: {eventKey}</Text>
            <Status state={state} />
          </Group>
          <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
            To {titles.get(webhookId) ?? '—'}
          </Text>
          <Text size="sm">
            {attemptedAt ? `Sent ${exactTime(new Date(attemptedAt))}` : 'Not sent yet'}
            {durationMs !== null && `, took ${number(durationMs)} ms`}.
          </Text>
          <Group justify="space-between">
            <Text size="sm">
              {responseStatus && 'Answer '}
              {answerOf({ responseStatus, errorCode })}
            </Text>
            <Resend webhookId={webhookId} id={id} />
          </Group>
          {responseExcerpt && <Block text={responseExcerpt} />}
          <Text size="sm" fw={600}>
            What was sent
          </Text>
          {payload === null ? (
            <Text size="sm">The event is too old to be kept.</Text>
          ) : (
            <Block text={indented(payload)} />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

const Block = ({ text }: { text: string }) => (
  <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
    {text}
  </Code>
);

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
