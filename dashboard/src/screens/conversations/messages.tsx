/** The messages of a conversation, latest last. */
import { Anchor, Box, Group, Paper, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api, client } from '../../client.ts';
import { words } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Phone } from '../../parts/display/phone.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { explain } from '../../reasons.ts';

export function Messages({ id }: { id: string }) {
  const list = useInfiniteQuery({
    queryKey: ['conversation', id, 'messages'],
    queryFn: ({ pageParam }) => api.listConversationMessages(client, id, { cursor: pageParam, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 1) === 1 ? 10_000 : false),
  });
  const box = useRef<HTMLDivElement>(null);
  const latest = list.data?.pages[0]?.data[0]?.id;
  useEffect(() => {
    if (latest !== undefined) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [latest]);
  return (
    <Loaded query={list}>
      {({ pages }) => (
        <Box
          ref={box}
          mah="56vh"
          tabIndex={0}
          role="group"
          aria-label="Messages"
          style={{ overflowY: 'auto' }}
        >
          <ShowMore list={list} label="Show earlier" />
          <Stack gap="xs" component="ol" m={0} p={4} style={{ listStyle: 'none' }}>
            {pages
              .flatMap(({ data }) => data)
              .toReversed()
              .map((message) => (
                <Bubble key={message.id} message={message} />
              ))}
          </Stack>
        </Box>
      )}
    </Loaded>
  );
}

function Bubble({ message }: { message: api.HistoryItem }) {
  const { direction, text, type, template, campaign, state, reason, at } = message;
  const isInbound = direction === 'inbound';
  return (
    <Box component="li" style={{ alignSelf: isInbound ? 'flex-start' : 'flex-end', maxWidth: '80%' }}>
      <Paper withBorder radius="md" p="sm" bg={isInbound ? undefined : 'var(--mantine-primary-color-light)'}>
        <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {isInbound ? (text ?? words(type)) : `Template ${template?.name ?? ''}`}
        </Text>
        {campaign && <Content campaignId={campaign.id} recipientId={message.id} />}
        <Group gap={6} mt={4}>
          {campaign && (
            <TextLink
              to="/campaigns/$id"
              params={{ id: campaign.id }}
              size="xs"
              dir="auto"
              style={{ overflowWrap: 'anywhere' }}
            >
              {campaign.name}
            </TextLink>
          )}
          {!isInbound && <Status state={state} />}
          {reason && <Text size="xs">{explain(reason).title}</Text>}
          <Text size="xs" c="dimmed">
            <Time at={at} />
          </Text>
        </Group>
      </Paper>
    </Box>
  );
}

/** A campaign's message with the values of its recipient, fetched once it is asked for: a thread can hold hundreds. */
function Content({ campaignId, recipientId }: { campaignId: string; recipientId: string }) {
  const [opened, { toggle }] = useDisclosure();
  const query = useQuery({
    queryKey: ['recipient', campaignId, recipientId],
    queryFn: async () => (await api.getCampaignRecipient(client, campaignId, recipientId)).data,
    enabled: opened,
  });
  return (
    <>
      <Anchor
        component="button"
        type="button"
        size="xs"
        c="inherit"
        td="underline"
        aria-expanded={opened}
        onClick={toggle}
      >
        {opened ? 'Hide the message' : 'Show the message'}
      </Anchor>
      {opened && (
        <Loaded query={query}>
          {({ message }) =>
            message ? (
              <Phone message={message} />
            ) : (
              <Text size="sm">The values of this message are not kept.</Text>
            )
          }
        </Loaded>
      )}
    </>
  );
}
