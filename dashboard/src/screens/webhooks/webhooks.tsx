/** Where events go, how the receivers are doing, and sending again what failed. */
import { Alert, Card, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { counted, number } from '../../format.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { EmptyFace, Loaded } from '../../parts/faces.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Log } from './deliveries.tsx';
import { Screen } from '../../parts/screen.tsx';

export function Webhooks() {
  const list = useQuery({
    queryKey: ['webhooks'],
    queryFn: async () => (await api.listWebhooks(client, { limit: 50 })).data,
    refetchInterval: 10_000,
  });
  return (
    <Screen title="Webhooks">
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
    </Screen>
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
            {health.data && <Status state={health.data.health} />}
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {url}
          </Text>
          <Text size="xs" c="dimmed">
            Told of: {events.join(', ')}
          </Text>
          {health.data?.failingSince && (
            <Text size="sm" c="red">
              {number(health.data.consecutiveFailures)} failed in a row, the first{' '}
              <Time at={health.data.failingSince} />.
            </Text>
          )}
          {health.data !== undefined && health.data.waiting > 0 && (
            <Text size="sm">
              {counted(health.data.waiting, 'delivery waits', 'deliveries wait')} to be made.
            </Text>
          )}
        </Stack>
        <ActionButton variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
          Resend all that failed
        </ActionButton>
      </Group>
      {resend.data !== undefined && (
        <Text size="sm" role="status">
          {resend.data === 0
            ? 'Nothing that failed in the last 24 hours is left to send again.'
            : `${number(resend.data)} that failed in the last 24 hours ${resend.data === 1 ? 'is' : 'are'} sent again.`}
        </Text>
      )}
      {resend.error && <Alert color="red">{resend.error.message}</Alert>}
    </Card>
  );
}
