/** All campaigns as a table: filters in the address, actions on each row. */
import { Group, Pagination, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconBroadcast, IconPlus, IconSearchOff } from '@tabler/icons-react';
import { campaignStatuses } from '../../../../src/domain/campaigns/campaign.ts';
import { useCurrency } from '../../account.ts';
import { api, client } from '../../client.ts';
import { counted } from '../../format.ts';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { BeyondEnd, EmptyFace, ErrorFace, LoadingFace } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { useBulk } from '../../parts/tables/use-bulk.ts';
import { CampaignBulk } from './bulk.tsx';
import { campaignColumns } from './columns.tsx';
import { instantsOf } from '../../days.ts';
import { Filters } from './filters.tsx';

const route = getRouteApi('/inside/campaigns');
const pageSize = 25;

export function Campaigns() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const currency = useCurrency();
  const { status, search: name, template, from, to, page = 1 } = search;
  const filtered = [status, name, template, from, to].some((one) => one !== undefined);
  const list = useQuery({
    queryKey: ['campaigns', { status, name, template, from, to, page }],
    queryFn: () =>
      api.listCampaigns(client, {
        page,
        limit: pageSize,
        search: name,
        status: campaignStatuses.filter((known) => known === status),
        template_id: template,
        ...instantsOf({ from, to }),
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
  const { data: answer } = list;
  const bulk = useBulk(['campaigns'], answer?.data);
  return (
    <Screen
      title="Campaigns"
      actions={
        <ButtonLink to="/campaigns/new" leftSection={<IconPlus size={16} aria-hidden />}>
          New campaign
        </ButtonLink>
      }
    >
      <Filters
        value={search}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, ...next, page: undefined }) })}
      />
      {list.error && answer === undefined && (
        <ErrorFace error={list.error} retry={() => void list.refetch()} />
      )}
      {list.isPending && <LoadingFace rows={8} />}
      {answer?.data.length === 0 &&
        (page === 1 ? (
          <NoCampaigns filtered={filtered} />
        ) : (
          <BeyondEnd toFirst={() => void navigate({ search: (old) => ({ ...old, page: undefined }) })} />
        ))}
      {answer !== undefined && answer.data.length > 0 && (
        <>
          <CampaignBulk bulk={bulk} />
          <DataTable
            label="Campaigns"
            selection={{ ...bulk, nameOf: ({ name: title }) => title }}
            columns={campaignColumns(currency)}
            rows={answer.data}
            keyOf={({ id }) => id}
          />
          <Group justify="space-between">
            <Text size="sm" c="dimmed">
              {counted(answer.pagination.total, 'campaign')}
            </Text>
            {answer.pagination.totalPages > 1 && (
              <Pagination
                total={answer.pagination.totalPages}
                value={page}
                onChange={(next) => void navigate({ search: (old) => ({ ...old, page: next }) })}
                getControlProps={(control) => ({ 'aria-label': `${control} page` })}
              />
            )}
          </Group>
        </>
      )}
    </Screen>
  );
}

function NoCampaigns({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <EmptyFace title="Nothing matches" icon={IconSearchOff}>
        Clear a filter, or search for another name.
      </EmptyFace>
    );
  return (
    <EmptyFace
      title="No campaign yet"
      icon={IconBroadcast}
      action={<ButtonLink to="/campaigns/new">Create the first campaign</ButtonLink>}
    >
      A campaign sends an approved template to many people. Choose a template and upload your list.
    </EmptyFace>
  );
}
