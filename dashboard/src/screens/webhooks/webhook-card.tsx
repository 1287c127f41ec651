/** One webhook: its state, and everything that can be done with it. */
import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { number } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { ConfirmButton } from '../../parts/controls/confirm.tsx';
import { Status } from '../../parts/display/status.tsx';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import { webhookDraft, WebhookForm } from './webhook-form.tsx';

const dayMs = 86_400_000;

/** One sentence that says what an action did. */
type Done = string;

function useActions({ id, title, events }: api.Webhook) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (action: 'pause' | 'activate' | 'delete' | 'test' | 'resend'): Promise<Done> => {
      const until = new Date();
      const since = new Date(until.getTime() - dayMs);
      switch (action) {
        case 'pause':
          await api.updateWebhook(client, id, { status: 'inactive' });
          return `${title} is paused. What waits for it goes out when it is active again, unless it expires first; new events are not delivered.`;
        case 'activate':
          await api.updateWebhook(client, id, { status: 'active' });
          return `${title} is active again.`;
        case 'delete':
          await api.deleteWebhook(client, id);
          return `${title} is deleted.`;
        case 'test':
          await api.testWebhook(client, id, { eventKey: events[0] ?? 'sent' });
          return `A test event was sent to ${title}. See Deliveries for the answer.`;
        case 'resend': {
          const body = { since: since.toISOString(), until: until.toISOString() };
          const { count } = (await api.resendFailedDeliveries(client, id, body)).data;
          return count === 0
            ? 'Nothing that failed in the last 24 hours is left to send again.'
            : `${number(count)} that failed in the last 24 hours ${count === 1 ? 'is' : 'are'} sent again.`;
        }
        default:
          return action satisfies never;
      }
    },
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
        queryClient.invalidateQueries({ queryKey: ['deliveries'] }),
      ]),
  });
}

export function WebhookCard({ webhook }: { readonly webhook: api.Webhook }) {
  const { id, title, url, status, health, recentAttempts, events, hasSecret } = webhook;
  const [editing, { open, close }] = useDisclosure(hasDraft(webhookDraft(id)));
  const act = useActions(webhook);
  const isBusy = (action: typeof act.variables) => act.isPending && act.variables === action;
  return (
    <Card withBorder component="li" aria-label={title}>
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} miw={0} style={{ flex: '1 1 320px' }}>
          <Group gap="xs">
            <Text fw={600} dir="auto" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Text>
            <Status state={status} />
            {status === 'active' && <Status state={recentAttempts === 0 ? 'undelivered' : health} />}
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {url}
          </Text>
          <Text size="xs" c="dimmed">
            Events: {events.join(', ')} · {hasSecret ? 'signed' : 'not signed'}
          </Text>
          {status === 'disabled' && (
            <Text size="sm" c="red">
              Every delivery failed for days, so the service stopped trying. Mend the receiver, then activate
              the webhook.
            </Text>
          )}
        </Stack>
        <Group gap="xs">
          <ActionButton
            size="xs"
            variant="default"
            loading={isBusy('test')}
            onClick={() => act.mutate('test')}
          >
            Send test event
          </ActionButton>
          <Button size="xs" variant="default" onClick={open}>
            Edit webhook
          </Button>
          {status === 'active' ? (
            <ActionButton
              size="xs"
              variant="default"
              loading={isBusy('pause')}
              onClick={() => act.mutate('pause')}
            >
              Pause webhook
            </ActionButton>
          ) : (
            <ActionButton size="xs" loading={isBusy('activate')} onClick={() => act.mutate('activate')}>
              Activate webhook
            </ActionButton>
          )}
          <ActionButton
            size="xs"
            variant="default"
            loading={isBusy('resend')}
            onClick={() => act.mutate('resend')}
          >
            Resend all that failed
          </ActionButton>
          <ConfirmButton
            size="xs"
            variant="light"
            color="red"
            label="Delete webhook"
            question={`Delete ${title}?`}
            consequence="Events that wait for it are not delivered any more. Its log goes with it."
            confirmation="Delete"
            onConfirm={() => act.mutate('delete')}
          />
        </Group>
      </Group>
      <Text size="sm" role="status" mt={act.data ? 'xs' : 0}>
        {act.data}
      </Text>
      {act.error && (
        <Alert color="red" role="alert" mt="xs">
          {act.error.message}
        </Alert>
      )}
      <WebhookForm webhook={webhook} opened={editing} onClose={close} />
    </Card>
  );
}
