/** Notices of the service in one tab; the audit log of what each key did in the other. */
import { Badge, Button, Card, Group, Stack, Tabs, Text } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, client } from '../../client.ts';
import { words } from '../../format.ts';
import { EmptyFace, Loaded } from '../../parts/faces.tsx';
import { Screen } from '../../parts/screen.tsx';
import { ShowMore } from '../../parts/show-more.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { Time } from '../../parts/time.tsx';
import { Audit } from './audit.tsx';

const route = getRouteApi('/inside/activity');

export function Activity() {
  const { view = 'notices' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Screen title="Activity">
      <Tabs
        value={view === 'audit' ? 'audit' : 'notices'}
        onChange={(next) => void navigate({ search: { view: next ?? undefined } })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="notices">Notices</Tabs.Tab>
          <Tabs.Tab value="audit">Who did what</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="notices" pt="md">
          <NoticeList />
        </Tabs.Panel>
        <Tabs.Panel value="audit" pt="md">
          <Audit />
        </Tabs.Panel>
      </Tabs>
    </Screen>
  );
}

function NoticeList() {
  const queryClient = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: ['notices', 'list'],
    queryFn: ({ pageParam }) => api.listNotices(client, { cursor: pageParam, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const read = useMutation({
    mutationFn: (until: string) => api.readNotices(client, { until }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['notices'] }),
  });
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const notices = pages.flatMap(({ data }) => data);
        const [newest] = notices;
        if (newest === undefined) {
          return (
            <EmptyFace title="No notice" icon={IconBell}>
              Paused campaigns, blocked channels, changed templates and disabled webhooks are told here.
            </EmptyFace>
          );
        }
        return (
          <Stack gap="xs">
            {notices.some(({ readAt }) => readAt === null) && (
              <Button
                variant="default"
                size="xs"
                w="max-content"
                onClick={() => read.mutate(newest.createdAt)}
              >
                Mark all as read
              </Button>
            )}
            {notices.map((notice) => (
              <NoticeCard key={notice.id} notice={notice} />
            ))}
            <ShowMore list={list} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

function NoticeCard({ notice: { kind, subject, message, createdAt, readAt } }: { notice: api.Notice }) {
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <Group gap="xs">
          {subject.type === 'campaign' ? (
            <TextLink to="/campaigns/$id" params={{ id: subject.id }} fw={600} dir="auto">
              {subject.name}
            </TextLink>
          ) : (
            <Text fw={600} dir="auto">
              {subject.name}
            </Text>
          )}
          <Badge variant="light" tt="none" color={readAt === null ? 'blue' : 'gray'}>
            {words(kind)}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          <Time at={createdAt} />
        </Text>
      </Group>
      <Text size="sm" mt={4}>
        {message}
      </Text>
    </Card>
  );
}
