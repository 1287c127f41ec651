/** Conversations with contacts: the list at the left, the chosen one at the right. */
import { Grid, Group, SegmentedControl, Stack, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconMessages } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, client } from '../../client.ts';
import { keepDataOf } from '../../parts/tables/keep-data.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { InRows, Time } from '../../parts/display/time.tsx';
import classes from './conversations.module.css';
import { personOf } from './person.ts';
import { Thread } from './thread.tsx';

const route = getRouteApi('/inside/conversations');
const statuses = ['open', 'resolved', 'closed'] as const;

export function Conversations() {
  const { status, conversation: asked, campaign } = route.useSearch();
  const isWide = useMediaQuery('(min-width: 62em)', undefined, { getInitialValueInEffect: false });
  const navigate = route.useNavigate();
  const wanted = statuses.find((known) => known === status);
  const list = useQuery({
    queryKey: ['conversations', campaign, wanted],
    queryFn: () =>
      api.listConversations(client, {
        status: wanted,
        campaignId: campaign,
        sort: 'lastMessageAt',
        limit: 50,
      }),
    placeholderData: keepDataOf(campaign),
    refetchInterval: 10_000,
  });
  // Beside the list there is room for one; below it, on a phone, it would be far away.
  const chosen = asked ?? (isWide ? list.data?.data[0]?.id : undefined);
  return (
    <Screen title="Conversations" lead={campaign && <Replies campaignId={campaign} />}>
      <SegmentedControl
        aria-label="Status"
        w="max-content"
        value={wanted ?? 'all'}
        onChange={(next) =>
          void navigate({ search: (old) => ({ ...old, status: next === 'all' ? undefined : next }) })
        }
        data={[
          { value: 'all', label: 'All' },
          { value: 'open', label: 'Open' },
          { value: 'resolved', label: 'Resolved' },
          { value: 'closed', label: 'Closed' },
        ]}
      />
      <Loaded query={list}>
        {({ data, pagination: { total } }) =>
          data.length === 0 && asked === undefined && !list.isPlaceholderData ? (
            <EmptyFace title="No conversation" icon={IconMessages}>
              When someone replies, the conversation appears here.
            </EmptyFace>
          ) : (
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, md: 4 }}>
                <Stack
                  component="ul"
                  gap={0}
                  m={0}
                  p={0}
                  style={{ listStyle: 'none' }}
                  aria-label="Conversations"
                >
                  <InRows value>
                    {data.map((one) => (
                      <Row key={one.id} conversation={one} isChosen={one.id === chosen} />
                    ))}
                  </InRows>
                </Stack>
                {total > data.length && (
                  <Text size="sm" c="dimmed" mt="xs">
                    The {data.length} with the latest messages are shown.
                  </Text>
                )}
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 8 }}>
                {chosen === undefined ? (
                  <Text c="dimmed">Choose a conversation to read it.</Text>
                ) : (
                  <Thread key={chosen} id={chosen} />
                )}
              </Grid.Col>
            </Grid>
          )
        }
      </Loaded>
    </Screen>
  );
}

function Replies({ campaignId }: { campaignId: string }) {
  const { data } = useQuery({
    queryKey: ['campaign', campaignId],
    queryFn: async () => (await api.getCampaign(client, campaignId)).data,
  });
  return (
    <>
      Replies to{' '}
      <TextLink to="/campaigns/$id" params={{ id: campaignId }} fz="inherit">
        {data?.name ?? 'a campaign'}
      </TextLink>
      .{' '}
      <TextLink to="/conversations" fz="inherit">
        Show all
      </TextLink>
    </>
  );
}

function Row({ conversation, isChosen }: { conversation: api.Conversation; isChosen: boolean }) {
  const { id, status, assignedTo, lastMessageAt, createdAt } = conversation;
  const { name, number } = personOf(conversation);
  return (
    <li>
      <UnstyledButton
        w="100%"
        className={classes['row']}
        aria-current={isChosen ? 'true' : undefined}
        renderRoot={(props) => (
          <Link {...props} to="/conversations" search={(old) => ({ ...old, conversation: id })} />
        )}
      >
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text fw={600} size="sm" truncate dir="auto">
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            <Time at={lastMessageAt ?? createdAt} />
          </Text>
        </Group>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text size="xs" c="dimmed" truncate dir="auto">
            {[number, assignedTo && (assignedTo.name ?? assignedTo.id)].filter(Boolean).join(' · ') ||
              'Not assigned'}
          </Text>
          {status !== 'open' && <Status state={status} />}
        </Group>
      </UnstyledButton>
    </li>
  );
}
