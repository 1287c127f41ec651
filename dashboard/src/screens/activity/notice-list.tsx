/** The notices of the service, newest first. */
import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconBell, IconSearchOff } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { noticeKinds } from '../../../../src/domain/operations/notice.ts';
import { api, client } from '../../client.ts';
import { instantsOf } from '../../days.ts';
import { words } from '../../format.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { ActivityFilters, isFiltered, type FilterProps } from './filters.tsx';

export function NoticeList({ filter, onFilter }: FilterProps) {
  const queryClient = useQueryClient();
  const kind = noticeKinds.find((known) => known === filter.kind);
  const period = instantsOf(filter);
  const list = useInfiniteQuery({
    queryKey: ['notices', 'list', kind, period],
    queryFn: ({ pageParam }) => api.listNotices(client, { ...period, kind, cursor: pageParam, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  });
  const read = useMutation({
    mutationFn: (until: string) => api.readNotices(client, { until }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['notices'] }),
  });
  return (
    <>
      <ActivityFilters kinds={noticeKinds} filter={filter} onFilter={onFilter} />
      <Loaded query={list}>
        {({ pages }) => {
          const notices = pages.flatMap(({ data }) => data);
          const [newest] = notices;
          if (newest === undefined)
            return isFiltered(filter) ? (
              <EmptyFace title="No notice matches" icon={IconSearchOff}>
                Clear a filter.
              </EmptyFace>
            ) : (
              <EmptyFace title="No notice" icon={IconBell}>
                Paused campaigns, blocked channels, changed templates and disabled webhooks appear here.
              </EmptyFace>
            );
          return (
            <Stack gap="xs">
              {notices.some(({ readAt }) => readAt === null) && !isFiltered(filter) && (
                <Button
                  variant="default"
                  size="xs"
                  w="max-content"
                  onClick={() => read.mutate(newest.createdAt)}
                >
                  Mark all as read
                </Button>
              )}
              {read.error && (
                <Text c="red" size="sm" role="alert">
                  {read.error.message}
                </Text>
              )}
              {notices.map((notice) => (
                <NoticeCard key={notice.id} notice={notice} />
              ))}
              <ShowMore list={list} />
            </Stack>
          );
        }}
      </Loaded>
    </>
  );
}

function NoticeCard({ notice: { kind, subject, message, createdAt, readAt } }: { notice: api.Notice }) {
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <Group gap="xs">
          {subject.type === 'campaign' && (
            <TextLink to="/campaigns/$id" params={{ id: subject.id }} fw={600} dir="auto">
              {subject.name}
            </TextLink>
          )}
          {subject.type === 'conversation' && (
            <TextLink to="/conversations" search={{ conversation: subject.id }} fw={600}>
              {subject.name}
            </TextLink>
          )}
          {subject.type !== 'campaign' && subject.type !== 'conversation' && (
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
