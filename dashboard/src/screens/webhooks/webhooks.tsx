/** Where events go, how the receivers are doing, and the log of deliveries. */
import { Button, Pagination, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../../client.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import { Log } from './deliveries.tsx';
import { WebhookCard } from './webhook-card.tsx';
import { webhookDraft, WebhookForm } from './webhook-form.tsx';

const pageSize = 10;

export function Webhooks() {
  const [page, setPage] = useState(1);
  const [creating, { open, close }] = useDisclosure(hasDraft(webhookDraft()));
  const list = useQuery({
    queryKey: ['webhooks', page],
    queryFn: () => api.listWebhooks(client, { page, limit: pageSize }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      New webhook
    </Button>
  );
  const isEmpty = list.data?.pagination.total === 0;
  return (
    <Screen
      title="Webhooks"
      lead="Send events, such as receipts and replies, to your own system."
      actions={isEmpty ? undefined : create}
    >
      <Loaded query={list}>
        {({ data, pagination: { total, totalPages } }) =>
          total === 0 ? (
            <EmptyFace title="No webhook yet" icon={IconWebhook} action={create}>
              Create one to hear of every message that is sent, delivered, read or answered.
            </EmptyFace>
          ) : (
            <>
              <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Webhooks">
                {data.map((webhook) => (
                  <WebhookCard key={webhook.id} webhook={webhook} />
                ))}
              </Stack>
              {totalPages > 1 && (
                <Pagination
                  total={totalPages}
                  value={page}
                  onChange={setPage}
                  getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                />
              )}
              <Log />
            </>
          )
        }
      </Loaded>
      <WebhookForm opened={creating} onClose={close} />
    </Screen>
  );
}
