/** How the last seven days went, what needs attention, and what runs now. */
import { Card, Stack, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { IconBroadcast } from '@tabler/icons-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { api, client } from '../../client.ts';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { EmptyFace, Loaded, LoadingFace } from '../../parts/display/load-states.tsx';
import { beginOf } from '../../parts/display/plot/series.ts';
import { Screen } from '../../parts/display/screen.tsx';
import { Attention } from './attention.tsx';
import { LatestCampaigns } from './latest.tsx';
import { Tiles } from './tiles.tsx';

// Loaded separately: the plot is a tenth of the screen's code, and the rest is shown without waiting for it.
const Plot = lazy(() => import('../../parts/display/plot/plot.tsx').then((file) => ({ default: file.Plot })));

const dayMs = 86_400_000;
const days = 7;

export function Overview() {
  // Midnight in the reader's zone. The API returns hours, which are summed into days of that zone.
  const [today] = useState(() => beginOf(new Date(), 'day').getTime());
  const { before, begin } = useMemo(() => {
    const daysAgo = (count: number) => beginOf(new Date(today - count * dayMs + dayMs / 2), 'day');
    return { before: daysAgo(2 * days - 1), begin: daysAgo(days - 1) };
  }, [today]);
  const overview = useQuery({
    queryKey: ['overview', before.toISOString()],
    queryFn: async () => {
      const query = { from: before.toISOString(), to: new Date().toISOString(), interval: 'hour' } as const;
      return (await api.getOverview(client, query)).data;
    },
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
  const latest = useQuery({
    queryKey: ['campaigns', 'latest'],
    queryFn: async () => (await api.listCampaigns(client, { limit: 10 })).data,
    refetchInterval: 15_000,
  });
  const isNew = latest.data?.length === 0;
  return (
    <Screen title="Overview" lead={`The last ${days} days, compared with the ${days} days before`}>
      {isNew ? (
        <Card withBorder>
          <Title order={2} size="h4">
            Campaigns
          </Title>
          <EmptyFace
            title="No campaign yet"
            icon={IconBroadcast}
            action={<ButtonLink to="/campaigns/new">Create the first campaign</ButtonLink>}
          >
            A campaign sends an approved template to many people. Choose a template and upload your list.
          </EmptyFace>
        </Card>
      ) : (
        <Stack gap="lg">
          <Attention />
          <Loaded query={overview}>
            {({ points }) => (
              <Stack gap="lg">
                <Tiles points={points} begin={begin} />
                <Card withBorder>
                  <Title order={2} size="h4" mb="sm">
                    Messages by day
                  </Title>
                  <Suspense fallback={<LoadingFace rows={3} />}>
                    <Plot
                      parts={points.filter(({ at }) => Date.parse(at) >= begin.getTime())}
                      step="day"
                      from={begin}
                      until={new Date(today + dayMs / 2)}
                    />
                  </Suspense>
                </Card>
              </Stack>
            )}
          </Loaded>
          <LatestCampaigns list={latest} />
        </Stack>
      )}
    </Screen>
  );
}
