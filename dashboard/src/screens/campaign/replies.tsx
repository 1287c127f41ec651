/** Conversations of those who answered a campaign, by status. */
import { Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconMessages } from '@tabler/icons-react';
import { api, client } from '../../client.ts';
import { counted, phone } from '../../format.ts';
import { keepDataOf } from '../../parts/tables/keep-data.ts';
import { DataTable, type Column } from '../../parts/tables/data-table.tsx';
import { EmptyFace, ErrorFace } from '../../parts/display/load-states.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { CampaignPart } from './frame.tsx';

const route = getRouteApi('/inside/campaigns/$id/replies');
const statuses = ['open', 'resolved', 'closed'] as const;
/** The most that one page of the API holds. */
const pageSize = 100;

const columns = (campaign: string): readonly Column<api.Conversation>[] => [
  {
    key: 'person',
    title: 'Person',
    cell: ({ id, contactName, contactPhoneNumber }) => (
      <TextLink to="/conversations" search={{ campaign, conversation: id }} fw={600} size="sm" dir="auto">
        {contactName || phone(contactPhoneNumber)}
      </TextLink>
    ),
  },
  { key: 'status', title: 'Status', cell: ({ status }) => <Status state={status} /> },
  { key: 'assigned', title: 'Assigned to', cell: ({ assignedTo: to }) => (to ? (to.name ?? to.id) : '—') },
  { key: 'last', title: 'Last message', cell: ({ lastMessageAt: at }) => <Time at={at} /> },
];

export function CampaignReplies() {
  const { id } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = statuses.find((known) => known === status);
  const list = useQuery({
    queryKey: ['conversations', id, wanted, pageSize],
    queryFn: () =>
      api.listConversations(client, {
        status: wanted,
        campaignId: id,
        sort: 'lastMessageAt',
        limit: pageSize,
      }),
    placeholderData: keepDataOf(id),
    refetchInterval: 10_000,
  });
  const rows = list.data?.data;
  return (
    <CampaignPart id={id} title="Replies">
      <Select
        label="Status"
        placeholder="Any"
        clearable
        data={statuses.map((value) => ({ value, label: stateWord(value) }))}
        value={wanted ?? null}
        onChange={(next) => void navigate({ search: { status: next ?? undefined } })}
        w={180}
      />
      {list.error && rows === undefined ? (
        <ErrorFace error={list.error} retry={() => void list.refetch()} />
      ) : (
        rows?.length !== 0 && (
          <DataTable label="Replies" columns={columns(id)} rows={rows} keyOf={({ id: key }) => key} />
        )
      )}
      {rows?.length === 0 && (
        <EmptyFace title="No reply" icon={IconMessages}>
          {wanted === undefined
            ? 'People who reply appear here, with a link to the conversation.'
            : 'Choose another status.'}
        </EmptyFace>
      )}
      {list.data !== undefined && list.data.pagination.total > pageSize && (
        <Text size="sm" c="dimmed">
          The latest {pageSize} of {counted(list.data.pagination.total, 'conversation')} are shown.
        </Text>
      )}
    </CampaignPart>
  );
}
