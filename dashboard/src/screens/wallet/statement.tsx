/** The statement of a month, made to be printed: it adds up from the opening to the closing balance. */
import { Anchor, Button, Card, Group, Select, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconDownload, IconPrinter } from '@tabler/icons-react';
import { useState } from 'react';
import { api, client } from '../../client.ts';
import { money, words } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import classes from './statement.module.css';

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const nameOf = (month: string): string => monthName.format(new Date(`${month}-15T00:00:00Z`));

export const presentMonth = (): string => new Date().toISOString().slice(0, 7);

const shownMonths = 13;

/** The latest first. */
function monthsFrom(now: Date): readonly string[] {
  return Array.from({ length: shownMonths }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 15)).toISOString().slice(0, 7),
  );
}

interface StatementProps {
  readonly channelId: string;
  readonly month: string;
  readonly onMonth: (month: string) => void;
}

export function Statement({ channelId, month, onMonth }: StatementProps) {
  const statement = useQuery({
    queryKey: ['statement', channelId, month],
    queryFn: async () => (await api.getWalletStatement(client, { channel_id: channelId, month })).data,
  });
  const [recent] = useState(() => monthsFrom(new Date()));
  const months = [...new Set([month, ...recent])].toSorted().toReversed();
  return (
    <>
      <Group className={classes['controls']}>
        <Select
          aria-label="Month"
          allowDeselect={false}
          data={months.map((value) => ({ value, label: nameOf(value) }))}
          value={month}
          onChange={(value) => value !== null && onMonth(value)}
        />
        <Button
          variant="default"
          leftSection={<IconPrinter size={16} aria-hidden />}
          onClick={() => window.print()}
        >
          Print
        </Button>
        <Anchor
          size="sm"
          href={`/dashboard/api/wallet/statement?channel_id=${channelId}&month=${month}&format=csv`}
        >
          <IconDownload size={14} aria-hidden /> CSV
        </Anchor>
      </Group>
      <Loaded query={statement}>{(found) => <Sheet statement={found} />}</Loaded>
    </>
  );
}

function Sheet({ statement }: { statement: api.WalletStatement }) {
  const {
    month,
    currency,
    time_zone: zone,
    opening_balance: opening,
    closing_balance: closing,
    lines,
  } = statement;
  const amount = (value: string) => (
    <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
      {money(value)}
    </Table.Td>
  );
  return (
    <Card withBorder className={classes['page']}>
      <Title order={2} size="h4">
        {nameOf(month)}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        From midnight to midnight in {zone}. Amounts in {currency}.
      </Text>
      <Table aria-label={`Statement of ${nameOf(month)}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Entry</Table.Th>
            <Table.Th>Category</Table.Th>
            <Table.Th>Market</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th colSpan={3}>Opening balance</Table.Th>
            {amount(opening)}
          </Table.Tr>
          {lines.map((line) => (
            <Table.Tr key={[line.kind, line.category, line.market, line.country].join(' ')}>
              <Table.Td>{words(line.kind)}</Table.Td>
              <Table.Td>{line.category === null ? '' : words(line.category)}</Table.Td>
              <Table.Td>{line.market ?? line.country ?? ''}</Table.Td>
              {amount(line.amount)}
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Th colSpan={3}>Closing balance</Table.Th>
            {amount(closing)}
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Card>
  );
}
