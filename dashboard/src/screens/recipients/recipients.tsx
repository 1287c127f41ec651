/** Recipients of a campaign with their states: filters in the address, an export, and one recipient in full. */
import { Button, Group, MultiSelect, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { memo } from 'react';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import { recipientStates, type RecipientState } from '../../../../src/domain/campaigns/recipient.ts';
import { campaignStates } from '../../../../src/domain/contacts/predicate.ts';
import { api, client } from '../../client.ts';
import { phone } from '../../format.ts';
import { IconDownload } from '@tabler/icons-react';
import { keepDataOf } from '../../parts/tables/keep-data.ts';
import { EmptyFace, ErrorFace, KeptRows, LoadingFace } from '../../parts/display/load-states.tsx';
import { PanelLink } from '../../parts/tables/panel-link.tsx';
import { SearchField } from '../../parts/forms/search-field.tsx';
import { ShowMore } from '../../parts/tables/show-more.tsx';
import { SidePanel } from '../../parts/controls/side-panel.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { Status } from '../../parts/display/status.tsx';
import { InRows, Time } from '../../parts/display/time.tsx';
import { explain } from '../../reasons.ts';
import { exportAddress } from '../campaign/campaign-actions.ts';
import { CampaignPart, useCampaign } from '../campaign/frame.tsx';
import { Recipient } from './recipient.tsx';

const route = getRouteApi('/inside/campaigns/$id/recipients');

export function Recipients() {
  const { id } = route.useParams();
  const { state, reason, phone: number, recipient } = route.useSearch();
  const navigate = route.useNavigate();
  const campaign = useCampaign(id);
  const filter = { state: state as RecipientState[] | undefined, reason, phone_number: number };
  const isArchived = campaign.data?.archived_at != null;
  const isFinal =
    campaign.data !== undefined &&
    isFinished(campaign.data.status) &&
    campaign.data.counters.accepted + campaign.data.counters.sent === 0;
  const list = useInfiniteQuery({
    queryKey: ['recipients', id, filter],
    queryFn: ({ pageParam }) =>
      api.listCampaignRecipients(client, id, { ...filter, cursor: pageParam, limit: 100 }),
    enabled: !isArchived,
    initialPageParam: undefined as string | undefined,
    placeholderData: keepDataOf(id),
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
    // Polls only while one page is loaded: new rows would move the list under a reader further down.
    refetchInterval: ({ state: { data } }) => (isFinal || (data?.pages.length ?? 1) > 1 ? false : 5_000),
  });
  const reasons = Object.keys({ ...campaign.data?.failed_reasons, ...campaign.data?.skipped_reasons });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <CampaignPart
      id={id}
      title="Recipients"
      actions={
        <Button
          component="a"
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          href={exportAddress(
            id,
            new URLSearchParams([
              ...(state ?? []).map((one) => ['state', one]),
              ...(reason ?? []).map((one) => ['reason', one]),
              ...(number === undefined ? [] : [['phone_number', number]]),
            ]),
          )}
        >
          Export CSV
        </Button>
      }
    >
      <Group align="flex-end">
        <SearchField
          label="Phone number"
          placeholder="0151 … or +49 151 …"
          given={number}
          w={{ base: '100%', xs: 200 }}
          onSearch={(text) => navigate({ search: (old) => ({ ...old, phone: text }), replace: true })}
        />
        <MultiSelect
          label="State"
          placeholder={state ? '' : 'Any'}
          clearable
          data={recipientStates.map((value) => ({ value, label: stateWord(value) }))}
          value={state ?? []}
          onChange={(chosen) =>
            void navigate({ search: (old) => ({ ...old, state: chosen.length > 0 ? chosen : undefined }) })
          }
          w={{ base: '100%', xs: 260 }}
        />
        <MultiSelect
          label="Reason"
          placeholder={reason ? '' : 'Any'}
          clearable
          data={[...new Set([...reasons, ...(reason ?? [])])].map((value) => ({
            value,
            label: explain(value).title,
          }))}
          value={reason ?? []}
          onChange={(chosen) =>
            void navigate({ search: (old) => ({ ...old, reason: chosen.length > 0 ? chosen : undefined }) })
          }
          w={{ base: '100%', xs: 300 }}
        />
        {!isArchived && <SendToThese id={id} states={state} isNarrowed={!!reason || !!number} />}
      </Group>
      {list.error && <ErrorFace error={list.error} retry={() => void list.refetch()} />}
      {isArchived && (
        <EmptyFace title="Deleted">
          The recipients were deleted because the campaign ended long ago. The totals are still there.
        </EmptyFace>
      )}
      {list.isPending && !isArchived && <LoadingFace />}
      {list.data && rows.length === 0 && !list.isPlaceholderData && (
        <EmptyFace title="Nobody matches">
          {state || reason || number ? 'Clear a filter.' : 'The audience is being prepared.'}
        </EmptyFace>
      )}
      {rows.length > 0 && (
        <KeptRows query={list}>
          <Table.ScrollContainer minWidth={640}>
            <Table highlightOnHover>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Phone number</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th>Reason</Table.Th>
                  <Table.Th ta="right">Line</Table.Th>
                  <Table.Th>Changed</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                <InRows value>
                  {rows.map((row) => (
                    <Row key={row.id} row={row} />
                  ))}
                </InRows>
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </KeptRows>
      )}
      <ShowMore list={list} />
      <SidePanel
        label="Recipient"
        opened={recipient !== undefined}
        onClose={() => void navigate({ search: (old) => ({ ...old, recipient: undefined }) })}
      >
        {recipient !== undefined && <Recipient campaignId={id} recipientId={recipient} />}
      </SidePanel>
    </CampaignPart>
  );
}

interface SendToTheseProps {
  readonly id: string;
  readonly states: readonly string[] | undefined;
  /** By a reason or a number, which a new campaign cannot ask for. */
  readonly isNarrowed: boolean;
}

/** A new campaign to the people in the chosen states. */
function SendToThese({ id, states = [], isNarrowed }: SendToTheseProps) {
  const navigate = useNavigate();
  const known: readonly string[] = campaignStates;
  if (states.length === 0 || isNarrowed || !states.every((one) => known.includes(one))) return null;
  return (
    <Button
      onClick={() => void navigate({ to: '/campaigns/new', search: { reached: id, state: [...states] } })}
    >
      Send to these
    </Button>
  );
}

/** Memoized: opening a recipient or loading more must not draw thousands of rows again. */
const Row = memo(function Row({ row }: { row: api.Recipient }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PanelLink name="recipient" id={row.id}>
          {row.phone_number ? phone(row.phone_number) : 'No number'}
        </PanelLink>
      </Table.Td>
      <Table.Td>
        <Status state={row.state} />
      </Table.Td>
      <Table.Td>
        {row.reason && <Text size="sm">{explain(row.reason).title}</Text>}
        {row.reason_detail && (
          <Text size="xs" c="dimmed" dir="auto">
            {row.reason_detail}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{row.line_number ?? ''}</Table.Td>
      <Table.Td>
        <Text size="sm">
          <Time at={row.updated_at} />
        </Text>
      </Table.Td>
    </Table.Tr>
  );
});
