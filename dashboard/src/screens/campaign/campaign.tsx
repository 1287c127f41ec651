/** One campaign: its state, diagnosis, progress, figures and actions. */
import { Card, Grid, Group, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useDidUpdate, useDocumentVisibility, useNetwork } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { isFinished, type CampaignStatus } from '../../../../src/domain/campaigns/campaign.ts';
import { api, client } from '../../client.ts';
import { number, percent } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Timeline } from './timeline.tsx';
import { doneOf, StateBar, StateLegend } from '../../parts/display/state-bar.tsx';
import { CampaignDetails, Figures } from './facts.tsx';
import { Evidence } from './evidence.tsx';
import { Failures } from './failures.tsx';
import { Diagnosis } from './diagnosis.tsx';
import { useProgress } from './use-progress.ts';
import { stateWord } from '../../parts/display/states.ts';
import { Funnel } from './funnel.tsx';
import { CampaignFrame } from './frame.tsx';
import { SentMessage } from './sent-message.tsx';
import { Screen } from '../../parts/display/screen.tsx';

const route = getRouteApi('/inside/campaigns/$id');

/** Poll interval in ms. The event stream carries no failure reasons, and ends before the last receipts come. */
const pauseMs = (status: CampaignStatus | undefined): number =>
  status !== undefined && isFinished(status) ? 10_000 : 30_000;

const messagesOf = ({ counters: { accepted, sent, delivered, read } }: api.CampaignDetail): number =>
  accepted + sent + delivered + read;

export function Campaign() {
  const { id } = route.useParams();
  const record = useQuery({
    queryKey: ['campaign', id],
    queryFn: async () => (await api.getCampaign(client, id)).data,
    refetchInterval: ({ state: { data } }) => pauseMs(data?.status),
  });
  if (record.data !== undefined) return <Followed campaign={record.data} />;
  return (
    <Screen title="Campaign">
      <Loaded query={record}>{() => null}</Loaded>
    </Screen>
  );
}

function Followed({ campaign: record }: { campaign: api.CampaignDetail }) {
  const { online } = useNetwork();
  // A browser opens six connections to a server: the streams of six hidden tabs would leave none for any other request.
  const isVisible = useDocumentVisibility() === 'visible';
  const { progress, live } = useProgress(record.id, online && isVisible && !isFinished(record.status));
  // The record is fetched again when the stream ends, and is newer than the last progress then.
  const campaign: api.CampaignDetail =
    progress && !isFinished(record.status) ? { ...record, ...progress } : record;
  const { id, status, counters, total_contacts: total } = campaign;
  const isOver = isFinished(status);
  const queryClient = useQueryClient();
  // The last progress may say so before the stream ends: the plot and the reasons must not lag behind the numbers.
  useDidUpdate(() => {
    if (isOver) void queryClient.invalidateQueries({ queryKey: ['campaign', id] });
  }, [isOver]);
  const done = doneOf(campaign);
  const standing = isOver ? 'ended' : 'connecting …';
  const rate = status === 'RUNNING' ? (progress?.rate ?? 0) : 0;
  return (
    <CampaignFrame id={id} campaign={campaign}>
      {/* Screen readers announce the state, but not the numbers, which change each second. */}
      <VisuallyHidden role="status">{`The campaign is ${stateWord(status)}`}</VisuallyHidden>
      <Diagnosis campaign={campaign} isSending={rate > 0} />
      <Evidence campaign={campaign} />
      <Grid gap="lg" align="flex-start">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="lg">
            <Card withBorder>
              <Stack>
                <Group justify="space-between">
                  <Text
                    fw={600}
                    role="progressbar"
                    aria-valuenow={total === 0 ? 0 : Math.floor((done / total) * 100)}
                    aria-valuetext={`${percent(done, total)} processed`}
                    aria-label="Progress"
                  >
                    {total === 0 && !isFinished(status)
                      ? 'Preparing the audience …'
                      : `${number(done)} of ${number(total)} processed`}
                  </Text>
                  <Text size="sm" c="dimmed" aria-live="off">
                    {live ? '● live' : standing}
                  </Text>
                </Group>
                <StateBar counters={counters} />
                <StateLegend counters={counters} campaignId={id} />
                <Funnel campaign={campaign} />
              </Stack>
            </Card>

            <Figures
              campaign={campaign}
              paid={messagesOf(campaign)}
              rate={rate}
              etaSeconds={progress?.eta_seconds ?? null}
            />
            <Timeline campaign={record} />
            <Failures campaign={campaign} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="lg">
            <CampaignDetails campaign={campaign} />
            <SentMessage campaign={campaign} />
          </Stack>
        </Grid.Col>
      </Grid>
    </CampaignFrame>
  );
}
