/** Shows the available balance, how long it lasts, and the limit below which it counts as low. */
import { Alert, Card, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { readAmount } from '../../amount.ts';
import { api, client } from '../../client.ts';
import { counted, money } from '../../format.ts';

const days = 7;

/** A balance that lasts for years says nothing about its end. */
const longestShown = 365;

const lasts = (left: number): string =>
  left < 1 ? 'enough for less than a day' : `enough for ${counted(left, 'more day')}`;

export function Balance({ wallet }: { wallet: api.Wallet }) {
  const { balance, reserved, currency, uncollected, low_balance_threshold: limit } = wallet;
  const available = Number(balance) - Number(reserved);
  const overview = useQuery({
    queryKey: ['overview', 'week'],
    queryFn: async () => (await api.getOverview(client)).data.totals,
    staleTime: 60_000,
  });
  const perDay = Number(overview.data?.charged ?? 0) / days;
  const left = perDay > 0 ? Math.floor(available / perDay) : undefined;
  return (
    <Stack>
      {limit !== null && available < Number(limit) && (
        <Alert
          color="orange"
          variant="light"
          icon={<IconAlertTriangle aria-hidden />}
          title="The balance is low"
        >
          {money(available.toFixed(6), currency)} is less than your limit of {money(limit, currency)}.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, lg: 4 }}>
        <Amount name="Available" value={money(available.toFixed(6), currency)} note="after reserved" />
        <Amount name="Balance" value={money(balance, currency)} />
        <Amount name="Reserved" value={money(reserved, currency)} note="for messages being sent" />
        <Amount
          name={`Average per day (${days} days)`}
          value={money(perDay.toFixed(2), currency)}
          note={left === undefined || left > longestShown ? undefined : lasts(left)}
        />
      </SimpleGrid>
      {Number(uncollected) > 0 && (
        <Text size="sm">
          {money(uncollected, currency)} for messages that arrived late is still to pay. The next recharge
          pays it first.
        </Text>
      )}
      <Limit wallet={wallet} />
    </Stack>
  );
}

/** 0.8 s after the last key. */
const savedAfterMs = 800;

function Limit({
  wallet: { channel_id: channelId, currency, low_balance_threshold: limit },
}: {
  wallet: api.Wallet;
}) {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState(limit ?? '');
  const read = readAmount(typed);
  const isOff = typed.trim() === '' || typed.trim() === '0';
  const save = useMutation({
    mutationFn: (threshold: string | null) => api.putLowBalance(client, { channel_id: channelId, threshold }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['wallet', channelId] }),
  });
  const saveSoon = useDebouncedCallback((threshold: string | null) => save.mutate(threshold), savedAfterMs);
  const problem = read.kind === 'problem' && !isOff ? read.message : save.error?.message;
  return (
    <Group align="flex-end">
      <TextInput
        label={`Warn below, in ${currency}`}
        description="A notice tells everybody in this workspace. Leave it empty for none."
        inputMode="decimal"
        maw={360}
        value={typed}
        error={problem}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          const next = readAmount(value);
          if (value.trim() === '' || value.trim() === '0') saveSoon(null);
          else if (next.kind === 'amount') saveSoon(next.text);
        }}
      />
      {save.isSuccess && problem === undefined && (
        <Text size="sm" c="dimmed" role="status">
          Saved
        </Text>
      )}
    </Group>
  );
}

function Amount({ name, value, note }: { name: string; value: string; note?: ReactNode }) {
  return (
    <Card withBorder padding="md">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz={18} fw={650} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
      {note && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Card>
  );
}
