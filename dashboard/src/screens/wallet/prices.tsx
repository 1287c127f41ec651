import { Card, Stack, Table, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { api } from '../../client.ts';
import { money, words } from '../../format.ts';

const countryNames = new Intl.DisplayNames(undefined, { type: 'region' });
const nameOf = (country: string | null): string =>
  country === null ? 'Other countries' : (countryNames.of(country) ?? country);

export function Prices({ prices, currency }: { prices: api.Wallet['message_prices']; currency: string }) {
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const shown = prices.filter(({ category, country }) =>
    `${words(category)} ${nameOf(country)}`.toLowerCase().includes(wanted),
  );
  return (
    <Card withBorder>
      <Stack>
        <Title order={2} size="h4">
          Prices
        </Title>
        <TextInput
          aria-label="Search by country or category"
          placeholder="Search by country or category"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Table.ScrollContainer minWidth={250} mah={420}>
          <Table stickyHeader horizontalSpacing={6}>
            <Table.Thead bg="var(--mantine-color-default)">
              <Table.Tr>
                <Table.Th>Category</Table.Th>
                <Table.Th>Country</Table.Th>
                <Table.Th ta="right">One message</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map(({ category, country, price }) => (
                <Table.Tr key={`${category} ${country}`}>
                  <Table.Td>{words(category)}</Table.Td>
                  <Table.Td>{nameOf(country)}</Table.Td>
                  <Table.Td ta="right" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
                    {money(price, currency)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Stack>
    </Card>
  );
}
