/** Messages over time: by minute while that is readable, by hour afterwards. */
import { Card, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import { api, client } from '../../client.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Plot } from '../../parts/display/plot/plot.tsx';
import type { Part } from '../../parts/display/plot/series.ts';

/** 12 h: 720 minutes, one for each point of a wide plot. */
const longestByMinuteMs = 12 * 3_600_000;

const spanOf = (parts: readonly Part[]): number =>
  Date.parse(parts.at(-1)?.at ?? '') - Date.parse(parts[0]?.at ?? '');

export function Timeline({
  campaign: { id, status, started_at: started, completed_at: ended },
}: {
  campaign: api.CampaignDetail;
}) {
  const timeline = useQuery({
    queryKey: ['campaign', id, 'timeline', ended],
    queryFn: async () => {
      const runMs = (ended === null ? Date.now() : Date.parse(ended)) - Date.parse(started ?? '');
      const interval = runMs > longestByMinuteMs ? 'hour' : 'minute';
      return { interval, parts: (await api.getCampaignTimeline(client, id, { interval })).data } as const;
    },
    placeholderData: keepPreviousData,
    // As often as the record, so that both say the same.
    refetchInterval: isFinished(status) ? 10_000 : 15_000,
  });
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        Messages over time
      </Title>
      <Loaded query={timeline}>
        {({ parts, interval }) =>
          parts.length === 0 ? (
            <Text c="dimmed" size="sm">
              Nothing was sent yet.
            </Text>
          ) : (
            // Receipts may come for days after a campaign that took minutes.
            <Plot parts={parts} step={spanOf(parts) > longestByMinuteMs ? 'hour' : interval} />
          )
        }
      </Loaded>
    </Card>
  );
}
