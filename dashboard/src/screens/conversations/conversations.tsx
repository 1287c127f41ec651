/** Conversations with contacts: the list at the left, the chosen one at the right. */
import { Badge, Card, Grid, Group, SegmentedControl, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, client } from '../../client.ts';
import { phone } from '../../format.ts';
import { keepDataOf } from '../../parts/tables/keep-data.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { Thread } from './thread.tsx';

const route = getRouteApi('/inside/conversations');
const statuses = ['open', 'resolved', 'closed'] as const;

export function Conversations() {
  const { status, conversation: chosen, campaign } = route.useSearch();
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
          data.length === 0 && chosen === undefined && !list.isPlaceholderData ? (
            <EmptyFace title="No conversation" icon={IconMessages}>
              When a contact answers a message, the conversation appears here.
            </EmptyFace>
          ) : (
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, md: 4 }}>
                <Stack
                  component="ul"
                  gap={6}
                  m={0}
                  p={0}
                  style={{ listStyle: 'none' }}
                  aria-label="Conversations"
                >
                  {data.map((one) => (
                    <Row key={one.id} conversation={one} isChosen={one.id === chosen} />
                  ))}
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
  const { id, contactName, contactPhoneNumber, status, assignedTo, lastMessageAt, createdAt } = conversation;
  return (
    <li>
      <UnstyledButton
        w="100%"
        aria-current={isChosen ? 'true' : undefined}
        renderRoot={(props) => (
          <Link {...props} to="/conversations" search={(old) => ({ ...old, conversation: id })} />
        )}
      >
        <Card withBorder padding="sm" bg={isChosen ? 'var(--mantine-color-default-hover)' : undefined}>
          <Group justify="space-between" wrap="nowrap">
            <Text fw={600} size="sm" truncate dir="auto">
              {contactName || phone(contactPhoneNumber)}
            </Text>
            <Status state={status} />
          </Group>
          <Group justify="space-between" mt={4}>
            <Text size="xs" c="dimmed">
              <Time at={lastMessageAt ?? createdAt} />
            </Text>
            {assignedTo && (
              <Badge size="sm" variant="light" tt="none">
                {assignedTo.name ?? assignedTo.id}
              </Badge>
            )}
          </Group>
        </Card>
      </UnstyledButton>
    </li>
  );
}
