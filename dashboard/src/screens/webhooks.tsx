/** Where events go, how the receivers are doing, and sending again what failed. */
import { Alert, Button, Card, Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, client } from '../client.ts';
import { number, words } from '../format.ts';
import { EmptyFace, ErrorFace, Loaded, LoadingFace } from '../parts/faces.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';

const route = getRouteApi('/inside/webhooks');

export function Webhooks() {
  const list = useQuery({
    queryKey: ['webhooks'],
    queryFn: async () => (await api.listWebhooks(client, { limit: 50 })).data,
    refetchInterval: 10_000,
  });
  return (
    <Stack maw={1100}>
      <Title order={1} size="h2">
        Webhooks
      </Title>
      <Loaded query={list}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <EmptyFace title="No webhook">
              A webhook tells a system of yours of each receipt. Create one with{' '}
              <code>POST /api/external-webhooks</code>.
            </EmptyFace>
          ) : (
            <>
              {webhooks.map((webhook) => (
                <Webhook key={webhook.id} webhook={webhook} />
              ))}
              <Log titles={new Map(webhooks.map(({ id, title }) => [id, title]))} />
            </>
          )
        }
      </Loaded>
    </Stack>
  );
}

const dayMs = 86_400_000;

function Webhook({ webhook }: { webhook: api.Webhook }) {
  const { id, title, url, status, events } = webhook;
  const queryClient = useQueryClient();
  const health = useQuery({
    queryKey: ['webhook-health', id],
    queryFn: async () => (await api.getWebhookHealth(client, id)).data,
    refetchInterval: 10_000,
  });
  const resend = useMutation({
    mutationFn: async () => {
      const until = new Date();
      const since = new Date(until.getTime() - dayMs);
      const body = { since: since.toISOString(), until: until.toISOString() };
      return (await api.resendFailedDeliveries(client, id, body)).data.count;
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  return (
    <Card withBorder>
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} miw={0} style={{ flex: '1 1 300px' }}>
          <Group gap="xs">
            <Text fw={600} dir="auto">
              {title}
            </Text>
            <Status state={status} />
            {health.data && health.data.health !== 'unknown' && <Status state={health.data.health} />}
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {url}
          </Text>
          <Text size="xs" c="dimmed">
            {events.join(', ')}
          </Text>
          {health.data?.failingSince && (
            <Text size="sm" c="red">
              {number(health.data.consecutiveFailures)} failed in a row, since{' '}
              <Time at={health.data.failingSince} />.
            </Text>
          )}
          {health.data !== undefined && health.data.waiting > 0 && (
            <Text size="sm">{number(health.data.waiting)} deliveries wait.</Text>
          )}
        </Stack>
        <Button variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
          Resend all that failed today
        </Button>
      </Group>
      {resend.data !== undefined && (
        <Text size="sm" role="status">
          {resend.data === 0
            ? 'Nothing of the last 24 hours is left to send again.'
            : `${number(resend.data)} are sent again.`}
        </Text>
      )}
      {resend.error && <Alert color="red">{resend.error.message}</Alert>}
    </Card>
  );
}

const states = ['delivered', 'failed', 'pending', 'sending'] as const;

function Log({ titles }: { titles: ReadonlyMap<string, string> }) {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = states.find((known) => known === state);
  const list = useInfiniteQuery({
    queryKey: ['deliveries', chosen],
    queryFn: ({ pageParam }) =>
      api.listDeliveries(client, {
        state: chosen === undefined ? undefined : [chosen],
        cursor: pageParam,
        limit: 100,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
    refetchInterval: 5_000,
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
          value={chosen ?? 'all'}
          onChange={(value) => void navigate({ search: { state: value === 'all' ? undefined : value } })}
          data={[{ value: 'all', label: 'All' }, ...states.map((value) => ({ value, label: words(value) }))]}
        />
      </Group>
      {list.isPending && <LoadingFace />}
      {list.error && <ErrorFace error={list.error} retry={() => void list.refetch()} />}
      {list.data && rows.length === 0 && (
        <EmptyFace title="No delivery">Events are delivered as they happen.</EmptyFace>
      )}
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={680}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Event</Table.Th>
                <Table.Th>To</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Answer</Table.Th>
                <Table.Th>When</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Delivery key={row.id} delivery={row} title={titles.get(row.webhookId) ?? 'deleted'} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
    </Stack>
  );
}

function Delivery({ delivery, title }: { delivery: api.Delivery; title: string }) {
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: () => api.resendWebhookDelivery(client, delivery.webhookId, delivery.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  const answer = [delivery.responseStatus, delivery.errorCode && words(delivery.errorCode)]
    .filter(Boolean)
    .join(' · ');
  return (
    <Table.Tr>
      <Table.Td>{delivery.eventKey}</Table.Td>
      <Table.Td dir="auto">{title}</Table.Td>
      <Table.Td>
        <Status state={delivery.state} />
      </Table.Td>
      <Table.Td title={delivery.responseExcerpt ?? undefined}>{answer || '—'}</Table.Td>
      <Table.Td>
        <Time at={delivery.createdAt} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-xs"
          variant="default"
          loading={resend.isPending}
          onClick={() => resend.mutate()}
        >
          {resend.isSuccess ? 'Queued' : 'Resend'}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
