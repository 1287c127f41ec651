/**
 * Balance and ledger of a channel; for a campaign that is paused for lack of money also what is missing, recharge and start.
 */
import { Grid, Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconWallet } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useChannels, useOwnChannel, useSession } from '../../account.ts';
import { api, client } from '../../client.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { OperatorKey } from '../../parts/forms/operator-key.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Balance } from './balance.tsx';
import { Figures } from './figures.tsx';
import { Ledger } from './ledger.tsx';
import { Prices } from './prices.tsx';
import { Recharge } from './recharge.tsx';
import { presentMonth, Statement } from './statement.tsx';
import { Waiting } from './waiting.tsx';

const route = getRouteApi('/inside/wallet');

export function Wallet() {
  const { campaign: campaignId, channel: chosen, statement: month } = route.useSearch();
  const navigate = route.useNavigate();
  const campaign = useQuery({
    queryKey: ['campaign', campaignId],
    queryFn: async () => (await api.getCampaign(client, campaignId ?? '')).data,
    enabled: campaignId !== undefined,
    refetchInterval: 15_000,
  });
  const channels = useChannels();
  const own = useOwnChannel();
  const channelId = campaignId === undefined ? (chosen ?? own) : campaign.data?.channel_id;
  const several = (channels.data?.length ?? 0) > 1 && campaignId === undefined;
  return (
    <Screen
      title={month === undefined ? 'Wallet' : 'Statement'}
      {...(month !== undefined && {
        path: [
          <TextLink key="wallet" to="/wallet" search={{ channel: chosen }}>
            Wallet
          </TextLink>,
        ],
      })}
      actions={
        <>
          {month === undefined && channelId !== undefined && (
            <ButtonLink
              variant="default"
              to="/wallet"
              search={{ channel: chosen, statement: presentMonth() }}
            >
              Statement
            </ButtonLink>
          )}
          {several && (
            <Select
              aria-label="Channel"
              allowDeselect={false}
              data={channels.data?.map(({ id, display_phone_number: label }) => ({ value: id, label })) ?? []}
              value={channelId ?? null}
              onChange={(channel) =>
                void navigate({ search: (before) => ({ ...before, channel: channel ?? undefined }) })
              }
            />
          )}
        </>
      }
    >
      {campaign.data !== undefined && <Waiting campaign={campaign.data} />}
      {channelId === undefined && (
        <Loaded query={campaignId === undefined ? { ...channels, data: channels.data as unknown } : campaign}>
          {() => (
            <EmptyFace title="There is no channel in this workspace yet." icon={IconWallet}>
              A channel is a sending number with a wallet of its own; the operator of this service adds it.
            </EmptyFace>
          )}
        </Loaded>
      )}
      {channelId !== undefined && month !== undefined && (
        <Statement
          channelId={channelId}
          month={month}
          onMonth={(statement) => void navigate({ search: (before) => ({ ...before, statement }) })}
        />
      )}
      {channelId !== undefined && month === undefined && (
        <Purse key={channelId} channelId={channelId} campaignId={campaignId} />
      )}
    </Screen>
  );
}

function Purse({ channelId, campaignId }: { channelId: string; campaignId: string | undefined }) {
  const session = useSession();
  const wallet = useQuery({
    queryKey: ['wallet', channelId],
    queryFn: async () => (await api.getWallet(client, { channel_id: channelId })).data,
    refetchInterval: 15_000,
  });
  return (
    <Loaded query={wallet}>
      {(purse) => (
        <Stack gap="lg">
          <Balance wallet={purse} />
          {session?.operator === true ? (
            <Recharge channelId={channelId} campaignId={campaignId} currency={purse.currency} />
          ) : (
            <OperatorKey purpose="To recharge" label="Allow recharging" />
          )}
          <Grid gap="lg" align="flex-start">
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <Stack gap="lg">
                <Figures channelId={channelId} currency={purse.currency} />
                <Ledger channelId={channelId} currency={purse.currency} />
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <Prices wallet={purse} />
            </Grid.Col>
          </Grid>
        </Stack>
      )}
    </Loaded>
  );
}
