import { Alert, Box, Button, Card, Group, Pagination, Progress, Select, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { campaignStatuses, type CampaignStatus } from '../../../../src/domain/campaigns/campaign.ts';
import { waitingSentence } from '../../../../src/domain/campaigns/diagnosis.ts';
import { api, client } from '../../client.ts';
import { number, percent } from '../../format.ts';
import { EmptyFace, Loaded } from '../../parts/faces.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { doneOf, StateBar } from '../../parts/state-bar.tsx';
import { stateWord } from '../../parts/states.ts';
import { Status } from '../../parts/status.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { Time } from '../../parts/time.tsx';
import { waits } from '../../reasons.ts';
import { Screen } from '../../parts/screen.tsx';

const route = getRouteApi('/inside/campaigns');
const pageSize = 20;
type ListedCampaign = api.Campaign;

export function Campaigns() {
  const { status, search, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const filtered = status !== undefined || search !== undefined;
  const queryClient = useQueryClient();
  const queryKey = ['campaigns', { status, search, page }];
  const list = useQuery({
    queryKey,
    queryFn: async () => {
      const answer = await api.listCampaigns(client, {
        page,
        limit: pageSize,
        search,
        status: status === undefined ? undefined : [status as CampaignStatus],
      });
      const seen = { ...answer, atMs: performance.now() };
      return { ...seen, rates: ratesBetween(queryClient.getQueryData(queryKey), seen) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
  const paused = useQuery({
    queryKey: ['campaigns', 'paused'],
    queryFn: () => api.listCampaigns(client, { limit: 5, status: ['PAUSED'] }),
    enabled: !filtered,
    refetchInterval: 10_000,
  });
  return (
    <Screen
      title="Campaigns"
      actions={<Button renderRoot={(props) => <Link {...props} to="/campaigns/new" />}>New campaign</Button>}
    >
      {!filtered && (paused.data?.data.length ?? 0) > 0 && <Attention campaigns={paused.data?.data ?? []} />}
      <Group>
        <SearchField
          aria-label="Search by name"
          placeholder="Search by name"
          given={search}
          look={(text) =>
            navigate({ search: (old) => ({ ...old, search: text, page: undefined }), replace: true })
          }
          style={{ flexGrow: 1 }}
        />
        <Select
          aria-label="Status"
          placeholder="Any status"
          clearable
          data={campaignStatuses.map((value) => ({ value, label: stateWord(value) }))}
          value={status ?? null}
          onChange={(value) =>
            void navigate({ search: (old) => ({ ...old, status: value ?? undefined, page: undefined }) })
          }
          w={170}
        />
      </Group>
      <Loaded query={list}>
        {({ data, pagination, rates }) =>
          data.length === 0 ? (
            <NoCampaigns filtered={filtered} />
          ) : (
            <Stack gap="sm">
              {data.map((campaign) => (
                <Row key={campaign.id} campaign={campaign} rate={rates.get(campaign.id)} />
              ))}
              {pagination.totalPages > 1 && (
                <Pagination
                  total={pagination.totalPages}
                  value={page}
                  onChange={(next) => void navigate({ search: (old) => ({ ...old, page: next }) })}
                  getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                />
              )}
            </Stack>
          )
        }
      </Loaded>
    </Screen>
  );
}

function NoCampaigns({ filtered }: { filtered: boolean }) {
  if (filtered)
    return <EmptyFace title="Nothing matches">Take a filter away, or search for another name.</EmptyFace>;
  return (
    <EmptyFace title="No campaign yet">
      Choose a template and drop a CSV:{' '}
      <TextLink to="/campaigns/new" fz="inherit" underline="always">
        create the first campaign
      </TextLink>
      .
    </EmptyFace>
  );
}

const why: Readonly<Record<string, string>> = {
  INSUFFICIENT_BALANCE: 'The wallet is empty',
  BROADCAST_QUOTA: 'The month’s broadcasts are used',
  TEMPLATE_UNAVAILABLE: 'The template may not be sent',
  CHANNEL_BLOCKED: 'The channel is blocked',
  OPERATOR: 'Paused by an operator',
};

function Attention({ campaigns }: { campaigns: readonly ListedCampaign[] }) {
  return (
    <Alert color="orange" variant="light" title="These wait for you">
      <Stack gap={4}>
        {campaigns.map(({ id, name, pause_reason: reason, counters }) => (
          <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <TextLink to="/campaigns/$id" params={{ id }} dir="auto" fz="inherit" underline="always">
              {name}
            </TextLink>
            {`: ${why[reason ?? ''] ?? 'Paused'}. ${waitingSentence(counters.pending)}`}
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}

interface Answer {
  readonly atMs: number;
  readonly data: readonly ListedCampaign[];
}

/** Messages a second of those that run, between two answers of the list. */
function ratesBetween(earlier: Answer | undefined, { atMs, data }: Answer): ReadonlyMap<string, number> {
  const before = new Map(earlier?.data.map((campaign) => [campaign.id, doneOf(campaign)]));
  const seconds = (atMs - (earlier?.atMs ?? atMs)) / 1000;
  return new Map(
    data.flatMap((campaign) => {
      const done = before.get(campaign.id);
      if (done === undefined || campaign.status !== 'RUNNING' || seconds < 1) return [];
      return [[campaign.id, Math.round((doneOf(campaign) - done) / seconds)] as const];
    }),
  );
}

function Row({ campaign, rate }: { campaign: ListedCampaign; rate: number | undefined }) {
  const { id, name, status, total_contacts: total, counters, template, created_at: created } = campaign;
  const done = doneOf(campaign);
  const wait = campaign.waiting_for && waits[campaign.waiting_for];
  return (
    <Card
      withBorder
      padding="md"
      // A card shows no focus by itself.
      className="mantine-focus-auto"
      renderRoot={(props) => <Link {...props} to="/campaigns/$id" params={{ id }} />}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Box miw={0}>
          <Text fw={600} lineClamp={2} dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {template.name} · <Time at={created} />
            {rate !== undefined && ` · ${number(rate)} / s`}
            {wait && ` · ${wait}`}
          </Text>
        </Box>
        <Status state={status} />
      </Group>
      {total > 0 && (
        <Group mt="sm" gap="md" wrap="nowrap">
          <Box style={{ flexGrow: 1 }}>
            <StateBar counters={counters} slim />
          </Box>
          <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
            {percent(done, total)} of {number(total)}
          </Text>
        </Group>
      )}
      {total === 0 && campaign.preparation_status === 'PREPARING' && status !== 'CANCELLED' && (
        <Progress value={100} animated mt="sm" size="sm" aria-label="The audience is being prepared" />
      )}
    </Card>
  );
}
