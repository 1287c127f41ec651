/** The price card in force, the one that follows it, and the price of a message by country and category. */
import { Box, Card, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { api } from '../../client.ts';
import { dayOf, money, words } from '../../format.ts';

const countryNames = new Intl.DisplayNames(undefined, { type: 'region' });
const nameOf = (country: string | null): string =>
  country === null ? 'Other countries' : (countryNames.of(country) ?? country);

const unitPrice = new Intl.NumberFormat(undefined, { minimumFractionDigits: 4, maximumFractionDigits: 4 });

/** Days of a card have no time zone of their own. */
const cardDay = (day: string): string => dayOf(new Date(`${day}T12:00:00`));

export function Prices({ wallet: { message_prices: prices, currency, ...cards } }: { wallet: api.Wallet }) {
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const categories = [...new Set(prices.map(({ category }) => category))];
  const byPlace = new Map(
    prices.map(({ category, country, price }) => [`${category} ${country ?? ''}`, price]),
  );
  const countries = [...new Set(prices.flatMap(({ country }) => country ?? []))].toSorted((one, other) =>
    nameOf(one).localeCompare(nameOf(other)),
  );
  const shown = [null, ...countries].filter((country) => nameOf(country).toLowerCase().includes(wanted));
  return (
    <Card withBorder>
      <Stack>
        <Title order={2} size="h4">
          Prices
        </Title>
        <InForce card={cards.card} next={cards.next_card} />
        <TextInput
          aria-label="Search by country"
          placeholder="Search by country"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        {/* Wider than a phone with all categories: the arrow keys scroll it. */}
        <Box tabIndex={0} role="group" aria-label="Prices by country" style={{ overflowX: 'auto' }}>
          <Table horizontalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>One message, in {currency}</Table.Th>
                {categories.map((category) => (
                  <Table.Th key={category} ta="right">
                    {words(category)}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((country) => (
                <Table.Tr key={country ?? ''}>
                  <Table.Td>{nameOf(country)}</Table.Td>
                  {categories.map((category) => {
                    const price = byPlace.get(`${category} ${country ?? ''}`) ?? byPlace.get(`${category} `);
                    return (
                      <Table.Td
                        key={category}
                        ta="right"
                        title={price === undefined ? undefined : money(price, currency)}
                        style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}
                      >
                        {price === undefined ? '—' : unitPrice.format(Number(price))}
                      </Table.Td>
                    );
                  })}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      </Stack>
    </Card>
  );
}

function presentCard(card: api.CardInForce | null): string {
  if (card === null) return 'No price card is loaded for this currency.';
  if (card.source === 'example') return 'Example prices: no price card is loaded.';
  return `Price card of ${cardDay(card.effective_on)} (${card.source}).`;
}

function InForce({ card, next }: { card: api.CardInForce | null; next: api.CardInForce | null }) {
  return (
    <Text size="sm" c="dimmed">
      {presentCard(card)}
      {next !== null && ` The next one applies from ${cardDay(next.effective_on)} (${next.source}).`}
    </Text>
  );
}
