/** Money of the channel; and, for a campaign that waits for it: what is missing, recharge, start. */
import { Alert, Button, Card, Group, SimpleGrid, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, client, readSession } from '../../client.ts';
import { money, words } from '../../format.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Loaded } from '../../parts/faces.tsx';
import { useMove } from '../campaign/moves.ts';
import { OperatorKey } from './operator-key.tsx';
import { Screen } from '../../parts/screen.tsx';

const route = getRouteApi('/inside/wallet');
const countryNames = new Intl.DisplayNames(undefined, { type: 'region' });

export function Wallet() {
  const { campaign: campaignId } = route.useSearch();
  const campaign = useQuery({
    queryKey: ['campaign', campaignId],
    queryFn: async () => (await api.getCampaign(client, campaignId ?? '')).data,
    enabled: campaignId !== undefined,
    refetchInterval: 5_000,
  });
  const channels = useQuery({
    queryKey: ['channels'],
    queryFn: async () => (await api.listChannels(client)).data,
  });
  const session = useQuery({ queryKey: ['session'], queryFn: readSession });
  const ownId = session.data?.channelId ?? channels.data?.[0]?.id;
  const channelId = campaignId === undefined ? ownId : campaign.data?.channel_id;
  const ofChannel: UseQueryResult<unknown> = campaignId === undefined ? channels : campaign;
  return (
    <Screen title="Wallet">
      {campaign.data !== undefined && <Waiting campaign={campaign.data} />}
      {channelId === undefined ? (
        <Loaded query={ofChannel}>{() => <Text>There is no channel in this workspace yet.</Text>}</Loaded>
      ) : (
        <Purse channelId={channelId} campaignId={campaignId} isOperator={session.data?.operator ?? false} />
      )}
    </Screen>
  );
}

function useDiagnosis(campaignId: string | undefined) {
  return useQuery({
    queryKey: ['campaign', campaignId, 'diagnosis'],
    queryFn: async () => (await api.getCampaignDiagnosis(client, campaignId ?? '')).data,
    enabled: campaignId !== undefined,
    refetchInterval: 5_000,
  });
}

function Waiting({ campaign: { id, name, status: standing } }: { campaign: api.CampaignDetail }) {
  const diagnosis = useDiagnosis(id);
  const navigate = useNavigate();
  const move = useMove(id);
  const [status] = diagnosis.data ?? [];
  const short = diagnosis.data?.find(({ check }) => check === 'WALLET');
  if (status === undefined) return <Loaded query={diagnosis}>{() => null}</Loaded>;
  return (
    <Alert color={status.ok ? 'teal' : 'orange'} variant="light" role="status" aria-live="polite">
      <Stack gap={6}>
        <Text fw={600} dir="auto">
          {name}
        </Text>
        <Text>{status.detail}</Text>
        {status.action && <Text size="sm">{status.action}</Text>}
        {status.ok && short?.action && (
          <Text size="sm">
            {short.detail} {short.action}
          </Text>
        )}
        <Group>
          {standing === 'PAUSED' && (
            <ActionButton
              size="xs"
              variant={short?.ok === false ? 'default' : 'filled'}
              loading={move.isPending}
              onClick={() =>
                move.mutate('start', {
                  onSuccess: () => void navigate({ to: '/campaigns/$id', params: { id } }),
                })
              }
            >
              Start
            </ActionButton>
          )}
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => <Link {...props} to="/campaigns/$id" params={{ id }} />}
          >
            Back to the campaign
          </Button>
        </Group>
        {move.error && <Text c="red">{move.error.message}</Text>}
      </Stack>
    </Alert>
  );
}

interface PurseProps {
  readonly channelId: string;
  readonly campaignId: string | undefined;
  readonly isOperator: boolean;
}

function Purse({ channelId, campaignId, isOperator }: PurseProps) {
  const [isAllowed, { open: allow }] = useDisclosure();
  const wallet = useQuery({
    queryKey: ['wallet', channelId],
    queryFn: async () => (await api.getWallet(client, { channel_id: channelId })).data,
    refetchInterval: 5_000,
  });
  return (
    <Loaded query={wallet}>
      {({ balance, reserved, currency, message_prices: prices }) => (
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <Amount name="Can be spent" value={money(String(Number(balance) - Number(reserved)), currency)} />
            <Amount name="Balance" value={money(balance, currency)} />
            <Amount name="Reserved for messages under way" value={money(reserved, currency)} />
          </SimpleGrid>
          {isOperator ? (
            <Recharge
              channelId={channelId}
              campaignId={campaignId}
              currency={currency}
              isFollowingKey={isAllowed}
            />
          ) : (
            <OperatorKey onAllowed={allow} />
          )}
          <Card withBorder>
            <Title order={2} size="h4" mb="sm">
              Prices
            </Title>
            <Table.ScrollContainer minWidth={250} mah={300}>
              <Table stickyHeader horizontalSpacing={6}>
                <Table.Thead bg="var(--mantine-color-default)">
                  <Table.Tr>
                    <Table.Th>Category</Table.Th>
                    <Table.Th>Country</Table.Th>
                    <Table.Th ta="right">Price, {currency}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {prices.map(({ category, country, price }) => (
                    <Table.Tr key={`${category} ${country}`}>
                      <Table.Td>{words(category)}</Table.Td>
                      <Table.Td>
                        {country === null ? 'Every other' : (countryNames.of(country) ?? country)}
                      </Table.Td>
                      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                        {money(price)}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </Card>
        </Stack>
      )}
    </Loaded>
  );
}

function Amount({ name, value }: { name: string; value: string }) {
  return (
    <Card withBorder padding="md">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz={22} fw={700}>
        {value}
      </Text>
    </Card>
  );
}

interface RechargeProps {
  readonly channelId: string;
  readonly campaignId: string | undefined;
  readonly currency: string;
  /** Stands where the field of the key was. */
  readonly isFollowingKey: boolean;
}

function Recharge({ channelId, campaignId, currency, isFollowingKey }: RechargeProps) {
  const diagnosis = useDiagnosis(campaignId);
  const missing = diagnosis.data?.find(({ check }) => check === 'WALLET')?.missing ?? '';
  const [typed, setTyped] = useState<string>();
  const queryClient = useQueryClient();
  const amount = typed ?? missing;
  const recharge = useMutation({
    mutationFn: async () => {
      const plain = amount.trim().replace(',', '.');
      if (!(Number(plain) > 0)) throw new Error('Type an amount above 0, such as 20.28.');
      return api.rechargeWallet(client, { channel_id: channelId, amount: plain });
    },
    onSuccess: async () => {
      setTyped('');
      await queryClient.invalidateQueries({ queryKey: ['wallet', channelId] });
      await queryClient.invalidateQueries({ queryKey: ['campaign', campaignId] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    recharge.mutate();
  };
  return (
    <Card withBorder component="form" onSubmit={submit}>
      <Group align="flex-end">
        <TextInput
          label={`Amount in ${currency}`}
          inputMode="decimal"
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the field that had the focus is gone
          autoFocus={isFollowingKey}
          value={amount}
          onChange={(event) => setTyped(event.currentTarget.value)}
          required
          withAsterisk={false}
        />
        <ActionButton type="submit" loading={recharge.isPending}>
          Recharge
        </ActionButton>
      </Group>
      {recharge.error && (
        <Text c="red" size="sm" mt="xs" role="alert">
          {recharge.error.message}
        </Text>
      )}
      {recharge.data && (
        <Text size="sm" mt="xs" role="status">
          Recharged.
        </Text>
      )}
    </Card>
  );
}
