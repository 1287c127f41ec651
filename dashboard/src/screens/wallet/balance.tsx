/** Shows the available balance, how long it lasts, and the limit below which it counts as low. */
import { Alert, Card, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { readAmount } from '../../amount.ts';
import { api, client } from '../../client.ts';
import { counted, money } from '../../format.ts';
import { lowBalanceLimit, setLowBalanceLimit } from '../../low-balance.ts';

const days = 7;

const lasts = (left: number): string =>
  left < 1 ? 'enough for less than a day' : `enough for ${counted(left, 'more day')}`;

export function Balance({ wallet }: { wallet: api.Wallet }) {
  const { channel_id: channelId, balance, reserved, currency } = wallet;
  const available = Number(balance) - Number(reserved);
  const [limit, setLimit] = useState(() => lowBalanceLimit(channelId));
  const overview = useQuery({
    queryKey: ['overview', 'week'],
    queryFn: async () => (await api.getOverview(client)).data.totals,
    staleTime: 60_000,
  });
  const perDay = Number(overview.data?.charged ?? 0) / days;
  const left = perDay > 0 ? Math.floor(available / perDay) : undefined;
  const keep = (next: number) => {
    setLowBalanceLimit(channelId, next);
    setLimit(next);
  };
  return (
    <Stack>
      {available < limit && (
        <Alert
          color="orange"
          variant="light"
          icon={<IconAlertTriangle aria-hidden />}
          title="The balance is low"
        >
          {money(available.toFixed(6), currency)} is less than your limit of {money(String(limit), currency)}.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, lg: 4 }}>
        <Amount name="Available" value={money(available.toFixed(6), currency)} note="after reserved" />
        <Amount name="Balance" value={money(balance, currency)} />
        <Amount name="Reserved" value={money(reserved, currency)} note="for messages being sent" />
        <Amount
          name="Spent per day"
          value={money(perDay.toFixed(2), currency)}
          note={left === undefined ? `over the last ${days} days` : lasts(left)}
        />
      </SimpleGrid>
      <Limit limit={limit} currency={currency} onChange={keep} />
    </Stack>
  );
}

function Limit({
  limit,
  currency,
  onChange,
}: {
  limit: number;
  currency: string;
  onChange: (limit: number) => void;
}) {
  const [typed, setTyped] = useState(String(limit));
  const read = readAmount(typed);
  return (
    <TextInput
      label={`Warn below, in ${currency}`}
      description="Only you see this warning, here and on the overview"
      inputMode="decimal"
      maw={360}
      value={typed}
      error={read.kind === 'problem' && typed !== '0' ? read.message : undefined}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        const next = value === '0' ? ({ kind: 'amount', text: '0' } as const) : readAmount(value);
        if (next.kind === 'amount') onChange(Number(next.text));
      }}
    />
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
